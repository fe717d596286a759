import { describe, expect, test } from "vitest";
import { codeOf } from "../../base/testing/code-of.ts";
import { sha256 } from "../../platform/files/hash.ts";
import { type Bench, everything, program, person } from "../testing/bench.ts";
import { write } from "../testing/effects.ts";
import { useWorkspace } from "../testing/workspace.ts";

let bench: Bench;
const { put, contentOf, restart } = useWorkspace((opened) => {
  ({ bench } = opened);
});

describe("time and restarts", () => {
  test("expires after the configured time, by the clock", async () => {
    bench.settings.expireAfterMs = 60_000;
    const first = await bench.propose(write("a", "a"));
    bench.clock.advance(30_000);
    const second = await bench.propose(write("b", "b"));
    const ended = bench.actions.settled(first.id);
    bench.clock.advance(30_000);
    expect(await ended).toMatchObject({ state: "Expired", decided_by: "policy" });
    expect((await bench.actions.get(second.id))?.state).toBe("PendingApproval");
    const then = bench.actions.settled(second.id);
    bench.clock.advance(30_000);
    expect((await then).state).toBe("Expired");
    expect(bench.actions.pendingCount()).toBe(0);
  });

  test("an action that waited through a restart can be approved, and expires at its own time", async () => {
    put("a", "0");
    const kept = await bench.propose(write("a", "1"));
    const old = await bench.propose(write("b", "1"));
    await bench.actions.reject(person, old.id);
    await restart();
    expect(bench.actions.pendingCount()).toBe(1);
    expect((await bench.actions.approve(person, kept.id, { digest: kept.digest })).state).toBe("Committed");
    const late = await bench.propose(write("c", "1"));
    bench.clock.setNow(bench.clock.now() + 86_400_000);
    await restart();
    expect((await bench.actions.get(late.id))?.state).toBe("Expired");
    expect((await bench.actions.undo(person, kept.id)).state).toBe("Undone");
    expect(contentOf("a")).toBe("0");
  });

  test("a restart deletes exactly the contents that no action needs", async () => {
    put("a", "0");
    const committed = await bench.perform(write("a", "1"));
    const rejected = await bench.propose(write("b", "unwanted"));
    await bench.actions.reject(person, rejected.id);
    expect(await bench.objects.has(sha256("unwanted"))).toBe(true);
    await restart();
    expect(await bench.objects.has(sha256("unwanted"))).toBe(false);
    expect(await bench.objects.has(sha256("0"))).toBe(true);
    await bench.actions.undo(person, committed.id);
  });

  test("after closing, nothing is changed", async () => {
    const { id, digest } = await bench.propose(write("a", "a"));
    const waiting = codeOf(bench.actions.settled(id));
    // The call must be waiting before the shutdown begins.
    await bench.actions.get(id);
    await bench.actions[Symbol.asyncDispose]();
    expect(await waiting).toBe("Busy");
    expect(await codeOf(bench.actions.undo(person, id))).toBe("Busy");
    expect(digest).toMatch(/^sha256:/);
  });
});

test("an action keeps its lineage through an edit and a restart, and hides it from its agent", async () => {
  put("a.txt", "old");
  const onBehalfOf = [{ kind: "agent", id: "test.caller" }, { kind: "person" }] as const;
  const proposed = await bench.actions.propose(
    everything,
    program,
    { title: "T", reason: "", effects: [write("a.txt", "new")] },
    undefined,
    { onBehalfOf },
  );
  const { id, digest } = proposed.action;
  expect(await bench.actions.answerTo(everything, proposed)).not.toHaveProperty("on_behalf_of");
  const edited = await bench.actions.approve(person, id, { digest, edits: [{ effect: 0, content: "mine" }] });
  expect(edited).toMatchObject({ state: "Committed", edited_by: "user", on_behalf_of: onBehalfOf });
  await restart();
  expect((await bench.actions.get(id))?.on_behalf_of).toEqual(onBehalfOf);
});
