import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { JsonValue } from "../../base/json.ts";
import type {
  TemporalCountQuery,
  TemporalFilter,
  TemporalQuery,
  Where,
} from "../../memory-contract/queries.ts";
import { plainCount, plainQuery } from "./testing/temporal-reference.ts";
import {
  ask,
  count,
  type Event,
  idOf,
  nowMs,
  redacting,
  storing,
  testMemory,
} from "./testing/test-memory.ts";

const hourMs = 3_600_000;
const at = (hoursAgo: number): number => nowMs - hoursAgo * hourMs;

const events: readonly Event[] = [
  {
    variant: "photo",
    timestampMs: at(100),
    data: { place: "the beach", tags: ["sea", "Sand"], stars: 3, at: [48.2, 16.4] },
  },
  { variant: "photo", timestampMs: at(50), data: { place: "a forest", tags: [], stars: 5, seen: true } },
  {
    variant: "note",
    timestampMs: at(50),
    data: { text: "Beach tomorrow", by: { name: "Ada Lovelace", age: 36 } },
  },
  // The clock was set back here.
  { variant: "note", timestampMs: at(200), data: { text: "before all others", stars: null } },
  { variant: "photo", timestampMs: at(50), data: { place: "beach", stars: "5", by: { name: "Grace" } } },
  { variant: "odd", timestampMs: at(10), data: "a text on the beach" },
  { variant: "odd", timestampMs: at(10), data: 42 },
  { variant: "odd", timestampMs: at(10), data: null },
  { variant: "odd", timestampMs: at(9), data: ["beach", { deep: [["sand"]] }] },
  { variant: "odd", timestampMs: at(0), data: true },
  { variant: "note", timestampMs: -1, data: { text: "東京の海、ビーチ", stars: 4.5 } },
  {
    variant: "note",
    timestampMs: at(-5),
    data: { text: "from the future: café", stars: -2, "a.b": "hidden beach" },
  },
];

const filters: readonly TemporalFilter[] = [
  {},
  { variant: "photo" },
  { variant: "nothing has this" },
  { variant: "" },
  { since: "60h" },
  { until: "60h" },
  { since: "2026-11-18T08:00:00Z", until: "2026-11-18T08:00:00.001Z" },
  { since: "2026-11-18T08:00:00.001Z" },
  { since: "1h", until: "2h" },
  { until: "1970-01-01" },
  ...[
    "beach",
    "BEACH",
    "the beach",
    "beach tomorrow",
    "sand",
    "café",
    "cafe",
    "東京",
    "海",
    "ビーチ",
    "nowhere",
    "",
    "!?*",
    '"beach"',
    "beach*",
    "bea*",
    "be",
    "-beach",
    "text:beach",
    "beach NOT sea",
    "NEAR(beach)",
    "^beach",
    "beach\u0000",
    "\ud800",
  ].map((match): TemporalFilter => ({ text: { match } })),
  { text: { field: "place", match: "beach" } },
  { text: { field: "tags", match: "sand sea" } },
  { text: { field: "by", match: "lovelace" } },
  { text: { field: "by.name", match: "ada lovelace" } },
  { text: { field: "by.age", match: "36" } },
  { text: { field: "deep", match: "sand" } },
  { text: { field: "a.b", match: "beach" } },
  { text: { field: "nowhere", match: "beach" } },
  {
    text: { field: "place", match: "beach" },
    variant: "photo",
    since: "60h",
    where: [{ field: "stars", op: "eq", value: "5" }],
  },
  ...(
    [
      { field: "stars", op: "eq", value: 5 },
      { field: "stars", op: "eq", value: null },
      { field: "stars", op: "ne", value: 5 },
      { field: "stars", op: "in", value: [3, "5", null] },
      { field: "stars", op: "gt", value: 3 },
      { field: "stars", op: "lte", value: 4.5 },
      { field: "stars", op: "gte", value: "5" },
      { field: "seen", op: "eq", value: true },
      { field: "tags", op: "contains", value: "sea" },
      { field: "tags.0", op: "eq", value: "sea" },
      { field: "place", op: "contains", value: "beach" },
      { field: "by.name", op: "eq", value: "Grace" },
      { field: "by", op: "eq", value: { age: 36, name: "Ada Lovelace" } },
      { field: "by.age", op: "lt", value: 40 },
      { field: "at", op: "near", value: [48.2, 16.37], km: 5 },
    ] satisfies Where[]
  ).map((one): TemporalFilter => ({ where: [one] })),
  { variant: "photo", where: [{ field: "stars", op: "eq", value: 5 }], text: { match: "forest" } },
];

describe("each filter and each combination with order, page and groups", () => {
  it("answers as the plain reference does", async () => {
    const memory = await testMemory();
    await memory.apply(storing(events));
    for (const filter of filters) {
      for (const page of [
        {},
        { order: "asc" },
        { limit: 2 },
        { order: "asc", limit: 2, offset: 1 },
        { offset: 500 },
      ] as const) {
        const query: TemporalQuery = { ...filter, ...page };
        expect(await ask(memory, query), JSON.stringify(query)).toEqual(plainQuery(events, query));
      }
      for (const group_by of [undefined, "variant", "hour", "day"] as const) {
        const query: TemporalCountQuery = group_by === undefined ? filter : { ...filter, group_by };
        expect(await count(memory, query), JSON.stringify(query)).toEqual(plainCount(events, query));
      }
    }
  });

  it("answers queries on an empty store with nothing", async () => {
    const memory = await testMemory();
    for (const filter of filters) {
      expect(await ask(memory, filter)).toEqual({ items: [], total: 0 });
      expect(await count(memory, { ...filter, group_by: "day" })).toEqual({ count: 0, groups: {} });
    }
  });
});

const word = fc.constantFrom("beach", "Beach", "sea", "東京都", "京都", "x1", "é", "e", "😀", "-", '"');
const words = fc.array(word, { maxLength: 3 }).map((some) => some.join(" "));
/** JSON has no -0. */
const double = fc.double({ min: -3, max: 3, noNaN: true }).map((number) => number + 0);
const scalar: fc.Arbitrary<JsonValue> = fc.oneof(
  words,
  fc.integer({ min: -3, max: 3 }),
  double,
  fc.constantFrom<JsonValue>(
    true,
    false,
    null,
    "y".repeat(300),
    `${"z".repeat(254)}é`,
    "t",
    "n",
    "~",
    "#",
    '"',
  ),
);
const value: fc.Arbitrary<JsonValue> = fc.oneof(
  { weight: 4, arbitrary: scalar },
  { weight: 1, arbitrary: fc.array(scalar, { maxLength: 3 }) },
  { weight: 1, arbitrary: fc.dictionary(fc.constantFrom("a", "b", "0"), scalar, { maxKeys: 2 }) },
);
const data: fc.Arbitrary<JsonValue> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.dictionary(fc.constantFrom("a", "b", "c", "d.e", "0", ""), value, { maxKeys: 4 }),
  },
  { weight: 1, arbitrary: value },
);
const event: fc.Arbitrary<Event> = fc.record({
  variant: fc.constantFrom("v", "w", "__proto__"),
  // Few different times, so that many are equal, in any order.
  timestampMs: fc.integer({ min: -2, max: 8 }).map((steps) => nowMs - steps * 45 * 60_000),
  data,
});
const field = fc.constantFrom("a", "b", "a.a", "a.0", "c.b", "zz");
const where: fc.Arbitrary<Where> = fc.oneof(
  fc.record({ field, op: fc.constantFrom("eq", "ne", "contains"), value }),
  fc.record({ field, op: fc.constant("in" as const), value: fc.array(value, { maxLength: 3 }) }),
  fc.record({
    field,
    op: fc.constantFrom("gt", "gte", "lt", "lte"),
    value: fc.oneof(words, double, fc.constant("y".repeat(301))),
  }),
);
const moment = fc.constantFrom("1h", "2h", "90m", "2026-11-20T09:15:00Z", "2026-11-20");
const filter = fc.record(
  {
    variant: fc.constantFrom("v", "w", "__proto__", "none"),
    since: moment,
    until: moment,
    text: fc.oneof(fc.record({ match: words }), fc.record({ field, match: words })),
    where: fc.array(where, { maxLength: 2 }),
  },
  { requiredKeys: [] },
);
const page = fc.record(
  {
    order: fc.constantFrom("asc", "desc"),
    limit: fc.integer({ min: 1, max: 5 }),
    offset: fc.integer({ min: 0, max: 6 }),
  },
  { requiredKeys: [] },
);
const group = fc.constantFrom(undefined, "variant" as const, "hour" as const, "day" as const);

it("answers random queries over random events, stored in random batches, as the plain reference does", async () => {
  const memory = await testMemory();
  let events: Event[] = [];
  // One memory that grows, so that fields get columns and change their types.
  await fc.assert(
    fc.asyncProperty(
      fc.array(event, { maxLength: 12 }),
      fc.array(fc.tuple(filter, page, group), { minLength: 1, maxLength: 6 }),
      async (more, queries) => {
        await memory.apply(storing(more, events.length + 1));
        events = [...events, ...more];
        for (const [filter, page, group_by] of queries) {
          const query = { ...filter, ...page };
          expect(await ask(memory, query), JSON.stringify(query)).toEqual(plainQuery(events, query));
          const counting = group_by === undefined ? filter : { ...filter, group_by };
          expect(await count(memory, counting), JSON.stringify(counting)).toEqual(
            plainCount(events, counting),
          );
        }
      },
    ),
    { numRuns: 60, endOnFailure: true },
  );
});

describe("an error names the wrong value and what would be valid", () => {
  it.each<[name: string, query: unknown, message: RegExp]>([
    ["since", { since: "yesterday" }, /since "yesterday" is not a time. Write an age/],
    ["until", { until: "2026-02-30" }, /until "2026-02-30" is not a time/],
    ["since of another type", { since: 7 }, /ISO 8601/],
    ["limit 0", { limit: 0 }, /from 1 to 1000/],
    ["limit 1001", { limit: 1001 }, /from 1 to 1000/],
    ["limit 1.5", { limit: 1.5 }, /from 1 to 1000/],
    ["offset -1", { offset: -1 }, /from 0 to/],
    ["order", { order: "up" }, /"asc" or "desc"/],
    ["text.field", { text: { field: "a..b", match: "x" } }, /dots between/],
    ["text.match", { text: { match: 1 } }, /text.match/],
    [
      "too many words",
      { text: { match: Array.from({ length: 300 }, (_, n) => `w${n}`).join(" ") } },
      /300 different words/,
    ],
    ["where", { where: [{ field: "a", op: "near", value: [0, 0] }] }, /write km/],
  ])("%s", async (_, query, message) => {
    const memory = await testMemory();
    await expect(ask(memory, query as TemporalQuery)).rejects.toThrow(message);
    await expect(ask(memory, query as TemporalQuery)).rejects.toThrow(
      expect.objectContaining({ code: "InvalidParams" }),
    );
  });

  it("group_by", async () => {
    const memory = await testMemory();
    await expect(count(memory, { group_by: "week" } as unknown as TemporalCountQuery)).rejects.toThrow(
      /variant, hour or day/,
    );
  });

  it("a page with too many bytes is refused, and the error says how to continue", async () => {
    const memory = await testMemory();
    const big = { variant: "big", timestampMs: nowMs, data: "x".repeat(1_000_000) };
    await memory.apply(storing(Array.from({ length: 20 }, () => big)));
    await expect(ask(memory, {})).rejects.toThrow(/Ask for fewer at once with limit/);
    expect((await ask(memory, { limit: 10 })).items).toHaveLength(10);
  });
});

it("interprets nothing in any text of a query as SQL, JSONPath or full-text syntax", async () => {
  const memory = await testMemory();
  await memory.apply(storing([{ variant: "v", timestampMs: nowMs, data: { f: "beach" } }]));
  const attempts = [
    "' OR 1=1 --",
    "'; DROP TABLE events; --",
    '" OR "beach',
    "beach OR sea",
    "{c0}: beach",
    "$.*",
    "$[*]",
    "f*",
    "NEAR(beach sea)",
    ") OR (",
    "%",
    "\u0000",
    "?",
    "$1",
  ];
  for (const text of attempts) {
    const queries: TemporalQuery[] = [
      { variant: text },
      { text: { match: `${text} nowhere` } },
      { text: { field: text.replaceAll(".", "_"), match: "beach" } },
      { where: [{ field: text.replaceAll(".", "_"), op: "eq", value: "beach" }] },
      { where: [{ field: "f", op: "eq", value: text }] },
      { where: [{ field: "f", op: "contains", value: text }] },
      { where: [{ field: "f", op: "in", value: [text] }] },
    ];
    for (const query of queries)
      expect(await ask(memory, query), JSON.stringify(query)).toEqual({ items: [], total: 0 });
    await expect(ask(memory, { since: text })).rejects.toThrow(/is not a time/);
  }
  expect((await ask(memory, {})).total).toBe(1);
});

it("takes ten megabytes of text, as data and as a search text", async () => {
  const memory = await testMemory();
  const long = `${"word ".repeat(2_000_000)}needle`;
  await memory.apply(storing([{ variant: "v", timestampMs: nowMs, data: { text: long } }]));
  expect(await count(memory, { text: { match: "needle word" } })).toEqual({ count: 1 });
  expect(await count(memory, { text: { match: long } })).toEqual({ count: 1 });
  expect(await count(memory, { where: [{ field: "text", op: "contains", value: "needle" }] })).toEqual({
    count: 1,
  });
});

it("takes very deep data", async () => {
  const memory = await testMemory();
  let deep: JsonValue = "bottom";
  for (let level = 0; level < 500; level++) deep = level % 2 === 0 ? [deep] : { down: deep };
  await memory.apply(storing([{ variant: "v", timestampMs: nowMs, data: { deep } }]));
  expect(await count(memory, { text: { match: "bottom" } })).toEqual({ count: 1 });
  expect((await ask(memory, {})).items[0]?.data).toEqual({ deep });
});

it("distinguishes more fields than have columns of their own, in the table and in the full text", async () => {
  const memory = await testMemory();
  const wide = Array.from({ length: 60 }, (_, n): Event => ({
    variant: "v",
    timestampMs: nowMs + n,
    data: { [`field${n}`]: `only${n}`, [`object${n}`]: { inner: `deep${n}` }, shared: n },
  }));
  await memory.apply(storing(wide.slice(0, 30)));
  await memory.apply(storing(wide.slice(30), 31));
  for (const n of [0, 5, 29, 35, 59]) {
    const [item] = plainQuery(wide, { where: [{ field: "shared", op: "eq", value: n }] }).items;
    for (const query of [
      { where: [{ field: `field${n}`, op: "eq", value: `only${n}` }] },
      { where: [{ field: `object${n}.inner`, op: "eq", value: `deep${n}` }] },
      { text: { field: `field${n}`, match: `only${n}` } },
      { text: { field: `object${n}`, match: `deep${n}` } },
      { text: { field: `object${n}.inner`, match: `deep${n}` } },
    ] satisfies TemporalQuery[]) {
      expect(await ask(memory, query), JSON.stringify(query)).toEqual({ items: [item], total: 1 });
    }
    expect((await ask(memory, { text: { field: `field${n}`, match: `deep${n}` } })).total).toBe(0);
  }
});

it("no longer finds deleted or redacted events in any way", async () => {
  const memory = await testMemory();
  const records = storing(events);
  await memory.apply([
    ...records,
    { seq: 50, writtenMs: 0, operation: "delete", kind: "temporal", id: idOf(1), data: {} },
    redacting(51, [3, 4], [6, 9]),
  ]);
  const left = [2, 5, 10, 11, 12].map(idOf);
  const all = await ask(memory, {});
  expect(all.items.map(({ id }) => id).toSorted()).toEqual(left);
  expect(all.total).toBe(5);
  expect((await ask(memory, { text: { match: "beach" } })).items.map(({ id }) => id)).toEqual([
    idOf(12),
    idOf(5),
  ]);
  // Once more after the journal has been redacted.
  const again = await testMemoryAgain(memory, records);
  expect(again).toBe(5);
});

async function testMemoryAgain(
  memory: Awaited<ReturnType<typeof testMemory>>,
  records: ReturnType<typeof storing>,
): Promise<number> {
  const redacted = records.map((record) => ({ ...record, seq: record.seq + 100, data: null }));
  await memory.apply([...redacted, redacting(200, [101, 112])]);
  return (await ask(memory, {})).total;
}
