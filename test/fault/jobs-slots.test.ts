import { expect, test } from "vitest";
import { agent, Bench, inState } from "../support/bench.ts";
import { dispatch, openGate, provoke, textsOf, worker, wrote } from "../support/jobs.ts";

const ONE = "test.one";
const TWO = "test.two";

test("an agent is not unloaded under its job, and woken for the next; with room for one agent only, both get their turn", async () => {
  await using bench = await Bench.create({
    lares: { limits: { active_agents: 1, idle_unload: "100ms" } },
    extensions: [worker({ id: ONE }), worker({ id: TWO })],
  });
  const client = await bench.open();
  // Nothing is asked of it while it waits, for longer than idle agents are kept.
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
  // It waited for quiet, asleep.
  await wrote(client, ONE, child, "end");
  expect((await agent(client, TWO)).metrics).toMatchObject({ jobs_completed: 1, jobs_failed: 0 });
});
