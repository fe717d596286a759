import { describe, expect, it } from "vitest";
import type { Observation } from "../platform/files/folder-reader.ts";
import { workspaceTimes } from "./limits.ts";
import { hintAgain, newPending, settles, type Pending } from "./settling.ts";

interface Write {
  readonly atMs: number;
  readonly size: number;
  /** The file was replaced by another complete file, whose content was written some time before. */
  readonly writtenAtMs?: number;
}

const startMs = 1_000_000_000;

/** Returns the sizes that would be reported, in order, with their times. Looks whenever the reconciler would. */
function reports(writes: readonly Write[], known: Observation | null): { atMs: number; size: number }[] {
  const told: { atMs: number; size: number }[] = [];
  let stored = known;
  let now: Observation | null = known;
  let pending: Pending | null = null;
  const endMs = (writes.at(-1)?.atMs ?? 0) + 20_000;
  for (let atMs = 0; atMs <= endMs; atMs++) {
    const nowMs = startMs + atMs;
    for (const write of writes.filter((each) => each.atMs === atMs)) {
      now = fileOf(write.size, startMs + (write.writtenAtMs ?? atMs));
      if (pending === null) pending = newPending(nowMs, "live");
      else hintAgain(pending, nowMs, "live");
    }
    if (pending === null || now === null || pending.dueAtMs > nowMs) continue;
    if (stored !== null && stored.size === now.size && stored.mtimeMs === now.mtimeMs) pending = null;
    else if (settles(pending, now, stored, nowMs)) {
      told.push({ atMs, size: now.size });
      stored = now;
      pending = null;
    }
  }
  return told;
}

function fileOf(size: number, mtimeMs: number): Observation {
  return { kind: "file", size, mtimeMs, birthtimeMs: 0, inode: 1, device: 1 };
}

const before = fileOf(1000, startMs - 60_000);

describe("a file that was in the index", () => {
  const chunks = (pauseMs: number, sizes: readonly number[]): Write[] =>
    sizes.map((size, at) => ({ atMs: at * pauseMs, size }));

  const saves: [string, readonly Write[]][] = [
    ["one write", [{ atMs: 0, size: 1001 }]],
    ["a write that leaves the size", [{ atMs: 0, size: 1000 }]],
    ["one write that makes it smaller", [{ atMs: 0, size: 3 }]],
    ["emptied, and written 2 ms later", chunks(2, [0, 1010])],
    ["emptied, and written 10 ms later", chunks(10, [0, 1010])],
    ["emptied, and written 18 ms later, smaller than before", chunks(18, [0, 900])],
    ["emptied, and written in chunks 2 ms apart", chunks(2, [0, 250, 500, 750, 1000, 1250])],
    ["emptied, and written in chunks 10 ms apart, up to its old size", chunks(10, [0, 400, 800, 1000])],
    ["moved aside, made anew and written in chunks 5 ms apart", chunks(5, [0, 0, 300, 600, 900, 990])],
    ["another file, whole, renamed over it", [{ atMs: 8, size: 1100, writtenAtMs: 3 }]],
    ["a smaller file, whole, renamed over it", [{ atMs: 8, size: 10, writtenAtMs: 3 }]],
  ];
  it.each(saves)("is reported once, in its final state, after a save: %s", (_how, writes) => {
    expect(reports(writes, before).map(({ size }) => size)).toEqual([writes.at(-1)?.size]);
  });

  it("is reported after a short delay if it had rested before, after a long one if it shrank", () => {
    expect(reports([{ atMs: 0, size: 1001 }], before)[0]?.atMs).toBe(workspaceTimes.settleModifiedMs);
    expect(reports([{ atMs: 0, size: 999 }], before)[0]?.atMs).toBe(workspaceTimes.settleMs);
  });

  it("is reported soon after it was written, although an earlier look showed it empty", () => {
    const [report] = reports(chunks(2, [0, 1010]), before);
    expect(report?.atMs).toBeLessThan(workspaceTimes.settleMs);
  });

  it.each([5, 10, 15])(
    "backs off while it is appended to every %i ms: at most one report before the last",
    (pauseMs) => {
      const writes = chunks(
        pauseMs,
        Array.from({ length: 50 }, (_, at) => 1001 + at),
      );
      const told = reports(writes, before);
      expect(told.length).toBeLessThanOrEqual(2);
      expect(told.at(-1)?.size).toBe(1050);
    },
  );

  it.each([25, 50, 200])("is reported each time when it is written every %i ms", (pauseMs) => {
    const writes = chunks(pauseMs, [1001, 1002, 1003, 1004]);
    expect(reports(writes, before).map(({ size }) => size)).toEqual([1001, 1002, 1003, 1004]);
  });

  it("is reported periodically when it never settles", () => {
    const writes = chunks(
      10,
      Array.from({ length: 2500 }, (_, at) => 1001 + at),
    );
    const told = reports(writes, before);
    expect(told.length).toBeGreaterThanOrEqual(3);
    expect(told.at(-1)?.size).toBe(3500);
  });
});

describe("a new file", () => {
  it("is reported once it was unchanged for as long as the contract says, with its final size", () => {
    const writes = [0, 5, 10, 25].map((atMs, at) => ({ atMs, size: at * 10 }));
    expect(reports(writes, null)).toEqual([{ atMs: 25 + workspaceTimes.settleMs, size: 30 }]);
  });
});
