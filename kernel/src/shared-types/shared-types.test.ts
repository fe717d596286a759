import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import { unlimitedCpu } from "../base/cpu-budget.ts";
import { isLaresError, LaresError } from "../base/errors.ts";
import type { JsonValue } from "../base/json.ts";
import { silentLog } from "../base/log.ts";
import { Slices } from "../base/slices.ts";
import { bothForeign, type Foreign, nothingForeign } from "../base/vocabulary/foreign.ts";
import type { SharedTypeDefinition } from "../base/vocabulary/shared-type.ts";
import { systemClock } from "../platform/clock.ts";
import { openNearDatabase } from "../platform/testing/near-database.ts";
import { ArgumentChecker, argumentBounds } from "../tools/argument-checker.ts";
import { sharedTypeBounds } from "./bounds.ts";
import { sharedTypesMigrations } from "./migrations.ts";
import type { Migrate, Misfit } from "./ports.ts";
import { SharedTypes } from "./shared-types.ts";

const checker = new ArgumentChecker({ ...argumentBounds, deadlineMs: 60_000 });
afterAll(() => checker[Symbol.asyncDispose]());

const owner = "dev.test.photos";
const type = `${owner}/Person`;
const person = (version = 1, properties: object = {}): SharedTypeDefinition => ({
  name: "Person",
  version,
  key: "id",
  schema: {
    type: "object",
    required: ["id", "name"],
    properties: { id: { type: "string" }, name: { type: "string" }, age: { type: "number" }, ...properties },
  },
});

async function bed(declared: SharedTypeDefinition | null = person()) {
  const database = await openNearDatabase({
    path: ":memory:",
    migrations: sharedTypesMigrations,
    log: silentLog,
  });
  onTestFinished(() => database[Symbol.asyncDispose]());
  const state = { declared, woken: 0, onWake: async (): Promise<void> => undefined };
  const marks = new Map<string, Foreign>();
  const read: { keys: string[]; foreign: Foreign } = { keys: [], foreign: nothingForeign };
  const types = new SharedTypes(database, new Slices(systemClock, 5), {
    declared: (extension, name) =>
      extension === owner && name === state.declared?.name ? state.declared : null,
    misfitAmong: async (caller, what, schema, values): Promise<Misfit | null> => {
      const verdict = await checker.verdictOfAll(caller, what, schema, values);
      if (verdict.kind === "fits") return null;
      if (verdict.kind !== "unfit") return { kind: "unchecked", message: verdict.message };
      return { kind: "unfit", index: verdict.index ?? 0, path: verdict.path, message: verdict.message };
    },
    foreign: {
      isMarked: (_type, key) => marks.has(key),
      reading: (_type, keys) => {
        read.keys.push(...keys);
        for (const key of keys) read.foreign = bothForeign(read.foreign, marks.get(key) ?? nothingForeign);
        return read;
      },
      mark: async (_type, keys, foreign) => {
        for (const key of keys) marks.set(key, bothForeign(marks.get(key) ?? nothingForeign, foreign));
      },
    },
    wake: async () => {
      state.woken += 1;
      await state.onWake();
    },
  });
  return { types, state, database, marks, read };
}

const ada = { id: "ada", name: "Ada" };
const asked = { cpu: unlimitedCpu };

async function refusal(work: Promise<unknown>) {
  try {
    await work;
  } catch (error) {
    if (isLaresError(error)) return { code: error.code, message: error.message, facts: error.facts };
    throw error;
  }
  throw new Error("It was not refused.");
}

describe("a value", () => {
  test("is created, read, replaced and removed; its version counts the writes", async () => {
    const { types } = await bed();
    expect(await types.get(type, "ada")).toBeNull();
    expect(await types.create("a.b", type, ada)).toEqual({ version: 1 });
    expect(await types.get(type, "ada")).toEqual({ version: 1, value: ada });
    expect(await types.update("a.b", type, "ada", 1, { ...ada, age: 36 })).toEqual({ version: 2 });
    expect(await types.get(type, "ada")).toEqual({ version: 2, value: { ...ada, age: 36 } });
    await types.remove(type, "ada", 2);
    expect(await types.get(type, "ada")).toBeNull();
    expect(await types.list()).toMatchObject([{ type, count: 0, characters: 0 }]);
  });

  test("that is created again is at none of the versions that a reader of the old one may have", async () => {
    const { types } = await bed();
    await types.create("a.b", type, ada);
    await types.update("a.b", type, "ada", 1, ada);
    await types.remove(type, "ada", 2);
    expect(await types.create("a.b", type, ada)).toEqual({ version: 3 });
    expect((await refusal(types.update("a.b", type, "ada", 2, ada))).code).toBe("Conflict");
  });

  test("whose version is not the expected one is neither replaced nor removed", async () => {
    const { types } = await bed();
    await types.create("a.b", type, ada);
    const conflict = { code: "Conflict", facts: { revision: 1 } };
    expect(await refusal(types.update("a.b", type, "ada", 7, ada))).toMatchObject(conflict);
    expect(await refusal(types.remove(type, "ada", 7))).toMatchObject(conflict);
    expect(await refusal(types.create("a.b", type, ada))).toMatchObject(conflict);
    expect((await refusal(types.update("a.b", type, "bob", 1, { ...ada, id: "bob" }))).code).toBe("NotFound");
  });

  test("that ten agents replace at once is replaced by one of them; the others learn its version", async () => {
    const { types } = await bed();
    await types.create("a.b", type, ada);
    const writes = Array.from({ length: 10 }, (_, n) =>
      types.update(`dev.test.a${n}`, type, "ada", 1, { ...ada, age: n }),
    );
    const ended = await Promise.allSettled(writes);
    expect(ended.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    const lost = ended.flatMap((one) => (one.status === "rejected" ? [one.reason as LaresError] : []));
    expect(new Set(lost.map(({ code, facts }) => `${code} ${String(facts["revision"])}`))).toEqual(
      new Set(["Conflict 2"]),
    );
    const winner = ended.findIndex(({ status }) => status === "fulfilled");
    expect(await types.get(type, "ada")).toEqual({ version: 2, value: { ...ada, age: winner } });
  });

  test("that does not fit is refused with the place of the fault", async () => {
    const { types } = await bed();
    const wrong = await refusal(types.create("a.b", type, { id: "ada", name: 7 }));
    expect(wrong).toMatchObject({ code: "InvalidParams", facts: { path: "/name" } });
    expect(wrong.message).toBe(`/name does not fit ${type}: it must be string.`);
    expect((await refusal(types.create("a.b", type, { id: "ada" }))).message).toContain('property "name"');
    expect((await refusal(types.create("a.b", type, { ...ada, id: "" }))).facts).toEqual({ path: "/id" });
    expect((await refusal(types.create("a.b", type, { ...ada, id: "x".repeat(257) }))).code).toBe(
      "InvalidParams",
    );
    await types.create("a.b", type, ada);
    const moved = await refusal(types.update("a.b", type, "ada", 1, { ...ada, id: "eve" }));
    expect(moved).toMatchObject({ code: "InvalidParams", facts: { path: "/id" } });
    expect(await types.get(type, "ada")).toEqual({ version: 1, value: ada });
  });

  test("over the limit is refused and leaves what was there", async () => {
    const { types } = await bed();
    await types.create("a.b", type, ada);
    const name = "x".repeat(sharedTypeBounds.valueCharacters);
    const large = await refusal(types.update("a.b", type, "ada", 1, { ...ada, name }));
    expect(large).toMatchObject({ code: "LimitExceeded", facts: { limit: "shared_value" } });
    expect(await types.get(type, "ada")).toEqual({ version: 1, value: ada });
  });

  test("with halves of surrogate pairs and unusual keys is kept in its well-formed form", async () => {
    const { types } = await bed();
    const value = { id: "x\ud800", name: "\u0000'%", __proto__: null } as unknown as JsonValue;
    await types.create("a.b", type, value);
    expect(await types.get(type, "x\ufffd")).toMatchObject({ value: { id: "x\ufffd", name: "\u0000'%" } });
  });
});

describe("a type", () => {
  test("that no extension declares does not exist", async () => {
    const { types } = await bed();
    for (const name of [`${owner}/Place`, "dev.test.other/Person", "Person", "/", "x/"])
      expect((await refusal(types.get(name, "ada"))).code, name).toBe("NotFound");
  });

  test("of an extension that is no longer there keeps its values and its schema", async () => {
    const { types, state } = await bed();
    await types.create("a.b", type, ada);
    state.declared = null;
    expect(await types.get(type, "ada")).toEqual({ version: 1, value: ada });
    expect((await refusal(types.create("a.b", type, { id: "bob" }))).code).toBe("InvalidParams");
  });

  test("takes no more values and characters than its limits", async () => {
    const { types, database } = await bed();
    await types.create("a.b", type, ada);
    const { values, allCharacters } = sharedTypeBounds;
    const full = (count: number, characters: number) =>
      database.batch([
        { sql: "UPDATE shared_types SET count = ?, characters = ?", params: [count, characters] },
      ]);
    await full(values, 10);
    expect((await refusal(types.create("a.b", type, { ...ada, id: "bob" }))).code).toBe("LimitExceeded");
    expect(await types.update("a.b", type, "ada", 1, ada)).toEqual({ version: 2 });
    await full(1, allCharacters);
    expect((await refusal(types.create("a.b", type, { ...ada, id: "bob" }))).code).toBe("LimitExceeded");
    expect((await refusal(types.update("a.b", type, "ada", 2, { ...ada, age: 1 }))).code).toBe(
      "LimitExceeded",
    );
  });
});

describe("a query", () => {
  const people = Array.from({ length: 30 }, (_, n) => ({
    id: `p${String(n).padStart(2, "0")}`,
    name: n % 2 === 0 ? "even" : "odd",
    age: n,
  }));

  test("compares numbers as numbers, and pages through what matches in the order of keys", async () => {
    const { types } = await bed();
    for (const one of people) await types.create("a.b", type, one);
    const where = [
      { field: "name", op: "eq" as const, value: "even" },
      { field: "age", op: "gte" as const, value: 9 },
    ];
    const keys: string[] = [];
    const options = { ...asked, found: (page: readonly string[]) => void keys.push(...page) };
    const ages: number[] = [];
    let cursor: string | undefined;
    let pages = 0;
    do {
      const page = await types.query(type, { where, limit: 4, cursor }, options);
      ages.push(...page.items.map(({ value }) => (value as { age: number }).age));
      cursor = page.cursor;
      pages += 1;
    } while (cursor !== undefined);
    expect(ages).toEqual([10, 12, 14, 16, 18, 20, 22, 24, 26, 28]);
    expect(keys).toEqual(ages.map((age) => `p${age}`));
    expect(pages).toBe(3);
  });

  test("whose values fill a page exactly has no further one", async () => {
    const { types } = await bed();
    for (const one of people.slice(0, 4)) await types.create("a.b", type, one);
    expect(await types.query(type, { limit: 4 }, asked)).not.toHaveProperty("cursor");
    expect((await types.query(type, { limit: 3 }, asked)).cursor).toBe("p02");
  });

  test("of large values ends its page before the answer is too large, and misses none", async () => {
    const { types } = await bed();
    const name = "x".repeat(60_000);
    for (const one of people.slice(0, 12)) await types.create("a.b", type, { ...one, name });
    const first = await types.query(type, {}, asked);
    expect(first.items.length).toBe(8);
    const second = await types.query(type, { cursor: first.cursor }, asked);
    expect(second.items).toHaveLength(4);
    expect(second).not.toHaveProperty("cursor");
  });

  test("ends when it is cancelled, and when its time is used up", async () => {
    const { types } = await bed();
    for (const one of people) await types.create("a.b", type, one);
    const stopped = AbortSignal.abort(new LaresError("RequestCancelled", "Stop."));
    expect((await refusal(types.query(type, {}, { ...asked, signal: stopped }))).code).toBe(
      "RequestCancelled",
    );
    const cpu = { limit: "max_cpu_ms_per_event", allowedMs: 1, leftMs: () => 0, charge: () => undefined };
    expect(await refusal(types.query(type, {}, { cpu }))).toMatchObject({
      code: "LimitExceeded",
      facts: { limit: "max_cpu_ms_per_event" },
    });
  });

  test("over 10,000 values finds the one that matches, and lets others have the loop meanwhile", async () => {
    const { types, database } = await bed();
    await types.create("a.b", type, ada);
    const rows = Array.from({ length: 10_000 }, (_, n) => {
      const value = JSON.stringify({ id: `n${n}`, name: "x".repeat(100), age: n });
      return [type, `n${n}`, 1, value, value.length];
    });
    await database.batch([
      {
        sql: "INSERT INTO shared_values (type, key, version, value, characters) VALUES (?, ?, ?, ?, ?)",
        rows: JSON.stringify(rows),
      },
    ]);
    let turns = 0;
    let isOver = false;
    const count = (): void => {
      turns += 1;
      if (!isOver) setImmediate(count);
    };
    setImmediate(count);
    const page = await types.query(type, { where: [{ field: "age", op: "eq", value: 9_876 }] }, asked);
    isOver = true;
    expect(page.items.map(({ value }) => (value as { id: string }).id)).toEqual(["n9876"]);
    expect(turns).toBeGreaterThan(10);
  });
});

describe("a changed definition", () => {
  const older = { id: "old", name: "Old" };
  const split = person(2, { first: { type: "string" } });
  const strict: SharedTypeDefinition = {
    ...split,
    schema: { ...split.schema, required: ["id", "first"], additionalProperties: false },
  };
  const migrate = async (_name: string, _from: number, values: readonly unknown[]) =>
    values.map((value) => ({ id: (value as { id: string }).id, first: (value as { name: string }).name }));

  test("that all values fit counts at once", async () => {
    const { types, state } = await bed();
    await types.create("a.b", type, ada);
    state.declared = person(1, { nick: { type: "string" } });
    expect(await types.get(type, "ada")).toEqual({ version: 1, value: ada });
    expect((await refusal(types.create("a.b", type, { ...older, nick: 1 }))).facts).toEqual({
      path: "/nick",
    });
  });

  test("that a value does not fit is refused with the first one, and the old one counts on", async () => {
    const { types, state } = await bed();
    await types.create("a.b", type, older);
    await types.create("a.b", type, ada);
    state.declared = { ...strict, version: 1 };
    const refused = await refusal(types.get(type, "ada"));
    expect(refused.code).toBe("InvalidDocument");
    expect(refused.message).toBe(
      `The type ${type} changed and kept its version, but its value "ada" does not fit: it must have required property "first". Raise its version and add migrate to the program, or keep to a schema that its values fit.`,
    );
    state.declared = null;
    expect(await types.get(type, "old")).toEqual({ version: 1, value: older });
  });

  test("migrates all values, keeps their versions, and later writes have to fit it", async () => {
    const { types, state } = await bed();
    for (let n = 0; n < 600; n++) await types.create("a.b", type, { id: `p${n}`, name: `name ${n}` });
    await types.update("a.b", type, "p7", 1, { id: "p7", name: "again" });
    state.declared = strict;
    const seen: [string, number, number][] = [];
    await types.adopt(owner, [strict], () => async (name, from, values) => {
      seen.push([name, from, values.length]);
      return await migrate(name, from, values);
    });
    expect(seen.map(([name, from]) => [name, from])).toEqual(seen.map(() => ["Person", 1]));
    expect(seen.reduce((sum, [, , count]) => sum + count, 0)).toBe(600);
    expect(await types.get(type, "p7")).toEqual({ version: 2, value: { id: "p7", first: "again" } });
    expect(await types.get(type, "p599")).toEqual({ version: 1, value: { id: "p599", first: "name 599" } });
    expect((await refusal(types.create("a.b", type, older))).code).toBe("InvalidParams");
    const [stored] = await types.list();
    const page = await types.query(type, { limit: 1000 }, asked);
    expect(stored?.characters).toBe(
      page.items.reduce((sum, { value }) => sum + JSON.stringify(value).length, 0),
    );
  });

  test("is compared once, however often its values are read", async () => {
    let compared = 0;
    const schema = new Proxy(person().schema, {
      ownKeys: (whole) => {
        compared += 1;
        return Reflect.ownKeys(whole);
      },
    });
    const { types, state } = await bed({ ...person(), schema });
    await types.create("a.b", type, ada);
    const before = compared;
    for (let n = 0; n < 50; n++) await types.get(type, "ada");
    expect(compared).toBe(before);
    state.declared = { ...person(1, { nick: { type: "string" } }) };
    await types.get(type, "ada");
    expect((await types.list())[0]?.schema).toContain("nick");
  });

  test("that migrates marked values marks what the program writes after it has read them, and nothing before", async () => {
    const { types, marks, read } = await bed();
    for (const id of ["ada", "bob", "eve", "tom"]) await types.create("a.b", type, { id, name: id });
    marks.set("bob", { web: "all" });
    marks.set("eve", { mail: "minds" });
    let latest = "";
    // Puts what it has read last into the next value, as a program of ill will may; tom's stays as it was.
    const copying =
      (name: string): Migrate =>
      async (_name, _from, values) =>
        values.map((value) => {
          const { id, name: text } = value as { id: string; name: string };
          const next = id === "tom" ? value : { id, name: text, [name]: latest };
          latest = text;
          return next;
        });
    const next = { ...person(2), schema: { type: "object" } };
    await types.adopt(owner, [next], () => copying("first"));
    expect(read.keys).toEqual(["ada", "tom", "bob", "eve"]);
    const both = { web: "all", mail: "minds" };
    expect(Object.fromEntries(marks)).toEqual({ bob: both, eve: both });
    await types.adopt(owner, [{ ...next, version: 3 }], () => copying("second"));
    expect(Object.fromEntries(marks)).toEqual({ ada: both, bob: both, eve: both });
  });

  test("without migrate is refused, and with one that returns what does not fit, or too few, or throws", async () => {
    const { types, state } = await bed();
    await types.create("a.b", type, older);
    state.declared = strict;
    const refused = async (by: Parameters<typeof types.adopt>[2]) =>
      await refusal(types.adopt(owner, [strict], by));
    for (const [by, message] of [
      [() => null, 'its value "old" does not fit: it must have required property "first"'],
      [() => async () => [{ id: "old", first: 1 }], 'its value "old" does not fit: /first must be string'],
      [() => async () => [{ id: "new", first: "x" }], 'its value "old" has another "id"'],
      [() => async () => [], "migrate returned 0 values for 1"],
      [() => async () => [{ id: "old", first: "x".repeat(70_000) }], 'its value "old" is too large'],
      [
        () => async () => {
          throw new LaresError("ToolError", "no such name.");
        },
        "migrate failed: no such name. ",
      ],
    ] as const) {
      const { code, message: said } = await refused(by);
      expect([code, said]).toEqual(["InvalidDocument", expect.stringContaining(message)]);
    }
    state.declared = null;
    expect(await types.get(type, "old")).toEqual({ version: 1, value: older });
  });

  test("is adopted by its extension's agent, which is loaded for that, before anybody reads", async () => {
    const { types, state } = await bed();
    await types.create("a.b", type, older);
    state.declared = strict;
    state.onWake = async () => await types.adopt(owner, [strict], () => migrate);
    const [one, other] = await Promise.all([types.get(type, "old"), types.query(type, {}, asked)]);
    expect(one).toEqual({ version: 1, value: { id: "old", first: "Old" } });
    expect(other.items).toEqual([one]);
  });

  test("whose agent cannot run is not read by the old form", async () => {
    const { types, state } = await bed();
    await types.create("a.b", type, older);
    state.declared = strict;
    state.onWake = async () => {
      throw new LaresError("AgentError", "The agent is Error.");
    };
    expect((await refusal(types.get(type, "old"))).code).toBe("AgentError");
  });

  test("during a write is the one that the written value is checked against", async () => {
    const { types, state } = await bed();
    await types.create("a.b", type, older);
    const writing = refusal(types.create("a.b", type, ada));
    state.declared = strict;
    await types.adopt(owner, [strict], () => migrate);
    const ended = await writing.catch(() => null);
    const page = await types.query(type, {}, asked);
    // Either it was written before and migrated, or it was refused.
    expect(ended === null ? page.items.length : ended.code).toBe(ended === null ? 2 : "InvalidParams");
    for (const { value } of page.items) expect(value).toHaveProperty("first");
  });
});
