import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Bench, inState, tool } from "../support/bench.ts";
import type { Client } from "../support/client.ts";
import { frame } from "../support/frames.ts";
import { cancelJob } from "../support/job-list.ts";
import type { ToolResult } from "../support/types.ts";
import { until } from "../support/until.ts";

/** Calls the tools of the worker. */
const CALLER = "test.caller";
const WORKER = "test.worker";

/** Its `hold` ends when its signal is aborted, and records this with the results of its host calls. */
const WORKER_PROGRAM = `
import { defineAgent } from "@lares/sdk";
const log = [];
const told = Promise.withResolvers();
const outcome = (act) => act().then(() => "done", (error) => error.code);
export default defineAgent({
  memory: { plan: {} },
  tools: {
    async hold({ name }, ctx) {
      log.push(name + " began");
      await new Promise((resolve) => ctx.signal.addEventListener("abort", resolve));
      const query = await outcome(() => ctx.vdfs.query({}));
      const write = await outcome(() => ctx.memory.plan.update((plan) => plan));
      log.push(name + " left: " + query + ", " + write);
      return name;
    },
    async deaf({ name }) { log.push(name + " began"); await told.promise; log.push(name + " ended"); return name; },
    tell: () => told.resolve(),
    log: () => log,
    async steps(_, ctx) {
      await ctx.progress(0.25, "a quarter");
      await new Promise((resolve) => setTimeout(resolve, 150));
      await ctx.progress(1);
      return "stepped";
    },
  },
});
`;
const CALLER_PROGRAM = `
import { defineAgent } from "@lares/sdk";
export default defineAgent({
  tools: {
    ask: ({ name }, ctx) => ctx.tools.call("${WORKER}/hold", { name }),
    // Cancels its call once its worker has begun.
    async giveUp({ name }, ctx) {
      const aborter = new AbortController();
      const asked = ctx.tools.call("${WORKER}/hold", { name }, { signal: aborter.signal }).catch((error) => error.code);
      while (!(await ctx.tools.call("${WORKER}/log")).includes(name + " began"));
      aborter.abort();
      return [await asked, await ctx.vdfs.count({})];
    },
    later: ({ name }, ctx) => ctx.jobs.dispatch("ask", { name }),
    // Computes until its guest is ended for it.
    die: async ({ name }, ctx) => { void ctx.tools.call("${WORKER}/hold", { name }); await ctx.vdfs.count({}); },
    spin: () => { for (;;); },
  },
  jobs: { ask: ({ name }, ctx) => ctx.tools.call("${WORKER}/hold", { name }) },
});
`;

const toolsOf = (...names: string[]) =>
  names.map((name) => ({ name, description: name, handler: name, parameters: { type: "object" } }));

let bench: Bench;
let client: Client;
beforeAll(async () => {
  bench = await Bench.create({
    files: { "a.txt": "a\n" },
    extensions: [
      {
        id: WORKER,
        program: WORKER_PROGRAM,
        manifest: {
          permissions: { read_entries: true },
          tools: toolsOf("hold", "deaf", "tell", "log", "steps"),
        },
      },
      {
        id: CALLER,
        program: CALLER_PROGRAM,
        manifest: {
          permissions: { read_entries: true, dispatch_jobs: true, call_tools: [`${WORKER}/*`] },
          resources: { max_cpu_ms_per_event: 300 },
          tools: toolsOf("ask", "giveUp", "later", "die", "spin"),
        },
      },
    ],
  });
  client = await bench.open();
});
afterAll(() => bench[Symbol.asyncDispose]());

const logged = (line: string) =>
  until(`the worker to say "${line}"`, async () =>
    (await tool<string[]>(client, WORKER, "log")).includes(line),
  );

/** Calls a tool by a request that can be cancelled. */
function begin(agent: string, name: string, args: object, more: object = {}) {
  const id = `${name} ${JSON.stringify(args)}`;
  const params = { agent, name, arguments: args, ...more };
  const answer = client.answerTo(id, "lares/tools/call", () =>
    client.write(frame({ jsonrpc: "2.0", id, method: "lares/tools/call", params })),
  );
  return { answer, cancel: () => client.notify("$/cancelRequest", { id }) };
}

describe("a call that is cancelled", () => {
  test("aborts its handler's signal, refuses further reads for it, and lets it write", async () => {
    const { answer, cancel } = begin(WORKER, "hold", { name: "one" });
    await logged("one began");
    cancel();
    expect(await answer).toMatchObject({ error: { code: -32800 } });
    await logged("one left: RequestCancelled, done");
  });

  test("cancels the call of another agent's tool that it caused", async () => {
    const { answer, cancel } = begin(CALLER, "ask", { name: "two" });
    await logged("two began");
    cancel();
    expect(await answer).toMatchObject({ error: { code: -32800 } });
    await logged("two left: RequestCancelled, done");
    await inState(client, CALLER, "Active");
  });

  test("by the agent that made it ends, aborts the other agent's handler, and the caller continues", async () => {
    expect(await tool(client, CALLER, "giveUp", { name: "own" })).toEqual([
      "RequestCancelled",
      expect.any(Number),
    ]);
    await logged("own left: RequestCancelled, done");
  });

  test("continues if its handler ignores the signal", async () => {
    const { answer, cancel } = begin(WORKER, "deaf", { name: "three" });
    await logged("three began");
    cancel();
    expect(await answer).toMatchObject({ error: { code: -32800 } });
    await tool(client, WORKER, "tell");
    await logged("three ended");
  });

  test("terminal state: a call with a key has the outcome of its handler", async () => {
    const { answer, cancel } = begin(WORKER, "hold", { name: "four" }, { key: "four" });
    await logged("four began");
    cancel();
    expect(await answer).toMatchObject({ error: { code: -32800 } });
    const again = { agent: WORKER, name: "hold", arguments: { name: "four" }, key: "four" };
    expect(await client.request<ToolResult>("lares/tools/call", again)).toEqual({
      status: "success",
      value: "four",
    });
    const log = await tool<string[]>(client, WORKER, "log");
    expect(log.filter((line) => line === "four began")).toHaveLength(1);
  });
});

describe("a call whose caller is gone", () => {
  test("terminal state: a job that a person cancels cancels the calls that it waits for", async () => {
    const job = await tool<string>(client, CALLER, "later", { name: "five" });
    await logged("five began");
    await cancelJob(client, job);
    await logged("five left: RequestCancelled, done");
  });

  test("terminal state: a guest that is ended cancels the calls that it waits for", async () => {
    await tool(client, CALLER, "die", { name: "six" });
    await logged("six began");
    await client.raw("lares/tools/call", { agent: CALLER, name: "spin", arguments: {} });
    await logged("six left: RequestCancelled, done");
  });
});

describe("the progress of a call", () => {
  test("is reported under the caller's token, and its end after the last step", async () => {
    const seen: unknown[] = [];
    const call = { agent: WORKER, name: "steps", arguments: {} };
    const since = client.notifications("$/progress").length;
    await client.request("lares/tools/call", { ...call, workDoneToken: "steps-1" });
    await client.request("lares/tools/call", call);
    for (const { token, value } of client
      .notifications<{ token: unknown; value: unknown }>("$/progress")
      .slice(since))
      if (token === "steps-1") seen.push(value);
    expect(seen).toEqual([
      { kind: "begin", title: `${WORKER}/steps`, cancellable: true },
      { kind: "report", percentage: 25, message: "a quarter" },
      { kind: "report", percentage: 100 },
      { kind: "end" },
    ]);
  });
});
