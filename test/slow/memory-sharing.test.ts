import { mkdir, writeFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { MemoryStats } from "../../kernel/src/base/vocabulary/memory-reports.ts";
import type { ResultOf } from "../../kernel/src/protocol/v1/requests.ts";
import { Bench, leave } from "../support/bench.ts";
import { rememberer, Remembering } from "../support/memory.ts";
import { isAlive, until } from "../support/until.ts";

const [ADA, BEN, EVE] = ["test.ada", "test.ben", "test.eve"];
let bench: Bench;
let ada: Remembering;
let ben: Remembering;
let eve: Remembering;

beforeAll(async () => {
  bench = await Bench.create({
    extensions: [ADA, BEN, EVE].map((id) => rememberer(id)),
    lares: {
      shared_namespaces: [
        { name: "team", extensions: [ADA, BEN], read_write: true },
        { name: "board", read_write: false },
      ],
    },
  });
  const client = await bench.open();
  ada = new Remembering(client, ADA);
  ben = new Remembering(client, BEN);
  eve = new Remembering(client, EVE);
});
afterAll(() => bench[Symbol.asyncDispose]());

const append = `await ctx.memory.in(args.name).history.append("said", { by: ctx.extension.id, n: args.n });`;
const count = `return ctx.memory.in(args.name).history.query().count();`;

test("an agent reads at once what the other writes; own memories stay separate", async () => {
  await ada.run(append, { name: "team", n: 1 });
  expect(await ben.run(count, { name: "team" })).toBe(1);
  expect(await ben.run(`return ctx.memory.history.query().count();`)).toBe(0);
});

test("two agents that write concurrently: every write is stored, in one valid chain", async () => {
  const many = `await Promise.all(Array.from({ length: 50 }, async (_, n) => { ${append.replace("n: args.n", "n")} }));`;
  await Promise.all([ada.run(many, { name: "team" }), ben.run(many, { name: "team" })]);
  expect(await ada.run(count, { name: "team" })).toBe(101);
  const plan = `await Promise.all(Array.from({ length: 20 }, () => ctx.memory.in("team").plan.update((plan) => ({ count: (plan?.count ?? 0) + 1 }))));`;
  await Promise.all([ada.run(plan), ben.run(plan)]);
  expect(await ada.run(`return ctx.memory.in("team").plan.read();`)).toEqual({ count: 40 });
});

test("an agent without the grant gets nothing, under any name", async () => {
  for (const name of ["team", "TEAM", "../team", "extension/test.ada", "", "constructor"]) {
    const { code } = await eve.refusal(count, { name });
    expect(["PermissionDenied", "InvalidParams"]).toContain(code);
  }
});

test("read-only access refuses every call that changes something", async () => {
  expect(await eve.run(count, { name: "board" })).toBe(0);
  for (const body of [
    append,
    `await ctx.memory.in("board").plan.set({});`,
    `await ctx.memory.in("board").knowledge.add("x", {});`,
    `await ctx.memory.in("board").cleanup({ retentionDays: 0 });`,
  ]) {
    expect(await eve.refusal(body, { name: "board", n: 1 })).toMatchObject({ code: "PermissionDenied" });
  }
});

test("clients see which shared memories exist, and whose they are", async () => {
  const records = expect.any(Number) as number;
  const team = { name: "team", agents: [ADA, BEN], access: "read_write", records };
  const board = { name: "board", agents: [ADA, BEN, EVE], access: "read", records: 0 };
  const { client } = ada;
  expect(await client.request("lares/memory/namespaces", {})).toEqual({ namespaces: [team, board] });
  expect(await client.request("lares/memory/namespaces", { agent: EVE })).toEqual({ namespaces: [board] });
  await expect(client.request("lares/memory/namespaces", { agent: "no.one" })).rejects.toMatchObject({
    data: { code: "NotFound" },
  });
});

test("a shared memory is measured, verified and exported like an agent's own", async () => {
  const { client } = ben;
  const whose = { agent: BEN, namespace: "team" };
  const { namespaces } = await client.request<ResultOf<"lares/memory/namespaces">>(
    "lares/memory/namespaces",
    { agent: BEN },
  );
  const stats = await client.request<MemoryStats>("lares/memory/stats", whose);
  expect(stats).toMatchObject({
    records: namespaces[0]?.records,
    projections: { temporal: { events: 101 } },
  });
  const { records, head } = stats;
  expect(await client.request("lares/memory/verify", whose)).toEqual({ ok: true, records, head });
  const path = join(bench.base, "team.lares");
  expect(await client.request("lares/memory/export", { ...whose, path })).toMatchObject({ records, head });
  const into = { agent: EVE, path, preview: true };
  expect(await client.request("lares/memory/import", into)).toMatchObject({
    records,
    from: "namespace/team",
  });
  const board = { agent: EVE, namespace: "board" };
  expect(await client.request("lares/memory/verify", board)).toEqual({ ok: true, records: 0, head: null });
  // Not the agent's own, and not one of a name that no document has.
  expect(await client.request("lares/memory/stats", { agent: BEN })).not.toMatchObject({ records });
  for (const namespace of ["none", "../team", "extension/test.ada", "__proto__"])
    await expect(client.request("lares/memory/stats", { agent: BEN, namespace })).rejects.toMatchObject({
      data: { code: "NotFound" },
    });
});

test("a person's own document may import too, by a path relative to it", async () => {
  await using other = await Bench.create({ extensions: [rememberer(EVE)] });
  const config = join(other.base, "config", "lares");
  await mkdir(config, { recursive: true });
  const imports = [{ name: "team", workspace: relative(config, bench.root) }];
  await writeFile(join(config, "lares.yaml"), JSON.stringify({ version: 1, import_namespaces: imports }));
  const environment = { LARES_HOME: bench.home, XDG_CONFIG_HOME: join(other.base, "config") };
  const reader = new Remembering(await other.open({ environment }), EVE);
  await until(
    "the importer to see it",
    async () => (await reader.run<number>(count, { name: "team" })) === 101,
  );
});

test("another workspace's memory can be imported, and is read-only", async () => {
  await using other = await Bench.create({
    extensions: [rememberer(EVE)],
    lares: { import_namespaces: [{ name: "team", workspace: bench.root }] },
  });
  const reader = new Remembering(await other.open({ environment: { LARES_HOME: bench.home } }), EVE);
  await until(
    "the importer to see it",
    async () => (await reader.run<number>(count, { name: "team" })) === 101,
  );
  await ada.run(append, { name: "team", n: 2 });
  await until("the importer to see what was added", async () => {
    return (await reader.run<number>(count, { name: "team" })) === 102;
  });
  expect(await reader.refusal(append, { name: "team", n: 3 })).toMatchObject({ code: "PermissionDenied" });

  const { client } = reader;
  expect(await client.request("lares/memory/namespaces", {})).toEqual({
    namespaces: [{ name: "team", agents: [EVE], access: "read", workspace: bench.root }],
  });
  const whose = { agent: EVE, namespace: "team" };
  for (const method of ["lares/memory/verify", "lares/memory/stats"] as const)
    await expect(client.request(method, whose)).rejects.toMatchObject({ data: { code: "PermissionDenied" } });
});

test("it survives the kernel", async () => {
  const { pid } = await bench.status(ada.client);
  await leave(ada.client);
  await until("the kernel to end", () => !isAlive(pid));
  ada = new Remembering(await bench.open(), ADA);
  expect(await ada.run(count, { name: "team" })).toBe(102);
});
