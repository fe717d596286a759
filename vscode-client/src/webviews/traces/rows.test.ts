import { describe, expect, it } from "vitest";
import type { Entry } from "./messages.ts";
import { fromQuery, lineOf, matching, maxRows, noRows, withEntries } from "./rows.ts";

const entry = (n: number, changes: Partial<Entry> = {}): Entry => ({
  timestamp: `2026-03-01T00:00:00.${String(n % 1000).padStart(3, "0")}Z`,
  level: "info",
  agent: "a",
  message: `Trace ${n}`,
  traceId: "t",
  spanId: `s${n}`,
  ...changes,
});
const entries = (from: number, count: number): Entry[] =>
  Array.from({ length: count }, (_, index) => entry(from + index));

describe("rows", () => {
  it("are bounded; what gave way or never came is counted", () => {
    let rows = noRows;
    for (let batch = 0; batch < 100; batch++) rows = withEntries(rows, entries(batch * 500, 500), 10);
    expect(rows.rows).toHaveLength(maxRows);
    expect(rows.collapsed).toBe(50_000 - maxRows + 1_000);
    expect(rows.rows.at(-1)?.entry.message).toBe("Trace 49999");
    expect(new Set(rows.rows.map(({ key }) => key)).size).toBe(maxRows);
  });

  it("tell an entry once that was found and came meanwhile", () => {
    const meanwhile = withEntries(noRows, entries(2, 3), 0);
    const found = entries(0, 4).toReversed();
    const all = fromQuery(found, meanwhile);
    expect(all.rows.map(({ entry }) => entry.message)).toEqual([0, 1, 2, 3, 4].map((n) => `Trace ${n}`));
    expect(all.collapsed).toBe(0);
  });

  it("tell an entry once that was found and comes in a later batch", () => {
    const found = entries(0, 3).toReversed();
    const all = withEntries(fromQuery(found, noRows), entries(2, 3), 0);
    expect(all.rows.map(({ entry }) => entry.message)).toEqual([0, 1, 2, 3, 4].map((n) => `Trace ${n}`));
    expect(new Set(all.rows.map(({ key }) => key)).size).toBe(5);
    expect(withEntries(all, entries(1, 1), 0).rows).toHaveLength(5);
  });

  it("are filtered by what the message says, by level and agent", () => {
    const { rows } = withEntries(
      noRows,
      [entry(1), entry(2, { level: "error" }), entry(3, { agent: "b" }), entry(4, { level: "debug" })],
      0,
    );
    const found = (filter: Partial<Parameters<typeof matching>[1]>): string[] =>
      matching(rows, { text: "", ...filter }).map(({ entry }) => entry.message);
    expect(found({})).toHaveLength(4);
    expect(found({ text: "TRACE 2" })).toEqual(["Trace 2"]);
    expect(found({ level: "info" })).toEqual(["Trace 1", "Trace 2", "Trace 3"]);
    expect(found({ level: "warn" })).toEqual(["Trace 2"]);
    expect(found({ agent: "b" })).toEqual(["Trace 3"]);
  });

  it("are copied as one line each", () =>
    expect(lineOf(entry(1, { hook: "saved", fields: '{"a":1}' }))).toBe(
      '2026-03-01T00:00:00.001Z\tinfo\ta saved\tTrace 1\t{"a":1}',
    ));
});
