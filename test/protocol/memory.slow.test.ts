import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Bench, inState, leave, tool } from "../support/bench.ts";
import type { Client } from "../support/client.ts";
import { isAlive, until } from "../support/until.ts";

const KEEPER = "test.keeper";
const PROGRAM = `
import { defineAgent } from "@lares/sdk";
const add = (ctx) => ctx.memory.plan.update((plan) => ({ ...plan, count: plan.count + 1 }));
export default defineAgent({
  memory: { plan: { count: 0, word: "start" } },
  tools: {
    async read(_, ctx) { return ctx.memory.plan.read(); },
    async add(_, ctx) { return add(ctx); },
    async many({ times }, ctx) { await Promise.all(Array.from({ length: times }, () => add(ctx))); return ctx.memory.plan.read(); },
    async set({ state }, ctx) { await ctx.memory.plan.set(state); await ctx.memory.sync(); return null; },
    async reset(_, ctx) { await ctx.memory.plan.reset(); return null; },
    async fail(_, ctx) { await ctx.memory.plan.update((plan) => { plan.word = "half"; throw new Error("changed my mind"); }); },
  },
});
`;
type Plan = { count: number; word?: string };
type Verdict = { ok: boolean; records: number; head: string; firstBad?: { seq: number; reason: string } };

let bench: Bench;
let client: Client;
beforeAll(async () => {
  const tools = ["read", "add", "many", "set", "reset", "fail"];
  bench = await Bench.create({
    extensions: [
      {
        id: KEEPER,
        program: PROGRAM,
        manifest: {
          tools: tools.map((name) => ({
            name,
            description: name,
            handler: name,
            parameters: { type: "object" },
          })),
        },
      },
    ],
  });
  client = await bench.open();
});
afterAll(() => bench[Symbol.asyncDispose]());

const run = <Value = Plan>(name: string, parameters: object = {}) =>
  tool<Value>(client, KEEPER, name, parameters);
const verify = () => client.request<Verdict>("lares/memory/verify", { agent: KEEPER });

test("working memory begins with the program's initial state, and updates return the new one", async () => {
  expect(await run("read")).toEqual({ count: 0, word: "start" });
  expect(await run("add")).toEqual({ count: 1, word: "start" });
  expect(await run("read")).toEqual({ count: 1, word: "start" });
});

test("concurrent updates are retried on conflict: none is lost", async () => {
  expect((await run("many", { times: 25 })).count).toBe(26);
});

test("nothing is written when the update's function throws", async () => {
  await expect(run("fail")).rejects.toThrow("changed my mind");
  expect((await run("read")).word).toBe("start");
});

test("verify and stats describe the journal; every write is a record of it", async () => {
  const before = await verify();
  expect(before).toMatchObject({ ok: true, head: expect.stringMatching(/[0-9a-f]{64}$/) });
  await run("add");
  const after = await verify();
  expect(after).toMatchObject({ ok: true, records: before.records + 1 });
  expect(after.head).not.toBe(before.head);
  const stats = await client.request<Record<string, unknown>>("lares/memory/stats", { agent: KEEPER });
  expect(stats).toMatchObject({ records: after.records });
  for (const method of ["verify", "stats"]) {
    const { error } = await client.raw(`lares/memory/${method}`, { agent: "test.nobody" });
    expect(error).toMatchObject({ code: -33001 });
  }
});

test("set replaces the state, reset restores the initial one", async () => {
  await run("set", { state: { count: 7 } });
  expect(await run("read")).toEqual({ count: 7 });
  await run("reset");
  expect(await run("read")).toEqual({ count: 0, word: "start" });
});

test("an acknowledged update survives kill -9 of the kernel", async () => {
  await run("set", { state: { count: 41 } });
  await run("add");
  await bench.kill((await bench.status(client)).pid);
  await bench.ready(client);
  expect(await run("read")).toEqual({ count: 42 });
  expect(await verify()).toMatchObject({ ok: true });
});

test("a journal that is changed while its agent runs: verify puts the agent into Error, and nothing more is written; once repaired, it continues", async () => {
  const { stateFolder } = await bench.status(client);
  await run("add");
  const folder = join(stateFolder, "extensions", KEEPER, "memory", "journal");
  const [name = ""] = (await readdir(folder)).toSorted();
  const whole = await readFile(join(folder, name));
  const at = whole.indexOf("\n") + 40;
  await writeFile(join(folder, name), whole.with(at, (whole[at] ?? 0) ^ 1));
  expect(await verify()).toMatchObject({ ok: false, firstBad: { seq: 2 } });
  expect((await inState(client, KEEPER, "Error")).error).toMatch(
    /journal in ".*" is damaged at seq 2.*backup/,
  );
  const refused = await client.raw("lares/tools/call", { agent: KEEPER, name: "add", arguments: {} });
  expect(refused).toHaveProperty("error");
  expect((await readFile(join(folder, name))).length).toBe(whole.length);

  await writeFile(join(folder, name), whole);
  await client.request("lares/agents/control", { id: KEEPER, command: "reload" });
  await run("add");
  expect(await verify()).toMatchObject({ ok: true });
});

test("a journal that was changed: the kernel is ready, verify shows the first bad record, that agent is Error; once repaired, it continues", async () => {
  const { stateFolder, pid } = await bench.status(client);
  const { count } = await run("add");
  await leave(client);
  await until("the kernel to end", () => !isAlive(pid));
  const folder = join(stateFolder, "extensions", KEEPER, "memory", "journal");
  const [name = ""] = (await readdir(folder)).toSorted();
  const whole = await readFile(join(folder, name), "utf8");
  const lines = whole.split("\n");
  const tampered = lines.map((line, index) =>
    index === 2 ? line.replace('"data":{', '"data":{"forged":1,') : line,
  );
  expect(tampered).not.toEqual(lines);
  await writeFile(join(folder, name), tampered.join("\n"));

  client = await bench.open();
  const { seq } = JSON.parse(lines[2] ?? "") as { seq: number };
  expect(await verify()).toMatchObject({ ok: false, firstBad: { seq, reason: expect.stringMatching(/\w/) } });
  const refused = await client.raw("lares/tools/call", { agent: KEEPER, name: "read", arguments: {} });
  expect(refused).toHaveProperty("error");
  expect((await inState(client, KEEPER, "Error")).error).toMatch(/journal|memory|verif/i);
  expect(await readFile(join(folder, name), "utf8")).toBe(tampered.join("\n")); // left as it is

  const again = (await bench.status(client)).pid;
  await leave(client);
  await until("the kernel to end", () => !isAlive(again));
  await writeFile(join(folder, name), whole);
  client = await bench.open();
  expect(await run("read")).toEqual({ count });
  expect(await verify()).toMatchObject({ ok: true });
});
