import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { actionIn, Bench, inState, tool } from "../support/bench.ts";
import type { Client } from "../support/client.ts";
import { HOSTILE } from "../support/hostile-text.ts";
import type { Action } from "../support/types.ts";
import { until } from "../support/until.ts";

const AGENT = "test.talker";
const PROGRAM = `
import { defineAgent } from "@lares/sdk";
const write = (path, content) => [{ kind: "file.write", path, content }];
const host = globalThis[Symbol.for("lares.guest")];
export default defineAgent({
  hooks: {
    async arrived({ entry }, ctx) {
      await ctx.notify("It arrived", "It is " + entry.path + ".", { severity: "warning", action: write("out/" + entry.name, "seen\\n") });
      await ctx.notify("Plain", "Nothing to do.");
      ctx.trace.info("said " + entry.path);
    },
  },
  tools: {
    async say({ title, message = "m", action }, ctx) { await ctx.notify(title, message, { action }); },
    async raw(params) {
      try { await host.call("notify", params); return "taken"; } catch (error) { return error.data?.code ?? error.code; }
    },
    async flood({ count }, ctx) {
      let taken = 0;
      for (let n = 0; n < count; n++) {
        try { await ctx.notify("Title " + n, "m"); taken++; }
        catch (error) { if (error.code !== "LimitExceeded") throw error; }
      }
      return taken;
    },
    async floodForLong({ until }, ctx) {
      let taken = 0;
      while (taken < until) {
        try { await ctx.notify("Title " + taken, "m"); taken++; }
        catch (error) {
          if (error.code !== "LimitExceeded") throw error;
          await new Promise((resolve) => setTimeout(resolve, 100));
        }
      }
      return taken;
    },
  },
});
`;

interface Kept {
  readonly id: string;
  readonly agent: string;
  readonly title: string;
  readonly message: string;
  readonly severity: string;
  readonly state: string;
  readonly count: number;
  readonly held_back?: number;
  readonly action?: string;
}
interface Page {
  readonly items: Kept[];
  readonly total: number;
  readonly cursor?: string;
}

const list = (client: Client, query: object = {}): Promise<Page> =>
  client.request<Page>("lares/notifications/list", query);
const titles = async (client: Client, query: object = { state: "New" }): Promise<string[]> =>
  (await list(client, query)).items.map(({ title }) => title);

const create = (lares: object = {}): Promise<Bench> =>
  Bench.create({
    files: { "in/before.txt": "b\n", "out/there.txt": "t\n" },
    lares: { kernel: { linger: "120s" }, ...lares },
    extensions: [
      {
        id: AGENT,
        program: PROGRAM,
        grants: { locations: ["in/", "out/"] },
        manifest: {
          permissions: { read_entries: true, propose_actions: ["file.write"] },
          hooks: [{ on: "EntryCreated", handler: "arrived", filter: 'entry.path.startsWith("in/new")' }],
          tools: ["say", "raw", "flood", "floodForLong"].map((name) => ({
            name,
            description: name,
            handler: name,
            parameters: { type: "object" },
          })),
        },
      },
    ],
  });

test("what an agent says while no client is there survives kill -9, and its button becomes a proposal", async () => {
  await using bench = await create();
  {
    const client = await bench.open();
    await inState(client, AGENT, "Active", "Unloaded");
    const { pid, stateFolder } = await bench.status(client);
    await client.shutdown();
    await bench.write("in/new.txt", "n\n");
    await until("the agent to have said it", async () =>
      (await readFile(join(stateFolder, "traces", "current.log"), "utf8")).includes("said in/new.txt"),
    );
    await bench.kill(pid);
  }
  await using client = await bench.open();
  const { items, total } = await list(client, { state: "New" });
  expect(total).toBe(2);
  expect(items).toMatchObject([
    { agent: AGENT, title: "Plain", severity: "info", count: 1 },
    { agent: AGENT, title: "It arrived", message: "It is in/new.txt.", severity: "warning", state: "New" },
  ]);
  // A client that comes later asks for it, and does not get it as if it were new.
  expect(client.notifications("lares/notify")).toEqual([]);

  const [plain, arrived] = items;
  await expect(client.request("lares/notifications/act", { id: plain?.id })).rejects.toMatchObject({
    data: { code: "IllegalTransition", state: "New" },
  });
  const action = await client.request<Action>("lares/notifications/act", { id: arrived?.id });
  expect(action).toMatchObject({ agent: AGENT, state: "PendingApproval", title: "It arrived" });
  expect(action.effects).toMatchObject([{ kind: "file.write", path: "out/new.txt" }]);
  await expect(readFile(bench.path("out/new.txt"))).rejects.toThrow();
  expect(await titles(client)).toEqual(["Plain"]);
  await client.request("lares/actions/approve", { id: action.id, digest: action.digest });
  expect(await readFile(bench.path("out/new.txt"), "utf8")).toBe("seen\n");
  // Pressed again, it shows what became of it.
  expect(await client.request("lares/notifications/act", { id: arrived?.id })).toMatchObject({
    id: action.id,
    state: "Committed",
  });

  const ids = [plain?.id, "unknown"];
  expect(await client.request("lares/notifications/dismiss", { ids })).toEqual({ dismissed: 1 });
  expect(await client.request("lares/notifications/dismiss", { ids })).toEqual({ dismissed: 0 });
  expect(await titles(client)).toEqual([]);
  expect(await titles(client, {})).toHaveLength(2);
});

test("a button whose action went stale proposes the changes again, once, with what its agent may do now", async () => {
  await using bench = await create();
  await using client = await bench.open();
  const write = [{ kind: "file.write", path: "out/there.txt", content: "mine\n" }];
  await tool(client, AGENT, "say", { title: "Write it", action: write });
  const [{ id, action: first = "" } = { id: "" }] = (await list(client)).items;
  await bench.write("out/there.txt", "changed by a person\n");
  await actionIn(client, first, "Stale");
  const again = await client.request<Action>("lares/notifications/act", { id });
  expect(again).toMatchObject({ agent: AGENT, state: "PendingApproval", title: "Write it" });
  expect(again.id).not.toBe(first);
  expect(again.on_behalf_of?.[0]).toMatchObject({ kind: "person" });
  expect(await client.request("lares/notifications/act", { id })).toMatchObject({ id: again.id });
  await client.request("lares/actions/approve", { id: again.id, digest: again.digest });
  expect(await readFile(bench.path("out/there.txt"), "utf8")).toBe("mine\n");

  await tool(client, AGENT, "say", { title: "Write more", action: [{ ...write[0], content: "more\n" }] });
  const [{ id: more, action: second = "" } = { id: "" }] = (await list(client)).items;
  await bench.write("out/there.txt", "changed again\n");
  await actionIn(client, second, "Stale");
  await client.request("lares/agents/control", { id: AGENT, command: "disable" });
  await expect(client.request("lares/notifications/act", { id: more })).rejects.toMatchObject({
    data: { code: "AgentError" },
  });
  await client.request("lares/agents/control", { id: AGENT, command: "enable" });
  const { trust } = await bench.status(client);
  await bench.writeLares({ grants: { [AGENT]: { locations: ["in/"] } } });
  await bench.accept(client, trust.digest);
  await until("the narrower grant to count", async () => {
    const answer = await client.raw("lares/notifications/act", { id: more });
    const error = answer["error"] as { data: { code: string } } | undefined;
    return error !== undefined && ["ScopeViolation", "PermissionDenied"].includes(error.data.code);
  });
});

test("clients that are there are told at once, with the count; an untrusted one is not, and may not ask", async () => {
  await using bench = await create();
  await using client = await bench.open();
  await using stranger = await bench.connect({ trusted: false });
  await tool(client, AGENT, "say", { title: "Backup", message: "It failed." });
  await tool(client, AGENT, "say", { title: "Backup", message: "It failed again." });
  const told = await client.notification<Kept>("lares/notify", ({ count }) => count === 2);
  expect(told).toMatchObject({ agent: AGENT, title: "Backup", message: "It failed again." });
  const { items } = await list(client);
  expect(items).toMatchObject([{ id: told.id, count: 2 }]);
  expect(stranger.notifications("lares/notify")).toEqual([]);
  for (const [method, params] of [
    ["lares/notifications/list", {}],
    ["lares/notifications/dismiss", { ids: [told.id] }],
    ["lares/notifications/act", { id: told.id }],
  ] as const)
    await expect(stranger.request(method, params)).rejects.toMatchObject({ data: { code: "Untrusted" } });
});

test("1,000 notifications are bounded, and what is held back is counted and in the traces", async () => {
  await using bench = await create();
  await using client = await bench.open();
  const taken = await tool<number>(client, AGENT, "flood", { count: 1_000 });
  expect(taken).toBeGreaterThanOrEqual(5);
  const all = await tool<number>(client, AGENT, "floodForLong", { until: 14 });
  const { items } = await list(client, { state: "New", limit: 200 });
  const kept = items.filter(({ held_back: held }) => held === undefined);
  const [summary, ...others] = items.filter(({ held_back: held }) => held !== undefined);
  expect(others).toEqual([]);
  // Titles that came twice are one notification.
  const said = kept.reduce((sum, { count }) => sum + count, 0);
  expect(said + (summary?.held_back ?? 0)).toBe(taken + all);
  expect(summary?.held_back).toBeGreaterThan(0);
  expect(summary).toMatchObject({ agent: AGENT, severity: "warning" });
  expect(summary?.title).toContain(`of ${AGENT} were held back`);
  expect(client.notifications("lares/notify")).toHaveLength(said);
  await until("the trace", async () => {
    const traces = await client.request<{ message: string }[]>("lares/traces/query", { agent: AGENT });
    return traces.some(({ message }) => message.includes("too many notifications"));
  });
});

test("a hostile guest's texts are kept as they are and bounded, and its wrong calls are not kept", async () => {
  await using bench = await create();
  await using client = await bench.open();
  const say = { title: HOSTILE.slice(0, 200), message: HOSTILE, severity: "error" };
  expect(await tool(client, AGENT, "raw", say)).toBe("taken");
  const [{ title, message } = { title: "", message: "" }] = (await list(client)).items;
  expect([title, message]).toEqual([say.title.toWellFormed(), say.message]);
  /** Sends it again where the connection's own limit refuses it. */
  const refused = async (params: object, code: string): Promise<void> => {
    const answer = await until("an answer", async () => {
      const given = await tool<string>(client, AGENT, "raw", params);
      return given !== "LimitExceeded" && given;
    });
    expect(answer).toBe(code);
  };
  for (const wrong of [
    { ...say, title: "x".repeat(201) },
    { ...say, title: "" },
    { ...say, message: "x".repeat(100_000) },
    { ...say, severity: "fatal" },
    { ...say, id: "mine" },
  ])
    await refused(wrong, "InvalidParams");
  const beyond = { kind: "file.write", path: "secret/a.txt", content: "x" };
  await refused({ ...say, action: [beyond] }, "ScopeViolation");
  await refused({ ...say, action: [{ kind: "file.delete", path: "in/before.txt" }] }, "PermissionDenied");
  expect((await list(client)).total).toBe(1);
  expect(await client.request<Action[]>("lares/actions/list", {})).toEqual([]);
});
