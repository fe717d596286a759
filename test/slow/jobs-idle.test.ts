import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { agent, Bench, inState } from "../support/bench.ts";
import { lares } from "../support/command-line.ts";
import type { Client } from "../support/client.ts";
import {
  control,
  dispatch,
  log,
  openGate,
  provoke,
  textsOf,
  worker,
  wrote,
  type Line,
  type Step,
} from "../support/jobs.ts";
import { until } from "../support/until.ts";

/**
 * Jobs that wait until nothing has happened for about a second, clients that wait for jobs, and a limit for loaded
 * agents.
 */

const ONE = "test.one";
const TWO = "test.two";
/** Well below what "about a second" can mean; a busy machine only makes it longer. */
const quietMs = 700;

describe("a job that waits for a quiet moment", () => {
  let bench: Bench;
  let client: Client;
  beforeAll(async () => {
    bench = await Bench.create({ extensions: [worker({ id: ONE }), worker({ id: TWO })] });
    client = await bench.open();
  });
  afterAll(() => bench[Symbol.asyncDispose]());

  const everything = async (): Promise<Line[]> =>
    [...(await log(client, ONE)), ...(await log(client, TWO))].toSorted((a, b) => a.at - b.at);

  /** Returns for how long nothing had been written when the job began. */
  async function quietBefore(id: string, job: string): Promise<number> {
    const began = await wrote(client, id, job, "begin");
    const before = (await everything())
      .filter(({ at, job: other }) => at <= began.at && other !== job)
      .at(-1);
    if (before === undefined) throw new Error("nothing was written before");
    return began.at - before.at;
  }

  test("begins after another agent's job and events, however long they last", async () => {
    const busy = await dispatch(client, ONE, [["gate", "busy"]]);
    await wrote(client, ONE, busy, "begin");
    const idle = await dispatch(client, TWO, [], { whenIdle: true });
    // A later job that does not wait for quiet precedes it, even if it is less urgent.
    const later = await dispatch(client, TWO, [], { priority: "low" });
    await wrote(client, TWO, later, "end");
    await openGate(bench, "busy");
    await wrote(client, ONE, busy, "end");
    for (let at = 0; at < 8; at++) {
      await wrote(client, ONE, "hook", await provoke(bench, ONE, "seen", `quiet-${at}`));
      // Real time: the next event has to come before the agents have been quiet for long enough.
      await new Promise((resolve) => setTimeout(resolve, quietMs / 4));
    }
    await wrote(client, TWO, idle, "end");
    expect(await quietBefore(TWO, idle)).toBeGreaterThan(quietMs);
  });

  test("those of two agents run one after the other, the more urgent of an agent first", async () => {
    const steps: Step[] = [["sleep", 200]];
    const holding = await dispatch(client, ONE, [["gate", "one-by-one"]]);
    await wrote(client, ONE, holding, "begin");
    const jobs = [
      [ONE, await dispatch(client, ONE, steps, { whenIdle: true, priority: "low" })],
      [TWO, await dispatch(client, TWO, steps, { whenIdle: true })],
      [ONE, await dispatch(client, ONE, steps, { whenIdle: true, priority: "high" })],
    ] as const;
    await openGate(bench, "one-by-one");
    for (const [id, job] of jobs) await wrote(client, id, job, "end");
    const [low, , high] = jobs;
    const ids = jobs.map(([, job]) => job);
    const lines = (await everything()).filter(({ job }) => ids.includes(job));
    expect(lines.map(({ text }) => text)).toEqual(["begin", "end", "begin", "end", "begin", "end"]);
    const begun = lines.filter(({ text }) => text === "begin").map(({ job }) => job);
    expect(begun.indexOf(high[1])).toBeLessThan(begun.indexOf(low[1]));
    for (const [id, job] of jobs) expect(await quietBefore(id, job)).toBeGreaterThan(quietMs);
  });

  const isIdle = async (): Promise<boolean> => (await client.request<{ idle: boolean }>("lares/status")).idle;

  test("lares/status is idle if no job runs and none that may run waits", async () => {
    await until("all to rest", isIdle);
    const running = await dispatch(client, ONE, [["gate", "status"]]);
    expect(await isIdle()).toBe(false);
    await wrote(client, ONE, running, "begin");
    const waiting = await dispatch(client, ONE, [["note", "waited"]]);
    expect(await isIdle()).toBe(false);
    // A job that waits for a person is not activity.
    await control(client, ONE, "suspend");
    await inState(client, ONE, "Suspended");
    await until("nothing to go on", isIdle);
    const idle = await dispatch(client, TWO, [["sleep", 100]], { whenIdle: true });
    expect(await isIdle()).toBe(false);
    await wrote(client, TWO, idle, "end");
    await until("nothing to go on", isIdle);
    await control(client, ONE, "resume");
    await wrote(client, ONE, running, "begin", 2);
    expect(await isIdle()).toBe(false);
    await openGate(bench, "status");
    await wrote(client, ONE, waiting, "end");
    await until("all to rest", isIdle);
  });
});

test("an agent is not unloaded during its job, and is woken for the next; with room for only one agent, both get their turn", async () => {
  await using bench = await Bench.create({
    lares: { limits: { active_agents: 1, idle_unload: "100ms" } },
    extensions: [worker({ id: ONE }), worker({ id: TWO })],
  });
  const client = await bench.open();
  // It gets no request while it waits, for longer than idle agents stay loaded.
  const slow = await dispatch(client, ONE, [
    ["sleep", 700],
    ["dispatch", "steps", [["note", "child"]], { whenIdle: true }],
  ]);
  await provoke(bench, TWO, "start", "job", JSON.stringify([["gate", "slots"]]));
  const { id: child } = (await wrote(client, ONE, slow, "dispatched")) as unknown as { id: string };
  await wrote(client, ONE, slow, "end");
  expect(await textsOf(client, ONE, slow)).toEqual(["begin", "dispatched", "end"]);
  await inState(client, TWO, "Active");
  await inState(client, ONE, "Unloaded");
  await openGate(bench, "slots");
  await inState(client, TWO, "Unloaded");
  // It waited for quiet while the agent was unloaded.
  await wrote(client, ONE, child, "end");
  expect((await agent(client, TWO)).metrics).toMatchObject({ jobs_completed: 1, jobs_failed: 0 });
});

test("lares run --once ends when all jobs have ended, including those that waited for quiet and those that jobs dispatched", async () => {
  const child: Step[] = [["sleep", 300]];
  const steps: Step[] = [
    ["sleep", 300],
    ["dispatch", "steps", child],
  ];
  await using bench = await Bench.create({ extensions: [worker({ id: ONE }), worker({ id: TWO })] });
  await provoke(bench, ONE, "start", "now", JSON.stringify(steps));
  await provoke(bench, TWO, "startIdle", "later", JSON.stringify(steps));
  const printed = await lares(bench, ["run", bench.root, "--once", "--trust"]);
  expect(printed).toMatchObject({ code: 0 });
  const client = await bench.open();
  for (const id of [ONE, TWO]) {
    const texts = (await log(client, id)).map(({ text }) => text);
    expect(texts, id).toEqual(["begin", "dispatched", "end", "begin", "end"]);
    const { jobs_dispatched, jobs_completed } = (await agent(client, id)).metrics;
    expect(jobs_dispatched - jobs_completed).toBe(0);
  }
});
