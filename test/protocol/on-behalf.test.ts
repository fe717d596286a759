import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { call, type HostError, type Outcome, probe } from "../support/agents.ts";
import { approve } from "../support/actions.ts";
import { Bench, tool } from "../support/bench.ts";
import type { Client } from "../support/client.ts";
import type { Action, TraceEntry } from "../support/types.ts";
import { until } from "../support/until.ts";

/** May see everything and do much; does for others what they request. */
const DEPUTY = "test.deputy";
/** May see only `docs`, and call the deputy. */
const SMALL = "test.small";

/** Uses the guest's own wire, for calls that the SDK would not make. */
const DEPUTY_PROGRAM = `
import { defineAgent } from "@lares/sdk";
const guest = globalThis[Symbol.for("lares.guest")];
const outcome = async (act) => {
  try { return { value: await act() }; }
  catch (error) { return { error: { code: error.code, message: String(error.message), data: error.facts ?? error.data ?? null } }; }
};
const held = [];
export default defineAgent({
  memory: { plan: { jobs: [] } },
  tools: {
    read: ({ path }, ctx) => outcome(() => ctx.vdfs.readText(path)),
    list: (_, ctx) => outcome(async () => (await ctx.vdfs.query({})).items.map(({ path }) => path)),
    own: (_, ctx) => outcome(() => ctx.memory.plan.read()),
    raw: ({ method, params }) => outcome(() => guest.call(method, params)),
    claiming: ({ method, params, on_behalf }, ctx) =>
      outcome(() => guest.call(method, { ...params, on_behalf: on_behalf === "own" ? ctx.callId : on_behalf })),
    write: ({ path, content }, ctx) => outcome(() =>
      ctx.actions.propose([{ kind: "file.write", path, content }], { title: "Write", reason: "asked" })),
    back: (_, ctx) => outcome(() => ctx.tools.call("${SMALL}/ctx", { path: ["vdfs", "count"], arguments: [{}] })),
    later: ({ path }, ctx) => outcome(() => ctx.jobs.dispatch("look", { path })),
    hold: () => new Promise((resolve) => held.push(resolve)),
    release: () => { for (const resolve of held.splice(0)) resolve(); },
  },
  jobs: {
    async look({ path }, ctx) {
      const found = await outcome(() => ctx.vdfs.readText(path));
      await ctx.memory.plan.update((plan) => { plan.jobs.push(found); return plan; });
    },
  },
  hooks: {
    /** Reads no message for a while, so that a call may be sent which it does not know of. */
    async busy(_, ctx) {
      ctx.trace.info("busy now");
      await ctx.memory.plan.read();
      for (const end = Date.now() + 1000; Date.now() < end;);
      const found = await outcome(() => ctx.vdfs.readText("private/b.md"));
      await ctx.memory.plan.update((plan) => ({ ...plan, busy: found }));
    },
  },
});
`;

const names = ["read", "list", "own", "raw", "claiming", "write", "back", "later", "hold", "release"];

let bench: Bench;
let client: Client;
beforeAll(async () => {
  bench = await Bench.create({
    files: { "docs/a.md": "open\n", "private/b.md": "secret\n" },
    extensions: [
      {
        id: DEPUTY,
        program: DEPUTY_PROGRAM,
        manifest: {
          permissions: {
            read_entries: true,
            dispatch_jobs: true,
            propose_actions: ["file.write"],
            call_tools: [`${SMALL}/*`],
          },
          hooks: [{ on: "EntryCreated", filter: 'entry.path == "private/busy.txt"', handler: "busy" }],
          tools: names.map((name) => ({
            name,
            description: name,
            handler: name,
            parameters: { type: "object" },
          })),
        },
      },
      probe({
        id: SMALL,
        permissions: {
          read_entries: true,
          propose_actions: ["file.write"],
          call_tools: [`${DEPUTY}/*`],
        },
        grants: { locations: ["docs"] },
      }),
    ],
  });
  client = await bench.open();
});
afterAll(() => bench[Symbol.asyncDispose]());

/** Calls the deputy's tool through the small agent and returns the answer. */
const forSmall = (name: string, args: object = {}): Promise<Outcome> =>
  call<Outcome>(client, SMALL, "tools.call", `${DEPUTY}/${name}`, args);
const codeOf = ({ error }: Outcome): string | undefined => error?.code;

describe("an agent that answers another's call", () => {
  test("may do what both may do: a file that the caller may not read is not read for it", async () => {
    expect(await tool<Outcome>(client, DEPUTY, "read", { path: "private/b.md" })).toEqual({
      value: "secret\n",
    });
    expect(await forSmall("read", { path: "docs/a.md" })).toEqual({ value: "open\n" });
    expect(codeOf(await forSmall("read", { path: "private/b.md" }))).toBe("ScopeViolation");
  });

  test("lists only what both may see", async () => {
    const { value } = await tool<Outcome>(client, DEPUTY, "list");
    expect(value).toEqual(expect.arrayContaining(["docs/a.md", "private/b.md"]));
    const paths = (await forSmall("list")).value as string[];
    expect(paths).toContain("docs/a.md");
    expect(paths.filter((path) => !path.startsWith("docs"))).toEqual([]);
  });

  test("uses its own memory", async () => {
    expect(await forSmall("own")).toHaveProperty("value");
  });

  test("learns no more about the caller's grants than the refusal", async () => {
    const { message } = (await forSmall("read", { path: "private/b.md" })).error as HostError;
    expect(message).toBe(`${DEPUTY} was called by ${SMALL}, which may not do this itself.`);
  });

  test("acts for the open call if it does not name one", async () => {
    const read = { method: "vdfs/read", params: { path: "private/b.md" } };
    expect(await tool<Outcome>(client, DEPUTY, "raw", read)).toHaveProperty("value");
    expect((await forSmall("raw", read)).error).toBeDefined();
    expect((await forSmall("claiming", { ...read, on_behalf: "own" })).error).toBeDefined();
  });

  test("is not restricted by another open call when it acts for a person", async () => {
    const holding = forSmall("hold");
    const read = { path: "private/b.md" };
    await until("the call to be open, and what names none to be bound by it", async () => {
      const raw = { method: "vdfs/read", params: read };
      return (await tool<Outcome>(client, DEPUTY, "raw", raw)).error !== undefined;
    });
    expect(await tool<Outcome>(client, DEPUTY, "read", read)).toEqual({ value: "secret\n" });
    await tool(client, DEPUTY, "release");
    await holding;
  });

  test("is not restricted in an event's handler by a call that it has not read yet", async () => {
    await bench.write("private/busy.txt", "now\n");
    const busy = async (): Promise<unknown> =>
      (await tool<{ value: { busy?: unknown } }>(client, DEPUTY, "own")).value.busy;
    await until("the handler to be busy", async () => {
      const text = { agent: DEPUTY, text: "busy now" };
      return (await client.request<TraceEntry[]>("lares/traces/query", text)).length > 0;
    });
    await forSmall("own");
    expect(await until("the handler to have read", busy)).toEqual({ value: "secret\n" });
  });

  test("cannot name a call that it does not answer", async () => {
    const claim = { method: "vdfs/count", params: {}, on_behalf: "0190-no-such-call" };
    expect(JSON.stringify((await forSmall("claiming", claim)).error)).toContain("answers no such call");
    const wrong = { method: "vdfs/count", params: {}, on_behalf: 7 };
    expect((await forSmall("claiming", wrong)).error).toBeDefined();
  });

  test("keeps the lineage in the job that it dispatched", async () => {
    const before = (await tool<{ value: { jobs: Outcome[] } }>(client, DEPUTY, "own")).value.jobs.length;
    await forSmall("later", { path: "private/b.md" });
    await forSmall("later", { path: "docs/a.md" });
    await tool(client, DEPUTY, "later", { path: "private/b.md" });
    const jobs = await until("three jobs to have looked", async () => {
      const found = (await tool<{ value: { jobs: Outcome[] } }>(client, DEPUTY, "own")).value.jobs;
      return found.length === before + 3 ? found.slice(before) : null;
    });
    expect(jobs.map((job) => job.value ?? codeOf(job))).toEqual(["ScopeViolation", "open\n", "secret\n"]);
  });

  test("is subject to the rules for both: an effect allowed for one needs approval if the other called", async () => {
    const path = "docs/c.md";
    const proposed = (content: string) => tool<{ value: Action }>(client, DEPUTY, "write", { path, content });
    await approve(client, (await proposed("1")).value, { remember: "always" });
    expect((await proposed("2")).value.state).toBe("Committed");
    expect((await forSmall("write", { path, content: "3" })).value).toMatchObject({
      state: "PendingApproval",
    });
    expect(codeOf(await forSmall("write", { path: "private/e.md", content: "4" }))).toBe("ScopeViolation");
  });

  test("has its lineage in the action and in the traces; the agent itself does not see it", async () => {
    const path = "docs/d.md";
    const { id } = (await forSmall("write", { path, content: "5" })).value as Action;
    const shown = await client.request<{ items?: Action[] } & Action[]>("lares/actions/list", {
      agent: DEPUTY,
    });
    const action = (shown.items ?? shown).find((one) => one.id === id) as Action;
    expect(action.on_behalf_of).toEqual([
      { kind: "agent", id: SMALL },
      expect.objectContaining({ kind: "person" }),
    ]);
    expect(action.callers).toEqual([SMALL]);
    const told = await tool<Outcome>(client, DEPUTY, "raw", { method: "actions/get", params: { id } });
    expect(told.value).toMatchObject({ id, title: "Write" });
    expect(told.value).not.toHaveProperty("on_behalf_of");
    expect(told.value).not.toHaveProperty("callers");
    await forSmall("read", { path: "private/b.md" });
    const traces = await client.request<TraceEntry[]>("lares/traces/query", {
      agent: DEPUTY,
      text: "refused",
    });
    expect(traces[0]?.on_behalf_of?.[0]).toEqual({ kind: "agent", id: SMALL });
  });

  test("cannot call an agent that waits for it", async () => {
    const { error } = await forSmall("back");
    expect(error).toMatchObject({ code: "LimitExceeded", data: { limit: "tool_call_cycle" } });
    expect(await tool<Outcome>(client, DEPUTY, "back")).toHaveProperty("value");
  });
});
