import { expect, test } from "vitest";
import { Bench, inState, tool } from "../support/bench.ts";
import type { Client } from "../support/client.ts";
import { isAlive, until } from "../support/until.ts";

const AGENT = "test.worker";

/** Its jobs fail until they are allowed to succeed, and note each run of job and task in working memory. */
const PROGRAM = `
import { defineAgent } from "@lares/sdk";
const note = (ctx, text) => ctx.memory.plan.update((plan) => { plan.runs.push(text); return plan; });
const may = async (ctx, what) => (await ctx.memory.plan.read()).may.includes(what);
export default defineAgent({
  memory: { plan: { runs: [], may: [] } },
  jobs: {
    async flaky(input, ctx) {
      await note(ctx, "flaky " + JSON.stringify(ctx.checkpoint ?? null));
      await ctx.save({ half: true });
      if (!(await may(ctx, "flaky"))) throw new Error("no such host");
    },
    async parts({ count }, ctx) {
      await note(ctx, "parts");
      const inputs = Array.from({ length: count }, (_, n) => ({ n }));
      const results = await Promise.all(inputs.map((input) => ctx.task("part", input, { backoff: "50ms" })));
      const again = await ctx.task("part", inputs[0]);
      const failed = await ctx.task("broken", 1, { attempts: 2, backoff: "10ms" }).catch((error) => error.code + ": " + error.message);
      await note(ctx, JSON.stringify({ results, again, failed }));
      if (!(await may(ctx, "parts"))) await new Promise((resolve) => setTimeout(resolve, 600_000));
    },
  },
  tasks: {
    async part({ n }, ctx) {
      await note(ctx, "part " + n);
      const { runs } = await ctx.memory.plan.read();
      if (n === 1 && runs.filter((run) => run === "part 1").length === 1) throw new Error("once");
      return n * 2;
    },
    async broken(_, ctx) { await note(ctx, "broken"); throw new Error("always"); },
  },
  tools: {
    async dispatch({ name, input, key }, ctx) { return await ctx.jobs.dispatch(name, input, { key }); },
    async allow({ what }, ctx) { await ctx.memory.plan.update((plan) => ({ ...plan, may: [...plan.may, what] })); },
    async runs(_, ctx) { return (await ctx.memory.plan.read()).runs; },
    async task(_, ctx) { return await ctx.task?.("part", { n: 0 }) ?? "no task here"; },
  },
});
`;
const anything = { type: "object" };

const create = (): Promise<Bench> =>
  Bench.create({
    lares: { kernel: { linger: "0s" } },
    extensions: [
      {
        id: AGENT,
        program: PROGRAM,
        manifest: {
          permissions: { read_entries: true, dispatch_jobs: true },
          agent: { concurrency: 3 },
          tools: ["dispatch", "allow", "runs", "task"].map((name) => ({
            name,
            description: name,
            handler: name,
            parameters: anything,
          })),
        },
      },
    ],
  });

type Jobs = {
  items: { id: string; state: string; error?: string; failed?: string; name: string }[];
  total: number;
};
const dead = (client: Client): Promise<Jobs> => client.request<Jobs>("lares/jobs/list", { state: "dead" });
const runs = (client: Client): Promise<string[]> => tool<string[]>(client, AGENT, "runs");

test("a job that fails three times is dead, until it is retried from its checkpoint or removed; a restart keeps it", async () => {
  await using bench = await create();
  let job = "";
  {
    await using client = await bench.open();
    await inState(client, AGENT, "Active", "Unloaded");
    job = await tool<string>(client, AGENT, "dispatch", { name: "flaky", input: {}, key: "k" });
    const { items } = await until("the job to be dead", async () => {
      const found = await dead(client);
      return found.total === 1 && found;
    });
    expect(items[0]).toMatchObject({ id: job, state: "Dead", name: "flaky", attempt: 3, checkpoint: true });
    expect(items[0]?.error).toContain("no such host");
    expect(Date.parse(items[0]?.failed ?? "")).toBeGreaterThan(0);
    expect(await runs(client)).toEqual(["flaky null", 'flaky {"half":true}', 'flaky {"half":true}']);
    expect((await client.request<Jobs>("lares/jobs/list")).total).toBe(0);
    await expect(client.request("lares/jobs/cancel", { id: job })).rejects.toMatchObject({
      data: { code: "IllegalTransition" },
    });
    const { pid } = await bench.status(client);
    await bench.kill(pid);
    await until("the kernel to end", () => !isAlive(pid));
  }
  await using client = await bench.open();
  expect((await dead(client)).items).toMatchObject([{ id: job }]);
  await tool(client, AGENT, "allow", { what: "flaky" });
  expect(await client.request("lares/jobs/retry", { id: job })).toMatchObject({ id: job, state: "Waiting" });
  await until("the job to be done", async () => (await runs(client)).length === 4);
  await until("no job", async () => (await client.request<Jobs>("lares/jobs/list")).total === 0);
  expect((await dead(client)).total).toBe(0);
  await expect(client.request("lares/jobs/retry", { id: job })).rejects.toMatchObject({
    data: { code: "NotFound" },
  });
});

test("tasks run once each, are tried again by themselves, and are not run again after kill -9 of the kernel", async () => {
  await using bench = await create();
  let pid = 0;
  let seen: string[] = [];
  {
    await using client = await bench.open();
    await tool<string>(client, AGENT, "dispatch", { name: "parts", input: { count: 6 } });
    seen = await until("all tasks", async () => {
      const now = await runs(client);
      return now.some((run) => run.startsWith("{")) && now;
    });
    expect(JSON.parse(seen.at(-1) ?? "")).toEqual({
      results: [0, 2, 4, 6, 8, 10],
      again: 0,
      failed: "ToolError: The task broken failed 2 times: always",
    });
    expect(seen.filter((run) => run === "part 1")).toHaveLength(2);
    for (const n of [0, 2, 3, 4, 5]) expect(seen.filter((run) => run === `part ${n}`)).toHaveLength(1);
    ({ pid } = await bench.status(client));
    await tool(client, AGENT, "allow", { what: "parts" });
    process.kill(pid, "SIGKILL");
  }
  await until("the kernel to end", () => !isAlive(pid));
  await using client = await bench.open();
  const after = await until("the job to run again", async () => {
    const now = await runs(client);
    return now.filter((run) => run.startsWith("{")).length === 2 && now;
  });
  expect(after.slice(seen.length)).toEqual(["parts", "broken", "broken", seen.at(-1)]);
  await until("no job", async () => (await client.request<Jobs>("lares/jobs/list")).total === 0);
});

test("outside of a job there is no task", async () => {
  await using bench = await create();
  await using client = await bench.open();
  expect(await tool(client, AGENT, "task")).toBe("no task here");
});
