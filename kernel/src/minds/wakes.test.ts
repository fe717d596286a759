import { expect, test } from "vitest";
import { MindBench, mind } from "./testing/mind-bench.ts";

test("wakes that no person caused end after three, with a notice", async () => {
  const bench = await MindBench.open();
  bench.model = (_question, { process }) =>
    process === "worker"
      ? { say: "found something" }
      : { call: [{ tool: "spawn_worker", arguments: { task: `look ${bench.questions.length}` } }] };
  bench.mind = { ...mind, directTools: [], tools: [], channel: { maxTurns: 1 } };
  const { id } = await bench.open();
  await bench.send(id, "go");
  const entries = await bench.rested(id);
  const wakes = entries.filter((entry) => entry.kind === "conclusion").length;
  expect(wakes).toBeGreaterThanOrEqual(3);
  expect(wakes).toBeLessThan(12);
  expect(entries.at(-1)).toMatchObject({ kind: "notice" });
});

test("an action that ends by itself was not decided by the person, and does not wake for ever", async () => {
  const bench = await MindBench.open();
  bench.mind = { ...mind, channel: { maxTurns: 1 } };
  let proposals = 0;
  bench.tool = () => bench.proposal(`a${(proposals += 1)}`);
  bench.model = ({ tool_choice: choice }) =>
    choice === "none"
      ? { say: "proposed" }
      : { call: [{ tool: "files/write", arguments: { path: `${proposals}` } }] };
  const { id } = await bench.open();
  await bench.send(id, "go");
  for (let round = 0; round < 8; round++) {
    await bench.rested(id);
    for (const [action, { state }] of bench.actions)
      if (state === "PendingApproval") bench.decideLater(action, "Stale");
    await bench.minds.use(id, (conversation) => conversation.resume());
  }
  const entries = await bench.rested(id);
  expect(entries.filter((entry) => entry.kind === "action" && entry.origin === "person")).toEqual([]);
  expect(bench.questions.length).toBeLessThan(12);
});
