import { expect, test } from "vitest";
import { agent, Bench, inState } from "../support/bench.ts";
import { control, dispatch, log, openGate, textsOf, worker, wrote } from "../support/jobs.ts";
import { isAlive, until } from "../support/until.ts";

/** Jobs survive the kernel, however it ends. */

const ONE = "test.one";
const TWO = "test.two";
const OFF = "test.off";

test("kill -9 right after the answers: every job is run by the next kernel, in order, and the running one continues from its checkpoint", async () => {
  await using bench = await Bench.create({
    lares: { kernel: { linger: "0s" } },
    extensions: [worker({ id: ONE }), worker({ id: TWO }), worker({ id: OFF })],
  });
  const first = await bench.open();
  const running = await dispatch(first, ONE, [
    ["note", "once"],
    ["save"],
    ["note", "stands"],
    ["gate", "killed"],
  ]);
  await wrote(first, ONE, running, "stands");
  await control(first, OFF, "disable");
  await inState(first, OFF, "Unloaded");
  const low = await dispatch(first, ONE, [], { priority: "low", key: "kept" });
  const high = await dispatch(first, ONE, [], { priority: "high" });
  const idle = await dispatch(first, ONE, [], { whenIdle: true });
  const { pid } = await bench.status(first);
  // A guest without other work begins it at once; only the answer counts.
  const last = await dispatch(first, TWO, [["note", "work"]]);
  process.kill(pid, "SIGKILL");
  await first[Symbol.asyncDispose]();
  await until("the kernel to end", () => !isAlive(pid));

  const second = await bench.open();
  await wrote(second, TWO, last, "end");
  expect(await dispatch(second, ONE, [], { key: "kept" })).toBe(low);
  await openGate(bench, "killed");
  for (const job of [running, high, low, idle]) await wrote(second, ONE, job, "end");
  expect(await textsOf(second, ONE, running)).toEqual(["begin", "once", "stands", "begin", "stands", "end"]);
  const ends = (await log(second, ONE)).filter(({ text }) => text === "end").map(({ job }) => job);
  // More urgent jobs precede the interrupted one.
  expect(ends).toEqual([high, running, low, idle]);
  expect(await textsOf(second, TWO, last)).toEqual(expect.arrayContaining(["begin", "work", "end"]));
  await until("all to be counted", async () => (await agent(second, ONE)).metrics.jobs_completed === 4);
  expect((await agent(second, ONE)).metrics.jobs_failed).toBe(0);
});

test("more kills and restarts than a guest may be lost, without a checkpoint: the job is neither failed nor lost", async () => {
  await using bench = await Bench.create({
    lares: { kernel: { linger: "0s" } },
    extensions: [worker({ id: ONE })],
  });
  let job = "";
  const rounds = 3;
  for (let round = 1; round <= rounds; round++) {
    const client = await bench.open();
    if (job === "")
      job = await dispatch(client, ONE, [
        ["note", "stands"],
        ["gate", "ended"],
      ]);
    await wrote(client, ONE, job, "stands", round);
    const { pid } = await bench.status(client);
    if (round % 2 === 0) await client.shutdown();
    else await bench.kill(pid);
    await client[Symbol.asyncDispose]();
    await until("the kernel to end", () => !isAlive(pid));
  }
  const client = await bench.open();
  await wrote(client, ONE, job, "stands", rounds + 1);
  await openGate(bench, "ended");
  await wrote(client, ONE, job, "end");
  const { pid } = await bench.status(client);
  await until("its completion", async () => (await agent(client, ONE)).metrics.jobs_completed === 1);
  // Completed jobs are not run again.
  await bench.kill(pid);
  await bench.ready(client);
  const after = await dispatch(client, ONE, []);
  await wrote(client, ONE, after, "end");
  expect((await textsOf(client, ONE, job)).filter((text) => text === "begin")).toHaveLength(rounds + 1);
});
