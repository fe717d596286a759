import { expect, test } from "vitest";
import { agent, Bench } from "../support/bench.ts";
import { dispatch, openGate, textsOf, worker, wrote } from "../support/jobs.ts";
import { isAlive, until } from "../support/until.ts";

const ONE = "test.one";

test("more kills and farewells than a guest may be lost, without a checkpoint: the job is neither failed nor forgotten", async () => {
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
  // What was completed is not run again.
  await bench.kill(pid);
  await bench.ready(client);
  const after = await dispatch(client, ONE, []);
  await wrote(client, ONE, after, "end");
  expect((await textsOf(client, ONE, job)).filter((text) => text === "begin")).toHaveLength(rounds + 1);
});
