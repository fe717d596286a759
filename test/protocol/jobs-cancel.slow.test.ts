import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { agent, Bench, inState, tool } from "../support/bench.ts";
import type { Client } from "../support/client.ts";
import { cancelJob, listedAs, listJobs, notListed } from "../support/job-list.ts";
import {
  control,
  dispatch,
  openGate,
  provoke,
  textsOf,
  traces,
  tryDispatch,
  worker,
  wrote,
} from "../support/jobs.ts";
import { CODES, type AgentMetrics } from "../support/types.ts";
import { until } from "../support/until.ts";

interface Progress {
  readonly token: string;
  readonly value: { readonly kind: string; readonly cancellable?: boolean; readonly message?: string };
}

const ONE = "test.one";
const TWO = "test.two";
const DEAF = "test.deaf";
const PROGRESS = { window: { workDoneProgress: true } };

let bench: Bench;
let client: Client;
let other: Client;
beforeAll(async () => {
  bench = await Bench.create({
    extensions: [ONE, TWO, DEAF].map((id) => worker({ id, resources: { max_cpu_ms_per_event: 30_000 } })),
  });
  client = await bench.open({ capabilities: PROGRESS });
  other = await bench.open({ capabilities: PROGRESS });
});
afterAll(() => bench[Symbol.asyncDispose]());

const metrics = async (id: string): Promise<AgentMetrics> => (await agent(client, id)).metrics;
const waitsFor = (name: string) => ["gate or signal", name, "return"] as const;

describe("the list", () => {
  test("has the running job and the waiting ones, in order, with their facts", async () => {
    const running = await dispatch(client, ONE, [
      ["save"],
      ["progress", 0.25, "a quarter"],
      ["gate", "listed"],
    ]);
    await listedAs(client, running, ({ progress, checkpoint }) => progress !== undefined && checkpoint);
    const low = await dispatch(client, ONE, [], { priority: "low", key: "a key" });
    const idle = await dispatch(client, ONE, [], { whenIdle: true });
    const high = await dispatch(client, ONE, [], { priority: "high" });
    const elsewhere = await dispatch(client, TWO, [["gate", "listed"]]);
    await listedAs(client, elsewhere, ({ state }) => state === "Running");

    const { items, total } = await listJobs(client, { agent: ONE });
    expect(items.map(({ id, state }) => [id, state])).toEqual([
      [running, "Running"],
      [high, "Waiting"],
      [idle, "Waiting"],
      [low, "Waiting"],
    ]);
    expect(total).toBe(4);
    const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/);
    const common = { agent: ONE, name: "steps", dispatched: time, attempt: 1, checkpoint: false };
    expect(items[0]).toEqual({
      ...common,
      id: running,
      state: "Running",
      priority: "normal",
      when_idle: false,
      progress: { fraction: 0.25, message: "a quarter" },
      checkpoint: true,
    });
    expect(items[2]).toMatchObject({ ...common, when_idle: true });
    expect(items[3]).toMatchObject({ ...common, priority: "low", key: "a key" });

    const all = await listJobs(client);
    expect(
      all.items
        .slice(0, 2)
        .map(({ id }) => id)
        .toSorted(),
    ).toEqual([running, elsewhere].toSorted());
    expect(all.total).toBe(5);
    expect(await listJobs(client, { limit: 2 })).toEqual({ items: all.items.slice(0, 2), total: 5 });
    expect(await listJobs(client, { agent: "test.absent" })).toEqual({ items: [], total: 0 });
    await openGate(bench, "listed");
    for (const job of [running, low, idle, high, elsewhere]) await notListed(client, job);
  });

  test.each([{ limit: 0 }, { limit: 1001 }, { limit: "1" }, { agent: "" }, { agent: 7 }])(
    "%j is InvalidParams",
    async (params) => {
      expect(await client.raw("lares/jobs/list", params)).toMatchObject({ error: { code: -32602 } });
    },
  );

  test("of an agent that floods it is bounded, has the total, and each job can be cancelled", async () => {
    const hostile = '\u001b]0;\u0007\u202e$(trash)"<b>\n'.repeat(10);
    const holds = await dispatch(client, TWO, [
      ["progress", 0.5, hostile.repeat(4)],
      ["gate", "flooded"],
    ]);
    const { id: odd = "" } = await tryDispatch(client, TWO, "nothing", null, {
      key: hostile,
      priority: "high",
    });
    await listedAs(client, holds, ({ progress }) => progress !== undefined);
    const { accepted } = await tool<{ accepted: number }>(client, TWO, "dispatchMany", {
      name: "nothing",
      input: null,
      count: 1200,
    });
    expect(accepted).toBe(1200);
    expect((await listJobs(client, { agent: TWO })).items).toHaveLength(100);
    const { items, total } = await listJobs(client, { agent: TWO, limit: 1000 });
    expect([items.length, total]).toEqual([1000, 1202]);
    // Passed on unchanged: clients that show it make it plain.
    expect(items[0]).toMatchObject({ id: holds, progress: { message: hostile.repeat(4) } });
    expect(items[1]).toMatchObject({ id: odd, key: hostile });
    await Promise.all(items.slice(1).map(({ id }) => cancelJob(client, id)));
    expect((await listJobs(client, { agent: TWO })).total).toBe(203);
    await openGate(bench, "flooded");
    await until("all to have ended", async () => (await listJobs(client)).total === 0);
  });

  test("reports changes to every client, at most once a second for each agent", async () => {
    const told = (of: Client): number =>
      of.notifications<{ agent: string }>("lares/jobs/changed").filter((one) => one.agent === TWO).length;
    const before = [told(client), told(other)];
    const begun = performance.now();
    const job = await dispatch(client, TWO, [
      ["progress often", 2000],
      ["sleep", 1500],
    ]);
    await wrote(client, TWO, job, "end");
    await notListed(client, job);
    const seconds = (performance.now() - begun) / 1000;
    await until(
      "both to be told of its end",
      () => told(client) > (before[0] ?? 0) && told(other) > (before[1] ?? 0),
    );
    expect(told(client) - (before[0] ?? 0)).toBeLessThanOrEqual(seconds + 2);
  });
});

describe("cancelling", () => {
  test("a waiting job never runs, its key is free, it is counted separately, and has a trace", async () => {
    const before = await metrics(ONE);
    const holds = await dispatch(client, ONE, [["gate", "waits"]]);
    await wrote(client, ONE, holds, "begin");
    const job = await dispatch(client, ONE, [["note", "never"]], { key: "again" });
    expect(await cancelJob(client, job)).toMatchObject({
      id: job,
      agent: ONE,
      state: "Cancelled",
      key: "again",
    });
    expect((await listJobs(client, { agent: ONE })).items.map(({ id }) => id)).toEqual([holds]);
    const next = await dispatch(client, ONE, [["note", "next"]], { key: "again" });
    expect(next).not.toBe(job);
    await openGate(bench, "waits");
    await wrote(client, ONE, next, "end");
    expect(await textsOf(client, ONE, job)).toEqual([]);
    await until(
      "both to be counted",
      async () => (await metrics(ONE)).jobs_completed === before.jobs_completed + 2,
    );
    expect(await metrics(ONE)).toMatchObject({
      jobs_dispatched: before.jobs_dispatched + 3,
      jobs_failed: before.jobs_failed,
      jobs_cancelled: (before.jobs_cancelled ?? 0) + 1,
    });
    const trace = (await traces(client, ONE, "info")).find(({ message }) =>
      /cancelled by a person/.test(message),
    );
    expect(trace).toMatchObject({ message: "the job steps was cancelled by a person", fields: { job } });
  });

  test.each(["return", "throw"] as const)(
    "a running job that obeys its signal with a %s: its guest and its memory stay, and the next job runs",
    async (way) => {
      const { wakeups } = await metrics(ONE);
      const job = await dispatch(client, ONE, [["save"], ["gate or signal", "never opened", way]]);
      await listedAs(client, job, ({ checkpoint }) => checkpoint);
      const behind = await dispatch(client, ONE, [["note", "behind"]]);
      expect(await cancelJob(client, job, { agent: ONE })).toMatchObject({
        state: "Cancelling",
        checkpoint: true,
      });
      await wrote(client, ONE, behind, "end");
      await notListed(client, job);
      expect(await textsOf(client, ONE, job)).toEqual(["begin"]);
      expect((await metrics(ONE)).wakeups).toBe(wakeups);
    },
  );

  test.each([
    ["waits for something else", ["gate", "never opened"]],
    ["computes for ever", ["spin for ever"]],
  ] as const)(
    "one that runs and %s: its guest is ended, its memory kept, and an event in hand is handled once more",
    async (what, step) => {
      const job = await dispatch(client, DEAF, [["note", what], step]);
      await wrote(client, DEAF, job, what);
      const before = await metrics(DEAF);
      const event = await provoke(bench, DEAF, "seen", what.replaceAll(" ", "-"));
      const behind = await dispatch(other, ONE, []).then(() => cancelJob(client, job));
      expect(behind).toMatchObject({ state: "Cancelling" });
      await notListed(client, job);
      await wrote(client, DEAF, "hook", event);
      const next = await dispatch(client, DEAF, [["note", "next"]]);
      await wrote(client, DEAF, next, "end");
      const now = await metrics(DEAF);
      expect(now).toMatchObject({
        jobs_failed: before.jobs_failed,
        jobs_cancelled: (before.jobs_cancelled ?? 0) + 1,
        wakeups: before.wakeups + 1,
      });
      // Its earlier memory is kept, and the loss did not count as a failure.
      expect(await textsOf(client, DEAF, job)).toEqual(["begin", what]);
      expect((await agent(client, DEAF)).error).toBeUndefined();
    },
  );

  test("a job of a suspended agent does not run when the agent is resumed", async () => {
    const job = await dispatch(client, TWO, [["save"], waitsFor("never opened")]);
    await listedAs(client, job, ({ checkpoint }) => checkpoint);
    await control(client, TWO, "suspend");
    await inState(client, TWO, "Suspended");
    await listedAs(client, job, ({ state }) => state === "Waiting");
    expect(await cancelJob(client, job)).toMatchObject({ state: "Cancelled" });
    await control(client, TWO, "resume");
    const next = await dispatch(client, TWO, []);
    await wrote(client, TWO, next, "end");
    expect(await textsOf(client, TWO, job)).toEqual(["begin"]);
  });

  test("an unknown job is NotFound, an ended one IllegalTransition with its state, in both clients", async () => {
    const done = await dispatch(client, ONE, []);
    await wrote(client, ONE, done, "end");
    await notListed(client, done);
    const failed = await dispatch(client, ONE, [["throw", "as it should"]]);
    await notListed(client, failed);
    const holds = await dispatch(client, ONE, [waitsFor("never opened")]);
    await wrote(client, ONE, holds, "begin");
    const both = await Promise.all([client, other].map((one) => one.raw("lares/jobs/cancel", { id: holds })));
    expect(both.filter(({ error }) => error === undefined)).toHaveLength(1);
    await notListed(client, holds);
    for (const [id, state] of [
      [done, "Completed"],
      [failed, "Failed"],
      [holds, "Cancelled"],
    ])
      expect(await other.raw("lares/jobs/cancel", { id })).toMatchObject({
        error: { code: CODES.IllegalTransition, data: { code: "IllegalTransition", state } },
      });
    const waiting = await dispatch(client, TWO, [waitsFor("never opened")]);
    for (const params of [{ id: "absent" }, { id: "__proto__" }, { id: waiting, agent: ONE }])
      expect(await client.raw("lares/jobs/cancel", params)).toMatchObject({
        error: { code: CODES.NotFound, data: { code: "NotFound" } },
      });
    await cancelJob(client, waiting, { agent: TWO });
    for (const params of [{}, { id: "" }, { id: 7 }, { id: "x".repeat(257) }, { id: "x", agent: 7 }])
      expect(await client.raw("lares/jobs/cancel", params)).toMatchObject({ error: { code: -32602 } });
  });
});

describe("progress", () => {
  const all = (of: Client): Progress[] => of.notifications<Progress>("$/progress");
  const begun = (of: Client, message: string): Promise<string> =>
    until(`progress of ${message}`, () => all(of).find(({ value }) => value.message === message)?.token);
  const end = (of: Client, token: string): Promise<Progress> =>
    until(`the end of ${token}`, () =>
      all(of).find((one) => one.token === token && one.value.kind === "end"),
    );
  const cancel = (of: Client, params: unknown): void => of.notify("window/workDoneProgress/cancel", params);

  test("of a job is cancellable, of indexing it is not; cancelled in one client it ends in both", async () => {
    const job = await dispatch(client, ONE, [["progress", 0.5, "to be cancelled"], waitsFor("never opened")]);
    const [here, there] = [await begun(client, "to be cancelled"), await begun(other, "to be cancelled")];
    for (const [of, token] of [
      [client, here],
      [other, there],
    ] as const)
      expect(all(of).find((one) => one.token === token)?.value).toMatchObject({
        kind: "begin",
        cancellable: true,
      });
    cancel(other, { token: there });
    expect((await end(client, here)).value.message).toBe("cancelled");
    expect((await end(other, there)).value.message).toBe("cancelled");
    await notListed(client, job);
    const indexing = all(client).filter(({ value }) => value.kind === "begin" && value.cancellable !== true);
    for (const { value } of indexing) expect(value.cancellable).toBe(false);
    expect(indexing.length).toBeGreaterThan(0);
  });

  test("a token of another client, an ended one, one without a job, and an invalid one are ignored", async () => {
    const job = await dispatch(client, ONE, [
      ["progress", 0.5, "goes on"],
      ["gate", "goes on"],
    ]);
    const [here, there] = [await begun(client, "goes on"), await begun(other, "goes on")];
    expect(here).not.toBe(there);
    const ended = all(client).filter(({ value }) => value.kind === "end");
    cancel(client, { token: there });
    for (const { token } of ended) cancel(client, { token });
    for (const params of [
      null,
      [],
      7,
      {},
      { token: null },
      { token: 7 },
      { token: {} },
      { token: "__proto__" },
    ])
      cancel(client, params);
    cancel(client, { token: job });
    await bench.status(client);
    expect((await listJobs(client, { agent: ONE })).items).toMatchObject([{ id: job, state: "Running" }]);
    await openGate(bench, "goes on");
    await wrote(client, ONE, job, "end");
    expect((await end(client, here)).value.message).toBe("done");
    // Too late.
    cancel(client, { token: here });
    await bench.status(client);
  });

  test("two clients cancel a job many times at once: it is cancelled once", async () => {
    const before = (await metrics(ONE)).jobs_cancelled ?? 0;
    await dispatch(client, ONE, [["progress", 0.5, "both"], waitsFor("never opened")]);
    const [here, there] = [await begun(client, "both"), await begun(other, "both")];
    for (let n = 0; n < 100; n++) {
      cancel(client, { token: here });
      cancel(other, { token: there });
    }
    await end(client, here);
    await end(other, there);
    expect((await metrics(ONE)).jobs_cancelled).toBe(before + 1);
  });

  test("an untrusted connection sees no job and cancels none, even with a known id", async () => {
    const third = await bench.connect({ trusted: false, capabilities: PROGRESS });
    const job = await dispatch(client, TWO, [["progress", 0.5, "not theirs"], waitsFor("never opened")]);
    const token = await begun(client, "not theirs");
    cancel(third, { token });
    cancel(third, { token: job });
    for (const [method, params] of [
      ["lares/jobs/cancel", { id: job }],
      ["lares/jobs/list", {}],
    ] as const)
      expect(await third.raw(method, params)).toMatchObject({ error: { code: CODES.Untrusted } });
    expect((await listJobs(client, { agent: TWO })).items).toMatchObject([{ id: job, state: "Running" }]);
    await cancelJob(client, job);
    await notListed(client, job);
    expect([...third.notifications("lares/jobs/changed"), ...all(third)]).toEqual([]);
    await third.shutdown();
  });
});
