import { expect, test } from "vitest";
import { until } from "../../../test/support/until.ts";
import { lastText, MindBench, person } from "./testing/mind-bench.ts";

test("nothing runs on after a stop: the tree ends, calls get results, its actions are rejected", async () => {
  const bench = await MindBench.open();
  bench.model = (question, { process }) => {
    if (process === "worker") return { call: [{ tool: "files/write", arguments: { path: "a" } }] };
    if (process === "branch")
      return lastText(question) === "b"
        ? { call: [{ tool: "spawn_worker", arguments: { task: "w" } }] }
        : { hangs: true };
    return lastText(question) === "go"
      ? {
          call: [
            { tool: "branch", arguments: { task: "b" } },
            { tool: "spawn_worker", arguments: { task: "v" } },
          ],
        }
      : { hangs: true };
  };
  bench.tool = (_name, _args, key) => bench.proposal(`a-${key}`);
  const { id } = await bench.open();
  await bench.send(id, "go");
  await until("workers to wait", async () => {
    const { processes } = await bench.service.get(id);
    return processes.filter(({ state }) => state === "WaitingForApproval").length >= 2;
  });
  const stopped = await bench.service.cancel(person, id);
  for (const { state, kind } of stopped.processes) expect(["Cancelled", "Done"], kind).toContain(state);
  expect([...bench.actions.values()].map(({ state }) => state)).toEqual(["Rejected", "Rejected"]);
  const asked = bench.questions.length;
  const entries = await bench.rested(id);
  const open = new Set(entries.flatMap((entry) => (entry.kind === "tool_call" ? [entry.call] : [])));
  for (const entry of entries) if (entry.kind === "tool_result") open.delete(entry.call);
  expect([...open]).toEqual([]);
  expect(bench.questions.length).toBe(asked);
  // Whatever agents still do for it.
  expect(bench.stops[0]).toEqual({ conversation: id, processes: null });
});
