/** What a conversation has led to changes nothing after a stop, against a real kernel. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Action } from "../../kernel/src/base/vocabulary/action.ts";
import { tool } from "../support/bench.ts";
import { HostileMind } from "../support/hostile-mind.ts";
import { until } from "../support/until.ts";

/** Tools that ignore their cancellation, and write once the tool `open` was called with their name. */
const LATE = `import { defineAgent } from "@lares/sdk";
const said = [];
const gates = new Map();
const gate = (name) => {
  if (!gates.has(name)) gates.set(name, Promise.withResolvers());
  return gates.get(name);
};
const propose = async (ctx, name) => {
  said.push(name + " began");
  await gate(name).promise;
  try {
    await ctx.actions.propose([{ kind: "file.write", path: "out/" + name + ".md", content: name }], { title: "Write", reason: "late" });
    said.push(name + " wrote");
  } catch (error) {
    said.push(name + " " + error.code);
  }
};
const worker = (name) => async (_args, ctx) => void (await propose(ctx, name));
export default defineAgent({
  tools: {
    late: worker("late"),
    again: worker("again"),
    asked: async (_args, ctx) => {
      await ctx.actions.propose([{ kind: "file.write", path: "asked.md", content: "x" }], { title: "Write", reason: "ask" });
    },
    fire: async (_args, ctx) => { void propose(ctx, "fire"); return "started"; },
    job: async (_args, ctx) => { await ctx.jobs.dispatch("later", {}); return "dispatched"; },
    tell: async (_args, ctx) => { await ctx.events.emit("Told", {}); return "told"; },
    open: ({ name }) => gate(name).resolve(),
    said: () => said,
  },
  jobs: { later: (_input, ctx) => propose(ctx, "job") },
  hooks: { heard: (_event, ctx) => propose(ctx, "event") },
});`;

let mind: HostileMind;
beforeAll(async () => {
  const tools = ["files/*", "test.late/*"];
  const offered = (...names: string[]) =>
    names.map((name) => ({ name, description: name, handler: name, parameters: { type: "object" } }));
  const permissions = { read_entries: true, propose_actions: ["file.write"], dispatch_jobs: true };
  mind = await HostileMind.open({
    files: { "a.md": "a\n" },
    mind: { tools, direct_tools: tools },
    manifest: {
      permissions: {
        use_models: [{ category: "chat" }],
        read_entries: true,
        propose_actions: ["file.write"],
        call_tools: ["test.late/*"],
      },
    },
    extensions: [
      {
        id: "test.late",
        program: LATE,
        manifest: {
          permissions: { ...permissions, emit_events: ["Told"] },
          events: [{ name: "Told", version: 1, schema: { type: "object" } }],
          tools: offered("late", "again", "asked", "fire", "job", "tell", "said", "open"),
        },
        grants: { locations: ["."] },
      },
      {
        id: "test.hearer",
        program: LATE,
        manifest: {
          permissions: { ...permissions, hear_events: ["test.late/*"] },
          hooks: [{ on: "test.late/Told", handler: "heard" }],
          tools: offered("said", "open"),
        },
        grants: { locations: ["."] },
      },
    ],
    lares: { approvals: { rules: [{ decide: "allow", kind: "file.write", path: "out/**" }] } },
  });
});
afterAll(() => mind[Symbol.asyncDispose]());

const call = (name: string) => ({ calls: [{ name: `test_late_${name}`, given: {} }] });
const cancel = (id: string) => mind.client.request("lares/conversations/cancel", { id });
const open = async (name: string): Promise<void> => {
  for (const agent of ["test.late", "test.hearer"]) await tool(mind.client, agent, "open", { name });
};
const written = (name: string) => existsSync(join(mind.bench.root, "out", `${name}.md`));
/** Returns what the programs noted. */
const said = async (): Promise<string> =>
  JSON.stringify([
    await tool(mind.client, "test.late", "said"),
    await tool(mind.client, "test.hearer", "said"),
  ]);
const jobs = async (): Promise<number> =>
  (await mind.client.request<{ total: number }>("lares/jobs/list", {})).total;
const cards = (): Promise<Action[]> =>
  mind.client.request("lares/actions/list", { state: "PendingApproval" });

test.each([
  ["a tool that ignores its cancellation", "late", "late"],
  ["work that a tool left behind its answer", "fire", "fire"],
  ["a job that a tool dispatched", "job", "job"],
  ["the handler of an event that a tool emitted", "tell", "event"],
])(
  "%s changes nothing once its conversation was stopped, although a rule allows it",
  async (_what, tool, name) => {
    const id = await mind.attack([call(tool), () => undefined]);
    await until("the work to begin", async () => (await said()).includes(`${name} began`));
    await cancel(id);
    await open(name);
    // The guest of a job that does not leave it is ended, and what it noted with it.
    if (name === "job") await until("the job to end", async () => (await jobs()) === 0);
    else await until("the refusal", async () => (await said()).includes(`${name} RequestCancelled`));
    expect(written(name)).toBe(false);
    expect(await cards()).toEqual([]);
  },
);

test("a card that a tool of another agent left waiting is withdrawn by the stop", async () => {
  const id = await mind.attack([call("asked"), () => undefined]);
  await until("the card", async () => (await cards()).length === 1);
  await cancel(id);
  expect(await cards()).toEqual([]);
});

test("what is begun after a stop in the same conversation goes its way", async () => {
  const id = await mind.attack([() => undefined]);
  await until("the request", () => mind.requests.length > 0);
  await cancel(id);
  await open("again");
  await mind.next(id, [call("again")]);
  await until("the file", () => written("again"));
});
