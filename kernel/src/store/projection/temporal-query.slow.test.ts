import { describe, expect, it } from "vitest";
import type { TemporalFilter, TemporalQuery } from "../../memory-contract/queries.ts";
import { plainCount, plainQuery } from "./testing/temporal-reference.ts";
import { ask, count, type Event, nowMs, storing, testMemory } from "./testing/test-memory.ts";

describe("more rows with the words than are passed on at once", () => {
  const many = Array.from({ length: 30_000 }, (_, n): Event => ({
    variant: n % 3 === 0 ? "third" : "other",
    // Every thousandth event is much older or newer, so that the order of appending is not the order of time.
    timestampMs: nowMs + n * 1000 + (n % 1000 === 7 ? -1e9 : n % 1000 === 8 ? 1e9 : 0),
    data: { text: n % 2 === 0 ? "common even" : "common odd", n },
  }));

  it("gives pages and counts as the plain reference does", async () => {
    const memory = await testMemory();
    await memory.apply(storing(many));
    const queries: TemporalFilter[] = [
      { text: { match: "common" } },
      { text: { match: "common even" } },
      { text: { field: "text", match: "common" } },
      { text: { match: "common" }, variant: "third" },
      { text: { match: "odd" }, where: [{ field: "n", op: "gte", value: 15_000 }] },
      { text: { match: "common" }, since: new Date(nowMs + 29_900_000).toISOString() },
      { text: { match: "common" }, variant: "none" },
    ];
    for (const filter of queries) {
      for (const page of [
        {},
        { order: "asc" },
        { limit: 60, offset: 25 },
        { order: "asc", offset: 14_990 },
      ] as const) {
        const query: TemporalQuery = { ...filter, ...page };
        expect(await ask(memory, query), JSON.stringify(query)).toEqual(plainQuery(many, query));
      }
      for (const group_by of ["variant", "day"] as const) {
        expect(await count(memory, { ...filter, group_by })).toEqual(
          plainCount(many, { ...filter, group_by }),
        );
      }
      expect(await count(memory, filter)).toEqual(plainCount(many, filter));
    }
  });
});
