import { isDeepStrictEqual } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Bench } from "../support/bench.ts";
import { rememberer, Remembering } from "../support/memory.ts";

const ID = "test.diary";
const DAY_MS = 24 * 60 * 60 * 1000;
interface Item {
  id: string;
  variant: string;
  timestamp: string;
  data: Record<string, unknown>;
}
interface Page {
  items: Item[];
  total: number;
}

let bench: Bench;
let diary: Remembering;
const monday = "2026-11-16T08:00:00.000Z";
const events = [
  ["photo", { place: "the beach at Sète", camera: { model: "X100" }, size: 3, tags: ["sea", "sun"] }, -3],
  ["photo", { place: "Rathaus", camera: { model: "M6" }, size: 9, tags: [] }, 0],
  ["note", { text: "Walked along the beach with Ada", mood: null }, 1],
  ["note", { text: "Rain all day", mood: "grey" }, 2],
  ["photo", { place: "Beach, again", camera: { model: "X100" }, size: 12, at: [43.4, 3.7] }, 3],
] as const;

beforeAll(async () => {
  bench = await Bench.create({ extensions: [rememberer(ID)] });
  diary = new Remembering(await bench.open(), ID);
  const ids = await diary.run<string[]>(
    `const ids = [];
     for (const [variant, data, timestamp] of args.events)
       ids.push(await ctx.memory.history.append(variant, data, { timestamp }));
     return ids;`,
    {
      events: events.map(([variant, data, days]) => [
        variant,
        data,
        new Date(Date.parse(monday) + days * DAY_MS).toISOString(),
      ]),
    },
  );
  expect(new Set(ids).size).toBe(events.length);
});
afterAll(() => bench[Symbol.asyncDispose]());

/** The numbers of the events an answer holds, in its order. */
const numbers = (items: readonly Item[]): number[] =>
  items.map(({ data }) => events.findIndex(([, wanted]) => isDeepStrictEqual(wanted, data)));
const ask = async (fields: object): Promise<number[]> =>
  numbers((await diary.query<Page>("temporal", fields)).items);

describe("events, queried by a client", () => {
  test.each<[string, object, number[]]>([
    ["everything: newest first", {}, [4, 3, 2, 1, 0]],
    ["oldest first", { order: "asc" }, [0, 1, 2, 3, 4]],
    ["of one variant", { variant: "note" }, [3, 2]],
    ["of a variant there is not", { variant: "dream" }, []],
    ["since Monday", { since: monday }, [4, 3, 2, 1]],
    ["since Monday, before Wednesday", { since: monday, until: "2026-11-18T08:00:00.000Z" }, [2, 1]],
    ["since Monday, that mentions the beach", { since: monday, text: { match: "beach" } }, [4, 2]],
    ["mentions the beach in one field", { text: { field: "place", match: "beach" } }, [4, 0]],
    ["accents and case do not matter", { text: { match: "SETE" } }, [0]],
    ["all the words", { text: { match: "beach Ada" } }, [2]],
    ["a field's value", { where: [{ field: "camera.model", op: "eq", value: "X100" }] }, [4, 0]],
    ["more than", { where: [{ field: "size", op: "gt", value: 3 }] }, [4, 1]],
    ["at least", { where: [{ field: "size", op: "gte", value: 3 }] }, [4, 1, 0]],
    ["one of", { where: [{ field: "size", op: "in", value: [3, 12, 99] }] }, [4, 0]],
    ["in a list", { where: [{ field: "tags", op: "contains", value: "sun" }] }, [0]],
    ["null is a value", { where: [{ field: "mood", op: "eq", value: null }] }, [2]],
    ["near", { where: [{ field: "at", op: "near", value: [43.5, 3.7], km: 20 }] }, [4]],
    ["a field there is not", { where: [{ field: "no.such", op: "eq", value: 1 }] }, []],
    [
      "two conditions",
      {
        variant: "photo",
        where: [
          { field: "camera.model", op: "eq", value: "X100" },
          { field: "size", op: "lt", value: 5 },
        ],
      },
      [0],
    ],
  ])("%s", async (_name, fields, expected) => {
    expect(await ask(fields)).toEqual(expected);
  });

  test("pages with the total of all that match", async () => {
    const page = await diary.query<Page>("temporal", { limit: 2, offset: 1 });
    expect(page.total).toBe(5);
    expect(numbers(page.items)).toEqual([3, 2]);
    expect(page.items[0]).toMatchObject({
      variant: "note",
      timestamp: "2026-11-18T08:00:00.000Z",
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
  });

  test.each([
    ["SQL", { variant: "photo' OR 1=1 --" }],
    ["SQL in a field's name", { where: [{ field: "a') OR ('1'='1", op: "eq", value: 1 }] }],
    ["a JSON path", { where: [{ field: "$.camera[*]", op: "eq", value: "X100" }] }],
    ["SQL in a value", { where: [{ field: "mood", op: "eq", value: "'; DROP TABLE events; --" }] }],
    ["full-text syntax", { text: { match: 'rathaus" OR "rain' } }],
    ["only full-text operators", { text: { match: '" * - ( AND' } }],
  ])("%s in what a person wrote is only words", async (_name, fields) => {
    expect(await ask(fields)).toEqual([]);
    expect(await ask({})).toHaveLength(5);
  });

  test.each([
    [{ since: "last tuesday" }],
    [{ where: [{ field: "size", op: "in", value: 3 }] }],
    [{ where: [{ field: "at", op: "near", value: "here", km: 1 }] }],
    [{ where: [{ field: "at", op: "near", value: [1, 2] }] }],
    [{ limit: 5000 }],
    [{ text: { match: "" } }],
  ])("refuses %j as invalid params, and says what would be right", async (fields) => {
    const { error } = await diary.client.raw("lares/memory/query", {
      agent: ID,
      kind: "temporal",
      ...fields,
    });
    expect(error).toMatchObject({ code: -32602 });
  });
});

describe("events, queried by an agent", () => {
  test("with the query's steps, and gets the same", async () => {
    const found = await diary.run<Item[]>(
      `return ctx.memory.history.query().variant("photo").since(args.monday).whereField("camera.model", "X100").orderByTime("asc").limit(5).collect();`,
      { monday },
    );
    expect(numbers(found)).toEqual([4]);
    expect(await diary.run(`return ctx.memory.history.query().whereText("place", "beach").count();`)).toBe(2);
  });

  test("reads its own writes at once, a hundred times over", async () => {
    const counts = await diary.run<number[]>(
      `const counts = [];
       for (let round = 0; round < 100; round++) {
         await ctx.memory.history.append("tick", { round });
         counts.push(await ctx.memory.history.query().variant("tick").count());
       }
       return counts;`,
    );
    expect(counts).toEqual(Array.from({ length: 100 }, (_, index) => index + 1));
  });

  test("equal timestamps keep the order of appending, also when the clock went backwards", async () => {
    const order = await diary.run<number[]>(
      `const at = "2020-01-01T00:00:00.000Z";
       for (let n = 0; n < 20; n++) await ctx.memory.history.append("same", { n }, { timestamp: at });
       await ctx.memory.history.append("same", { n: -1 }, { timestamp: "2019-12-31T23:59:59.999Z" });
       return (await ctx.memory.history.query().variant("same").orderByTime("asc").collect()).map(({ data }) => data.n);`,
    );
    expect(order).toEqual([-1, ...Array.from({ length: 20 }, (_, index) => index)]);
  });

  test("an invalid time and data that is too large are refused, and nothing is stored", async () => {
    expect(
      await diary.refusal(`await ctx.memory.history.append("x", 1, { timestamp: "soon" });`),
    ).toMatchObject({
      code: "InvalidParams",
    });
    const large = await diary.refusal(`await ctx.memory.history.append("x", "é".repeat(5_000_000));`);
    expect(large.code).toMatch(/LimitExceeded|InvalidParams/);
    expect(await diary.run(`return ctx.memory.history.query().variant("x").count();`)).toBe(0);
  });

  test("data of any JSON form is returned unchanged", async () => {
    const forms = ["text", 3.5, true, null, [1, [2]], { a: { "b.c": "ü\u0000💡" } }, ""];
    const back = await diary.run<Item[]>(
      `for (const form of args.forms) await ctx.memory.history.append("form", form);
       return ctx.memory.history.query().variant("form").orderByTime("asc").collect();`,
      { forms },
    );
    expect(back.map(({ data }) => data)).toEqual(forms);
  });
});

test("acknowledged events survive kill -9 of the kernel, and are found by queries", async () => {
  await diary.run(`await ctx.memory.history.append("last", { word: "ephemeral" });`);
  await bench.kill((await bench.status(diary.client)).pid);
  await bench.ready(diary.client);
  const { items } = await diary.query<Page>("temporal", { text: { match: "ephemeral" } });
  expect(items).toHaveLength(1);
  expect(await diary.verify()).toMatchObject({ ok: true });
});
