import { expect, test } from "vitest";
import { failpointMarkVariable, failpointVariable } from "../../kernel/src/platform/failpoint.ts";
import { join } from "node:path";
import { Bench } from "../support/bench.ts";
import { cancelJob, listedAs, listJobs, notListed } from "../support/job-list.ts";
import { dispatch, log, openGate, textsOf, tryDispatch, worker, wrote } from "../support/jobs.ts";
import { isAlive, until } from "../support/until.ts";
import { sandboxHostOf } from "./support/processes.ts";

/** A person cancels jobs of a kernel that dies. */

const ONE = "test.one";
const TWO = "test.two";

const setUp = (): Promise<Bench> =>
  Bench.create({
    lares: { kernel: { linger: "0s" } },
    extensions: [worker({ id: ONE }), worker({ id: TWO })],
  });

test("kill -9 right after the answers: cancelled jobs are not run again, and their keys are free", async () => {
  await using bench = await setUp();
  const first = await bench.open();
  const running = await dispatch(first, ONE, [["save"], ["gate", "never opened"]], { key: "running" });
  await listedAs(first, running, ({ checkpoint }) => checkpoint);
  const waiting = await dispatch(first, ONE, [["note", "never"]], { key: "waiting" });
  const idle = await dispatch(first, ONE, [["note", "never"]], { whenIdle: true });
  const stays = await dispatch(first, ONE, [["note", "stays"]]);
  const { pid } = await bench.status(first);
  const answers = await Promise.all([running, waiting, idle].map((id) => cancelJob(first, id)));
  process.kill(pid, "SIGKILL");
  // The guest had not ended the running one.
  expect(answers.map(({ state }) => state)).toEqual(["Cancelling", "Cancelled", "Cancelled"]);
  await first[Symbol.asyncDispose]();
  await until("the kernel to end", () => !isAlive(pid));

  const second = await bench.open();
  await wrote(second, ONE, stays, "end");
  for (const key of ["running", "waiting"]) {
    const next = await dispatch(second, ONE, [["note", "next"]], { key });
    expect([running, waiting]).not.toContain(next);
    await wrote(second, ONE, next, "end");
  }
  expect((await log(second, ONE)).filter(({ text }) => text === "never")).toEqual([]);
  expect(await textsOf(second, ONE, running)).toEqual(["begin"]);
  await until("nothing to be left", async () => (await listJobs(second)).total === 0);
});

test.each([
  // An answered cancellation must be kept; before the answer, both outcomes are correct.
  ["jobs.cancel.begun", true],
  ["jobs.cancel.committed", false],
] as const)(
  "dying at %s, before the answer: the client is told that it is not known, the list knows it, and it is tried again",
  async (point, isStillThere) => {
    await using bench = await setUp();
    const environment = {
      [failpointVariable]: point,
      [failpointMarkVariable]: join(bench.base, "deaths"),
    };
    const client = await bench.connect({ trusted: true, environment });
    await bench.ready(client);
    const holds = await dispatch(client, ONE, [["save"], ["gate", "cancelled"]]);
    await listedAs(client, holds, ({ checkpoint }) => checkpoint);
    const waiting = await dispatch(client, ONE, [["note", "never"]], { key: "k" });
    const { error } = await client.raw("lares/jobs/cancel", { id: waiting });
    expect(error).toMatchObject({ message: expect.stringContaining("lares/jobs/list") });
    // Replayed to the next kernel, which has the last one's stored state.
    const { items } = await listJobs(client, { agent: ONE });
    expect(items.some(({ id }) => id === waiting)).toBe(isStillThere);
    const again = await client.raw("lares/jobs/cancel", { id: waiting });
    if (isStillThere) expect(again["result"]).toMatchObject({ id: waiting, state: "Cancelled" });
    else expect(again).toMatchObject({ error: { data: { code: "NotFound" } } });
    await openGate(bench, "cancelled");
    await wrote(client, ONE, holds, "end");
    expect(await textsOf(client, ONE, waiting)).toEqual([]);
  },
);

test("the sandbox dies at the moment of the cancel: only the other jobs run again", async () => {
  await using bench = await setUp();
  const client = await bench.open();
  const job = await dispatch(client, ONE, [["save"], ["gate", "never opened"]]);
  await listedAs(client, job, ({ checkpoint }) => checkpoint);
  const behind = await dispatch(client, ONE, [["note", "behind"]]);
  const { pid } = await bench.status(client);
  const host = await until("the sandbox host", () => sandboxHostOf(pid));
  const cancelled = cancelJob(client, job);
  process.kill(host, "SIGKILL");
  await cancelled;
  await notListed(client, job);
  await wrote(client, ONE, behind, "end");
  expect(await textsOf(client, ONE, job)).toEqual(["begin"]);
});

test("with room for one agent, a job that saves for ever makes room for another agent's, and is cancelled while it waits", async () => {
  await using bench = await Bench.create({
    lares: { limits: { active_agents: 1 } },
    extensions: [
      worker({
        id: ONE,
        jobs: `async endless(input, ctx) {
          await begin(ctx);
          for (let at = ctx.checkpoint ?? 0; ; at++) { await sleep(50); await ctx.save(at + 1); }
        },`,
      }),
      worker({ id: TWO }),
    ],
  });
  const client = await bench.open();
  const { id: endless = "" } = await tryDispatch(client, ONE, "endless", null);
  await wrote(client, ONE, endless, "begin");
  const other = await dispatch(client, TWO, [
    ["note", "its turn"],
    ["gate", "other"],
  ]);
  await wrote(client, TWO, other, "its turn");
  await listedAs(client, endless, ({ state, checkpoint }) => state === "Waiting" && checkpoint);
  await openGate(bench, "other");
  await wrote(client, TWO, other, "end");
  // It continues from where it was.
  const begun = await wrote(client, ONE, endless, "begin", 2);
  expect(Number(begun["checkpoint"])).toBeGreaterThan(0);
  await cancelJob(client, endless);
  await notListed(client, endless);
});
