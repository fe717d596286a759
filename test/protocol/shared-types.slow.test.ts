import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { call, type Outcome, probe } from "../support/agents.ts";
import { Bench, inState, leave, tool } from "../support/bench.ts";
import { lares } from "../support/command-line.ts";
import type { Client } from "../support/client.ts";
import { isAlive, until } from "../support/until.ts";

const OWNER = "test.owner";
const READER = "test.reader";
const WRITER = "test.writer";
const STRANGER = "test.stranger";
const DEPUTY = "test.deputy";
const person = `${OWNER}/Person`;

const personSchema = {
  type: "object",
  required: ["id", "name"],
  properties: { id: { type: "string" }, name: { type: "string" }, age: { type: "number" } },
};
const Person = { name: "Person", version: 1, key: "id", schema: personSchema };

/** Calls a method of `ctx.types(type)`, and returns `{ value }` or `{ error }`. */
const TYPES_PROGRAM = `
import { defineAgent } from "@lares/sdk";
export default defineAgent({
  tools: {
    async types({ type, method, args }, ctx) {
      try { return { value: (await ctx.types(type)[method](...args)) ?? null }; }
      catch (error) { return { error: { code: error.code, message: String(error.message), data: error.facts ?? null } }; }
    },
    passOn: ({ agent, ...rest }, ctx) => ctx.tools.call(agent + "/types", rest),
  },
});`;
const typesTool = (name: string) => ({
  name,
  description: name,
  handler: name,
  parameters: { type: "object" },
});
const user = (id: string, permissions: object, manifest: object = {}) => ({
  id,
  program: TYPES_PROGRAM,
  manifest: { permissions, tools: [typesTool("types"), typesTool("passOn")], ...manifest },
});

let bench: Bench;
let client: Client;
beforeAll(async () => {
  bench = await Bench.create({
    extensions: [
      user(OWNER, {}, { types: [Person] }),
      user(READER, { shared_types: { read: [person] }, call_tools: [`${OWNER}/*`, `${DEPUTY}/*`] }),
      user(WRITER, { shared_types: { read: [person], write: [person] } }, { types: [Person] }),
      user(STRANGER, { call_tools: [`${OWNER}/*`, `${DEPUTY}/*`] }),
      user(DEPUTY, { shared_types: { read: [`${OWNER}/*`], write: [`${OWNER}/*`] } }),
    ],
  });
  client = await bench.open();
});
afterAll(() => bench[Symbol.asyncDispose]());

const types = (agent: string, type: string, method: string, ...args: unknown[]): Promise<Outcome> =>
  tool<Outcome>(client, agent, "types", { type, method, args });
/** Through another agent, which answers a call of the first. */
const through = (caller: string, agent: string, type: string, method: string, ...args: unknown[]) =>
  tool<Outcome>(client, caller, "passOn", { agent, type, method, args });
const codeOf = ({ error }: Outcome): string | undefined => error?.code;

describe("values of a type", () => {
  test("are created and changed by those that may, and read by others, by version", async () => {
    expect(await types(OWNER, "Person", "create", { id: "ada", name: "Ada" })).toEqual({
      value: { version: 1 },
    });
    expect(await types(READER, person, "get", "ada")).toEqual({
      value: { version: 1, value: { id: "ada", name: "Ada" } },
    });
    expect(await types(WRITER, person, "update", "ada", 1, { id: "ada", name: "Ada L." })).toEqual({
      value: { version: 2 },
    });
    const late = await types(OWNER, "Person", "update", "ada", 1, { id: "ada", name: "late" });
    expect(late.error).toMatchObject({ code: "Conflict", data: { revision: 2 } });
    expect(await types(READER, person, "get", "bob")).toEqual({ value: null });
  });

  test("have -33014 and the version on the wire when they were changed meanwhile", async () => {
    const response = await client.request<{ value?: { error?: { data: object } } }>("lares/tools/call", {
      agent: OWNER,
      name: "types",
      arguments: { type: "Person", method: "remove", args: ["ada", 9] },
    });
    expect(response.value?.error).toMatchObject({ code: "Conflict", data: { revision: 2 } });
  });

  test("that do not fit are refused with the path of the fault", async () => {
    const { error } = await types(OWNER, "Person", "create", { id: "eve", name: "Eve", age: "old" });
    expect(error).toMatchObject({ code: "InvalidParams", data: { path: "params.value.age" } });
    expect(error?.message).toContain("must be number");
  });

  test("over 64 KiB are refused", async () => {
    const large = { id: "big", name: "x".repeat(70_000) };
    expect(codeOf(await types(OWNER, "Person", "create", large))).toBe("LimitExceeded");
    expect(await types(READER, person, "get", "big")).toEqual({ value: null });
  });

  test("of two extensions with a type of one name are apart, and neither may take the other's", async () => {
    await types(WRITER, "Person", "create", { id: "ada", name: "Another" });
    expect(await types(WRITER, "Person", "get", "ada")).toMatchObject({
      value: { value: { name: "Another" } },
    });
    expect(await types(OWNER, "Person", "get", "ada")).toMatchObject({
      value: { value: { name: "Ada L." } },
    });
    expect(codeOf(await types(OWNER, `${WRITER}/Person`, "get", "ada"))).toBe("PermissionDenied");
  });
});

describe("without the permission", () => {
  test.each([
    [READER, "create", [{ id: "x", name: "x" }]],
    [READER, "update", ["ada", 2, { id: "ada", name: "x" }]],
    [READER, "remove", ["ada", 2]],
    [STRANGER, "get", ["ada"]],
    [STRANGER, "query", [{}]],
  ] as const)("%s cannot %s", async (agent, method, args) => {
    expect(codeOf(await types(agent, person, method, ...args))).toBe("PermissionDenied");
  });

  test("it is told nothing of whether a type exists", async () => {
    const [there, missing] = [
      await types(STRANGER, person, "get", "ada"),
      await types(STRANGER, `${OWNER}/Nothing`, "get", "ada"),
    ];
    expect([codeOf(there), codeOf(missing)]).toEqual(["PermissionDenied", "PermissionDenied"]);
  });

  test("a callee does not do as its deputy what the caller may not: not with its own type either", async () => {
    expect(codeOf(await through(STRANGER, OWNER, "Person", "get", "ada"))).toBe("PermissionDenied");
    expect(codeOf(await through(STRANGER, DEPUTY, person, "get", "ada"))).toBe("PermissionDenied");
    expect(await through(READER, DEPUTY, person, "get", "ada")).toHaveProperty("value.version", 2);
    const change = ["ada", 2, { id: "ada", name: "stolen" }] as const;
    expect(codeOf(await through(READER, DEPUTY, person, "update", ...change))).toBe("PermissionDenied");
    expect(codeOf(await through(READER, OWNER, "Person", "update", ...change))).toBe("PermissionDenied");
    expect(await types(OWNER, "Person", "get", "ada")).toMatchObject({ value: { version: 2 } });
  });
});

describe("a query", () => {
  test("compares numbers as numbers, and pages with a cursor", async () => {
    for (let n = 0; n < 25; n++)
      await types(WRITER, "Person", "create", { id: `n${n}`, name: "number", age: n });
    const where = [
      { field: "age", op: "gt", value: 9 },
      { field: "name", op: "eq", value: "number" },
    ];
    const ages: number[] = [];
    let cursor: string | undefined;
    do {
      const { value } = await types(WRITER, "Person", "query", { where, limit: 6, cursor });
      const page = value as { items: { value: { age: number } }[]; cursor?: string };
      ages.push(...page.items.map((item) => item.value.age));
      cursor = page.cursor;
    } while (cursor !== undefined);
    expect(ages.toSorted((one, other) => one - other)).toEqual(Array.from({ length: 15 }, (_, n) => n + 10));
  });

  test("with a condition that has no sense is refused", async () => {
    const where = [{ field: "age", op: "gt", value: true }];
    expect(codeOf(await types(WRITER, "Person", "query", { where }))).toBe("InvalidParams");
  });
});

test("values survive the kernel", async () => {
  const { pid } = await bench.status(client);
  await leave(client);
  await until("the kernel to end", () => !isAlive(pid));
  client = await bench.open();
  expect(await types(READER, person, "get", "ada")).toMatchObject({ value: { version: 2 } });
});

describe("a schema", () => {
  const extension = (id: string, properties: object, more: object = {}) =>
    user(
      id,
      {},
      {
        types: [
          {
            name: "Slow",
            version: 1,
            key: "id",
            schema: {
              type: "object",
              required: ["id"],
              properties: { id: { type: "string" }, ...properties },
              ...more,
            },
          },
        ],
      },
    );

  test("that takes for ever to check ends as an error of that write, and other agents keep running", async () => {
    const next = { properties: { n: { $ref: "#/definitions/node" } } };
    const definitions = { node: { allOf: [next, next] } };
    await using slow = await Bench.create({
      extensions: [
        extension("test.slow", { n: { $ref: "#/definitions/node" } }, { definitions }),
        probe({ id: "test.other" }),
      ],
    });
    await using own = await slow.open();
    let nested: object = {};
    for (let level = 0; level < 40; level++) nested = { n: nested };
    const write = tool<Outcome>(own, "test.slow", "types", {
      type: "Slow",
      method: "create",
      args: [{ id: "x", ...nested }],
    });
    expect(await call(own, "test.other", "vdfs.count", {})).toBeTypeOf("number");
    expect((await write).error).toMatchObject({
      code: "LimitExceeded",
      message: expect.stringContaining("could not be checked against test.slow/Slow"),
    });
    const plain = { type: "Slow", method: "create", args: [{ id: "y" }] };
    expect(await tool<Outcome>(own, "test.slow", "types", plain)).toEqual({ value: { version: 1 } });
  });

  test("with a pattern that backtracks exponentially elsewhere is checked at once", async () => {
    await using hostile = await Bench.create({
      extensions: [extension("test.pattern", { p: { type: "string", pattern: "^(a+)+$" } })],
    });
    await using own = await hostile.open();
    const args = [{ id: "x", p: `${"a".repeat(30_000)}!` }];
    const { error } = await tool<Outcome>(own, "test.pattern", "types", {
      type: "Slow",
      method: "create",
      args,
    });
    expect(error).toMatchObject({ code: "InvalidParams", data: { path: "params.value.p" } });
  });
});

test("two agents that count at once by compare-and-swap lose no step, over deaths of the kernel", async () => {
  const counting = `
    import { defineAgent } from "@lares/sdk";
    export default defineAgent({ tools: {
      async count({ steps }, ctx) {
        const counts = ctx.types("${OWNER}/Person");
        for (let done = 0; done < steps; ) {
          const { version, value } = await counts.get("n");
          try {
            await counts.update("n", version, { ...value, age: value.age + 1 });
            ctx.trace.info("counted", { to: value.age + 1 });
            done += 1;
          } catch (error) { if (error.code !== "Conflict") throw error; }
        }
      },
    } });`;
  const counter = (id: string) => ({
    id,
    program: counting,
    manifest: {
      permissions: { shared_types: { read: [`${OWNER}/*`], write: [`${OWNER}/*`] } },
      tools: [typesTool("count")],
    },
  });
  await using own = await Bench.create({
    extensions: [user(OWNER, {}, { types: [Person] }), counter("test.one"), counter("test.two")],
  });
  const owned = async (connected: Client, method: string, ...args: unknown[]) =>
    (await tool<Outcome>(connected, OWNER, "types", { type: "Person", method, args })).value as {
      version: number;
      value: { age: number };
    };
  let connected = await own.open();
  await owned(connected, "create", { id: "n", name: "n", age: 1 });
  for (let round = 0; round < 2; round++) {
    const start = (await owned(connected, "get", "n")).value.age;
    const counted = ["test.one", "test.two"].map((id) =>
      tool(connected, id, "count", { steps: 100_000 }).catch(() => undefined),
    );
    const before = await until("some steps", async () => {
      const { value } = await owned(connected, "get", "n");
      return value.age > start + 30 && value.age;
    });
    await own.kill((await own.status(connected)).pid);
    await connected[Symbol.asyncDispose]();
    await Promise.all(counted);
    connected = await own.open();
    const { version, value } = await owned(connected, "get", "n");
    // Each step was made on the one before it, and what was read before the death is there.
    expect(value.age).toBe(version);
    expect(value.age).toBeGreaterThanOrEqual(before);
  }
});

describe("a changed definition", () => {
  const program = (migrate: string): string =>
    TYPES_PROGRAM.replace("defineAgent({", `defineAgent({ types: { Person: { ${migrate} } },`);
  const split = (version: number) => ({
    ...Person,
    version,
    schema: {
      type: "object",
      required: ["id", "first"],
      properties: { id: { type: "string" }, first: { type: "string" } },
    },
  });

  test("migrates the values; one that they do not fit is refused with the first value, and the old one counts on", async () => {
    const owner = (version: number, migrate: string) => ({
      ...user(OWNER, {}, { types: [version === 1 ? Person : split(version)] }),
      program: program(migrate),
    });
    await using own = await Bench.create({
      extensions: [owner(1, ""), user(READER, { shared_types: { read: [person] } })],
    });
    await using connected = await own.open();
    const asks = (agent: string, type: string, method: string, ...args: unknown[]): Promise<Outcome> =>
      tool<Outcome>(connected, agent, "types", { type, method, args });
    const change = async (version: number, migrate: string): Promise<void> => {
      const { digest } = (await own.status(connected)).trust;
      await own.writeExtension(owner(version, migrate));
      await own.accept(connected, digest);
    };
    await asks(OWNER, "Person", "create", { id: "ada", name: "Ada" });
    await asks(OWNER, "Person", "create", { id: "bob", name: "Bob" });

    await change(2, "migrate: (value) => (value.id === 'bob' ? {} : { id: value.id, first: value.name })");
    const broken = await inState(connected, OWNER, "Error");
    expect(broken.error).toContain(
      `The type ${person} changed from version 1 to 2, but its value "bob" does not fit: it must have required property "id".`,
    );
    expect(codeOf(await asks(READER, person, "get", "ada"))).toBe("AgentError");

    await change(3, "migrate: (value, from) => ({ id: value.id, first: value.name + from })");
    await until("the values to be migrated", async () => {
      const { value } = await asks(READER, person, "get", "bob");
      return (value as { value?: { first?: string } } | undefined)?.value?.first === "Bob1";
    });
    expect(await asks(READER, person, "get", "ada")).toEqual({
      value: { version: 1, value: { id: "ada", first: "Ada1" } },
    });
    expect(codeOf(await asks(OWNER, "Person", "create", { id: "eve", name: "Eve" }))).toBe("InvalidParams");
  });
});

test("values are listed and exported at the command line", async () => {
  const listed = await lares(bench, ["types"]);
  expect(listed.stdout).toMatch(/^test\.owner\/Person {2}version 1, \d+ values?, \d+ characters/m);
  const { stdout, code } = await lares(bench, ["types", "export", person]);
  const [exported] = JSON.parse(stdout) as { type: string; schema: object; values: object[] }[];
  expect([code, exported?.type, exported?.schema]).toEqual([0, person, personSchema]);
  expect(exported?.values).toEqual([{ version: 2, value: { id: "ada", name: "Ada L." } }]);
  const all = JSON.parse((await lares(bench, ["types", "export"])).stdout) as { values: object[] }[];
  expect(all.map(({ values }) => values.length)).toEqual([1, 26]);
  expect(JSON.parse((await lares(bench, ["types", "--json"])).stdout)).toMatchObject([
    { type: person, count: 1 },
    { type: `${WRITER}/Person`, count: 26 },
  ]);
  const missing = await lares(bench, ["types", "export", `${OWNER}/Place`]);
  expect([missing.code, missing.stderr]).toEqual([2, expect.stringContaining(person)]);
});
