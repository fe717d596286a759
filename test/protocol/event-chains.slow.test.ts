import { afterAll, beforeAll, expect, test } from "vitest";
import { type Outcome } from "../support/agents.ts";
import { approve } from "../support/actions.ts";
import { agent, Bench, type ExtensionSpec, tool } from "../support/bench.ts";
import type { Client } from "../support/client.ts";
import type { Action, TraceEntry } from "../support/types.ts";
import { until } from "../support/until.ts";

/** May see and write in `docs` alone, and call the speaker. */
const SMALL = "test.small";
/** Emits what it is asked to, and for every new file in `inbox`. */
const SPEAKER = "test.speaker";
/** Does what the speaker's events want; may see and write everything. */
const DOER = "test.doer";
const [PING, PONG] = ["test.ping", "test.pong"];

const wanted = { type: "object", properties: { read: { type: "string" }, write: { type: "string" } } };
const asTool = (name: string) => ({ name, description: name, handler: name, parameters: { type: "object" } });

const SMALL_PROGRAM = `
import { defineAgent } from "@lares/sdk";
export default defineAgent({ tools: { ask: (data, ctx) => ctx.tools.call("${SPEAKER}/say", data) } });
`;

const SPEAKER_PROGRAM = `
import { defineAgent } from "@lares/sdk";
export default defineAgent({
  hooks: { async seen({ entry }, ctx) { await ctx.events.emit("Wanted", { read: entry.path, write: "docs/of-a-file.md" }); } },
  tools: { async say(data, ctx) { await ctx.events.emit("Wanted", data); return 1; } },
});
`;

const DOER_PROGRAM = `
import { defineAgent } from "@lares/sdk";
const outcome = async (act) => {
  try { return { value: await act() }; } catch (error) { return { error: { code: error.code, message: String(error.message) } }; }
};
const act = async ({ read, write }, ctx) => ({
  read: await outcome(() => ctx.vdfs.readText(read)),
  write: await outcome(() => ctx.actions.propose([{ kind: "file.write", path: write, content: "n" }], { title: "Write", reason: "wanted" })),
});
export default defineAgent({
  memory: { plan: { done: [] } },
  hooks: {
    async wanted(event, ctx) {
      const done = await act(event, ctx);
      const later = await ctx.jobs.dispatch("later", { read: event.read, write: event.write });
      await ctx.memory.plan.update((plan) => { plan.done.push({ ...done, later }); return plan; });
    },
  },
  jobs: {
    async later(input, ctx) {
      const done = await act(input, ctx);
      await ctx.memory.plan.update((plan) => { plan.done.push({ ...done, isJob: true }); return plan; });
    },
  },
  tools: { done: async (_, ctx) => (await ctx.memory.plan.read()).done },
});
`;

/** Answers the other one's event with its own, without end. */
const storm = (id: string, other: string): ExtensionSpec => ({
  id,
  program: `
import { defineAgent } from "@lares/sdk";
export default defineAgent({
  memory: { plan: { heard: 0, refusals: [] } },
  hooks: {
    async heard(_, ctx) {
      await ctx.memory.plan.update((plan) => { plan.heard += 1; return plan; });
      try { await ctx.events.emit("Said", {}); }
      catch (error) { await ctx.memory.plan.update((plan) => { plan.refusals.push([error.code, error.facts.limit]); return plan; }); }
    },
    async seen(_, ctx) { await ctx.events.emit("Said", {}); },
  },
  tools: { state: (_, ctx) => ctx.memory.plan.read() },
});`,
  manifest: {
    permissions: { read_entries: true, emit_events: ["Said"], hear_events: [`${other}/Said`] },
    hooks: [
      { on: `${other}/Said`, handler: "heard" },
      ...(id === PING ? [{ on: "EntryCreated", filter: 'entry.name == "storm.txt"', handler: "seen" }] : []),
    ],
    tools: [asTool("state")],
  },
});

let bench: Bench;
let client: Client;
beforeAll(async () => {
  bench = await Bench.create({
    files: { "docs/a.md": "open\n", "private/b.md": "secret\n" },
    extensions: [
      {
        id: SMALL,
        program: SMALL_PROGRAM,
        manifest: {
          permissions: { read_entries: true, propose_actions: ["file.write"], call_tools: [`${SPEAKER}/*`] },
          tools: [asTool("ask")],
        },
        grants: { locations: ["docs"] },
      },
      {
        id: SPEAKER,
        program: SPEAKER_PROGRAM,
        manifest: {
          permissions: { read_entries: true, propose_actions: ["file.write"], emit_events: ["Wanted"] },
          hooks: [{ on: "EntryCreated", filter: 'entry.path.startsWith("inbox/")', handler: "seen" }],
          tools: [asTool("say")],
          events: [{ name: "Wanted", version: 1, schema: wanted }],
        },
      },
      {
        id: DOER,
        program: DOER_PROGRAM,
        manifest: {
          permissions: {
            read_entries: true,
            dispatch_jobs: true,
            propose_actions: ["file.write"],
            hear_events: [`${SPEAKER}/*`],
          },
          hooks: [{ on: `${SPEAKER}/Wanted`, handler: "wanted" }],
          tools: [asTool("done")],
        },
      },
      storm(PING, PONG),
      storm(PONG, PING),
    ],
  });
  client = await bench.open();
});
afterAll(() => bench[Symbol.asyncDispose]());

interface Done {
  readonly read: Outcome;
  readonly write: Outcome;
  readonly isJob?: true;
}

/** Returns what the doer did for one event: its handler, and the job that this dispatched. */
async function doing(begin: () => Promise<unknown>): Promise<{ handler: Done; job: Done }> {
  const before = (await tool<Done[]>(client, DOER, "done")).length;
  await begin();
  const done = await until("the doer's handler and its job to end", async () => {
    const all = (await tool<Done[]>(client, DOER, "done")).slice(before);
    return all.length >= 2 && all;
  });
  const of = (isJob: boolean): Done => done.find((one) => (one.isJob ?? false) === isJob) as Done;
  return { handler: of(false), job: of(true) };
}
const bySmall = (data: object) => () => tool(client, SMALL, "ask", data);
const actionOf = async ({ write }: Done): Promise<Action> => {
  expect(write.error).toBeUndefined();
  const { id } = write.value as Action;
  const all = await client.request<Action[]>("lares/actions/list", { agent: DOER });
  return all.find((one) => one.id === id) as Action;
};

test("an action for an event that was emitted under a call names everybody who led to it", async () => {
  const { handler, job } = await doing(bySmall({ read: "docs/a.md", write: "docs/new.md" }));
  for (const done of [handler, job]) {
    const action = await actionOf(done);
    expect(action.callers).toEqual([SMALL, SPEAKER]);
    // A call of the test's own may be open meanwhile, by the same person.
    expect(action.on_behalf_of).toEqual(
      expect.arrayContaining([
        { kind: "agent", id: SPEAKER },
        { kind: "agent", id: SMALL },
        expect.objectContaining({ kind: "person" }),
      ]),
    );
  }
});

test("by an event nobody reaches what they may not do themselves", async () => {
  const { handler, job } = await doing(bySmall({ read: "private/b.md", write: "private/new.md" }));
  for (const { read, write } of [handler, job])
    expect([read.error?.code, write.error?.code]).toEqual(["ScopeViolation", "ScopeViolation"]);
});

test("an event that an agent emits of its own accord, or for a person, binds its receivers by nobody", async () => {
  const data = { read: "private/b.md", write: "private/for-a-person.md" };
  const asked = await doing(() => tool(client, SPEAKER, "say", data));
  expect(asked.handler.read).toEqual({ value: "secret\n" });
  const action = await actionOf(asked.handler);
  expect([action.callers, action.on_behalf_of]).toEqual([[], [expect.objectContaining({ kind: "person" })]]);
  const seen = await doing(() => bench.write("inbox/new.txt", "x"));
  const own = await actionOf(seen.handler);
  expect(own.callers).toEqual([]);
});

test("an answer that is remembered for the receiver does not count for those who led to its event", async () => {
  const path = "docs/remembered.md";
  const asked = await doing(() => tool(client, SPEAKER, "say", { read: "docs/a.md", write: path }));
  // The job's proposal of the same content is the newer one.
  await approve(client, await actionOf(asked.job), { remember: "always" });
  const again = await doing(bySmall({ read: "docs/a.md", write: path }));
  expect((await actionOf(again.job)).state).toBe("PendingApproval");
});

test("an event storm between two agents ends after eight steps, with a trace", async () => {
  await bench.write("storm.txt", "x");
  interface State {
    heard: number;
    refusals: unknown[];
  }
  const states = () => Promise.all([PING, PONG].map((id) => tool<State>(client, id, "state")));
  // The handler that is refused may have noted it before the one that emitted the last event has ended.
  const ended = await until("the storm to end", async () => {
    const now = await states();
    return now.some(({ refusals }) => refusals.length > 0) && now.every(({ heard }) => heard >= 4) && now;
  });
  expect(ended.map(({ heard }) => heard)).toEqual([4, 4]);
  expect(ended.flatMap(({ refusals }) => refusals)).toEqual([["LimitExceeded", "event_depth"]]);
  const traces = await client.request<TraceEntry[]>("lares/traces/query", {
    agent: PING,
    text: "was dropped",
  });
  expect(traces.map(({ level, message }) => [level, message])).toEqual([
    ["warn", `refused: the event ${PING}/Said was dropped: 8 calls and events led to it, which is the limit`],
  ]);
  expect(await states()).toEqual(ended);
  expect((await agent(client, PING)).state).not.toBe("Suspended");
});
