import { afterAll, beforeAll, expect, test } from "vitest";
import { agent, Bench, tool } from "../support/bench.ts";
import type { Client } from "../support/client.ts";
import {
  dispatch,
  log,
  openGate,
  provoke,
  tryDispatch,
  worker,
  wrote,
  type Refused,
} from "../support/jobs.ts";
import { until } from "../support/until.ts";

/** How many jobs and bytes of an agent may wait. */

const MANY = "test.many";
const LARGE = "test.large";
const NEIGHBOUR = "test.neighbour";
const maxWaiting = 10_000;
const maxBytes = 64 * 1024 * 1024;
const largest = 256 * 1024;

let bench: Bench;
let client: Client;
beforeAll(async () => {
  const resources = { max_cpu_ms_per_event: 60_000 };
  bench = await Bench.create({
    lares: { limits: { max_cpu_ms_per_event: 60_000 } },
    extensions: [
      worker({ id: MANY, resources }),
      worker({ id: LARGE, resources }),
      worker({ id: NEIGHBOUR }),
    ],
  });
  client = await bench.open();
});
afterAll(() => bench[Symbol.asyncDispose]());

interface Outcome {
  readonly accepted: number;
  readonly error?: Refused;
}

test("10,000 jobs may wait; the next is LimitExceeded, adds nothing, and disturbs no other agent", async () => {
  const running = await dispatch(client, MANY, [["gate", "many"]]);
  await wrote(client, MANY, running, "begin");
  const { accepted, error } = await tool<Outcome>(client, MANY, "dispatchMany", {
    name: "nothing",
    count: maxWaiting + 50,
  });
  // Whether the running one counts is not specified.
  expect([maxWaiting - 1, maxWaiting]).toContain(accepted);
  expect(error).toMatchObject({
    code: "LimitExceeded",
    facts: { limit: expect.anything(), value: expect.any(Number) },
  });
  expect((await agent(client, MANY)).metrics.jobs_dispatched).toBe(accepted + 1);
  expect((await tryDispatch(client, MANY, "nothing", null, { key: "new" })).error?.code).toBe(
    "LimitExceeded",
  );

  const others = await dispatch(client, NEIGHBOUR, []);
  await wrote(client, NEIGHBOUR, others, "end");

  // The agent's own events do not wait for all of them.
  await openGate(bench, "many");
  await wrote(client, MANY, "hook", await provoke(bench, MANY, "seen", "among-many"));
  expect((await agent(client, MANY)).metrics.jobs_completed).toBeLessThan(accepted + 1);
  await until(
    "all to be done",
    async () => (await agent(client, MANY)).metrics.jobs_completed === accepted + 1,
  );
});

test("64 MiB of input may wait; more is LimitExceeded; all accepted jobs run, and there is room again", async () => {
  const running = await dispatch(client, LARGE, [["gate", "large"]]);
  await wrote(client, LARGE, running, "begin");
  let accepted = 0;
  let error: Refused | undefined;
  while (error === undefined) {
    const outcome = await tool<Outcome>(client, LARGE, "dispatchMany", {
      name: "measure",
      count: 40,
      bytes: largest,
    });
    accepted += outcome.accepted;
    error = outcome.error;
    expect(accepted).toBeLessThanOrEqual(maxBytes / largest);
  }
  expect(accepted).toBe(maxBytes / largest - 1);
  expect(error).toMatchObject({
    code: "LimitExceeded",
    facts: { limit: expect.anything(), value: expect.any(Number) },
  });
  expect((await tryDispatch(client, LARGE, "measure", "x".repeat(largest - 2))).error?.code).toBe(
    "LimitExceeded",
  );
  await openGate(bench, "large");
  await until(
    "all to be done",
    async () => (await agent(client, LARGE)).metrics.jobs_completed === accepted + 1,
  );
  const measured = (await log(client, LARGE)).filter(({ text }) => text === "measured");
  expect(measured).toHaveLength(accepted);
  expect(measured.every(({ length }) => length === largest - 2)).toBe(true);
  const { id = "" } = await tryDispatch(client, LARGE, "measure", "x".repeat(largest - 2));
  await wrote(client, LARGE, id, "measured");
});
