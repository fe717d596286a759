import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { failpointNames } from "../../kernel/src/platform/failpoints.ts";
import { until } from "../support/until.ts";
import { JobLoad } from "./support/job-load.ts";
import { sandboxHostOf } from "./support/processes.ts";
import { seeded, seedOfThisRun } from "../support/seed.ts";

/*
 * Kernels, and sandboxes under them, die while jobs are dispatched, run, saved, lost, failed and completed.
 * `LARES_ROUNDS` sets the number of random rounds (default 10), `LARES_SEED` draws other choices.
 */

const rounds = Number(process.env["LARES_ROUNDS"] ?? 10);
const seed = seedOfThisRun();
const maxDelayMs = 1500;

describe("a kernel dies at a named point of a job's life, and so does the next one", () => {
  // `jobs-cancel.test.ts` visits those of a person's cancelling.
  const points = failpointNames.filter((name) => /^jobs\.(?!cancel)/.test(name));
  let load: JobLoad;
  beforeAll(async () => {
    // A later pass: some of its jobs are done, others wait.
    load = await JobLoad.open(
      points.map((name) => (/dispatch|checkpoint|complete/.test(name) ? `${name}@2` : name)),
    );
  });
  afterAll(() => load[Symbol.asyncDispose]());

  test.each(points.map((name, at) => [name, at + 1] as const))(
    "at %s: every acknowledged job is done from its last checkpoint on, and none that ended is begun again",
    async (name, count) => {
      await load.rest();
      await until(`the death at ${name}`, async () => {
        // Kernels after the last death may have passed it as well.
        if ((await load.deaths()).length >= count) return true;
        // Again if all has ended: the call for the job in question may have been lost with its guest.
        if (await load.isAtRest()) await load.dispatch();
        return false;
      });
      expect((await load.deaths())[count - 1]).toBe(name);
      await load.rest();
      await load.check();
    },
  );

  test("and the last one lives", async () => {
    await load.dispatch();
    await load.rest();
    await load.check();
  });
});

describe("SIGKILL at random moments", () => {
  const random = seeded(seed);
  let load: JobLoad;
  beforeAll(async () => {
    console.log(`jobs: LARES_SEED=${seed} LARES_ROUNDS=${rounds}`);
    load = await JobLoad.open();
  });
  afterAll(() => load[Symbol.asyncDispose]());

  test.for(Array.from({ length: rounds }, (_, round) => round + 1))(
    "%s: of the kernel or its sandbox, every acknowledged job is done from its last checkpoint on",
    async () => {
      await load.rest();
      const { pid } = await load.bench.ready(load.client);
      const isHost = random() < 0.3;
      const delayMs = random() * maxDelayMs;
      const work = load.dispatch();
      await new Promise((resolve) => setTimeout(resolve, delayMs));
      process.kill(isHost ? await until("the sandbox host", () => sandboxHostOf(pid)) : pid, "SIGKILL");
      await work;
      await load.rest();
      await load.check(1);
    },
  );
});
