import { describe, expect, it } from "vitest";
import type { TraceEntry } from "../protocol.ts";
import { maxEntriesPerPush, maxFieldsCharacters, maxMessageCharacters } from "../webviews/traces/messages.ts";
import { shownEntry, TraceBatches, type Batch } from "./trace-batches.ts";

const entry = (n: number, changes: Partial<TraceEntry> = {}): TraceEntry => ({
  timestamp: "2026-03-01T00:00:00.000Z",
  level: "info",
  agent: "a",
  message: `Trace ${n}`,
  trace_id: "t",
  span_id: "s",
  ...changes,
});

/** Batches whose time passes when the test says so. */
function batched() {
  const batches: Batch[] = [];
  let due: (() => void) | undefined;
  let timers = 0;
  const traces = new TraceBatches(
    (batch) => batches.push(batch),
    (act) => {
      timers++;
      due = act;
      return {
        cancel: () => {
          due = undefined;
        },
      };
    },
  );
  return { traces, batches, pass: () => due?.(), timers: () => timers };
}

describe("batches of traces", () => {
  it("come one at a time, however many entries there are: the oldest are dropped and counted", () => {
    const { traces, batches, pass, timers } = batched();
    for (let n = 0; n < 1_234; n++) traces.add(entry(n));
    expect(batches).toEqual([]);
    pass();
    expect(timers()).toBe(1);
    expect(batches).toHaveLength(1);
    expect(batches[0]?.dropped).toBe(1_234 - maxEntriesPerPush);
    expect(batches[0]?.entries.map(({ message }) => message)).toEqual(
      Array.from({ length: maxEntriesPerPush }, (_, n) => `Trace ${1_234 - maxEntriesPerPush + n}`),
    );
  });

  it("start over after each", () => {
    const { traces, batches, pass } = batched();
    for (const n of [1, 2]) {
      traces.add(entry(n));
      pass();
    }
    expect(batches.map(({ entries, dropped }) => [entries.length, dropped])).toEqual([
      [1, 0],
      [1, 0],
    ]);
  });

  it("are not pushed to a closed view", () => {
    const { traces, batches, pass } = batched();
    traces.add(entry(1));
    traces.clear();
    pass();
    expect(batches).toEqual([]);
  });

  it("contain nothing that a view would not accept", () => {
    const shown = shownEntry(entry(1, { message: "x".repeat(100_000), fields: { a: "y".repeat(100_000) } }));
    expect(shown.message).toHaveLength(maxMessageCharacters);
    expect(shown.fields).toHaveLength(maxFieldsCharacters);
  });
});
