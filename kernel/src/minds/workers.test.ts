import { expect, test } from "vitest";
import { until } from "../../../test/support/until.ts";
import { nextTurn } from "../base/next-turn.ts";
import { lastText, MindBench, mind, person } from "./testing/mind-bench.ts";
import { withWriter } from "./testing/test-workers.ts";

test("a worker that answers without having done anything is nudged once", async () => {
  const bench = await MindBench.open();
  bench.model = (question, { process }) => {
    if (process === "channel")
      return bench.questions.length === 1
        ? { call: [{ tool: "spawn_worker", arguments: { task: "count" } }] }
        : { say: "fine" };
    return { say: lastText(question) === "count" ? "I will count." : "There are three." };
  };
  const { id } = await bench.open();
  await bench.send(id, "go");
  await bench.rested(id);
  expect(await bench.said(id)).toContain("There are three.");
  expect(await bench.said(id, "user")).toContain("Please proceed and use the available tools.");
});

test("the channel answers at once while workers run, and sees them in its status", async () => {
  const bench = await MindBench.open();
  bench.model = (question, { process }) => {
    if (process === "worker") return { hangs: true };
    return lastText(question) === "go"
      ? { call: [{ tool: "spawn_worker", arguments: { task: "count the files" } }] }
      : { say: "I am here" };
  };
  const { id } = await bench.open();
  await bench.send(id, "go");
  await until("the worker", () => bench.questions.some(({ asker }) => asker.process === "worker"));
  await bench.send(id, "are you there?");
  await until("the answer", async () => (await bench.said(id)).includes("I am here"));
  const status = bench.questions.at(-1)?.question.messages.at(-1);
  expect(JSON.stringify(status)).toContain("count the files");
  await bench.service.cancel(person, id);
});

test("a worker waits for the person, and its call gets what became of the change", async () => {
  const bench = await MindBench.open();
  bench.tool = () => bench.proposal("a1");
  const id = await withWriter(bench);
  await until("the question", async () =>
    (await bench.service.get(id)).processes.some(({ state }) => state === "WaitingForApproval"),
  );
  bench.decide("a1", "Committed");
  await bench.rested(id);
  expect((await bench.said(id)).join()).toContain("Committed");
  expect((await bench.service.get(id)).processes).toMatchObject([{}, { state: "Done" }]);
});

/** Long enough that others would be seen to work at the same time. */
async function nextTurns(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await nextTurn();
}

test("no more processes work at once than the bounds allow; the others wait their turn", async () => {
  const bench = await MindBench.open();
  bench.limits = { atOnce: 256, processes: 2 };
  let now = 0;
  let most = 0;
  bench.mind = { ...mind, workers: [], tools: [], directTools: [] };
  bench.model = async (question, { process }) => {
    if (process === "channel")
      return lastText(question) === "go"
        ? {
            call: Array.from({ length: 6 }, (_, index) => ({
              tool: "spawn_worker",
              arguments: { task: `t${index}` },
            })),
          }
        : { say: "ok" };
    most = Math.max(most, (now += 1));
    await nextTurns();
    now -= 1;
    return { say: "done" };
  };
  const { id } = await bench.open();
  await bench.send(id, "go");
  await bench.rested(id);
  expect(most).toBe(2);
  const { processes } = await bench.service.get(id);
  expect(processes.filter(({ state }) => state === "Done")).toHaveLength(6);
});
