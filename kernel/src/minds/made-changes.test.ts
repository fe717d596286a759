import { expect, test } from "vitest";
import type { Action } from "../base/vocabulary/action.ts";
import { lastText, MindBench } from "./testing/mind-bench.ts";

/** A mind in whose conversation `kind` writes a file by a tool; returns what `tool` made of the action. */
async function written(
  kind: "channel" | "worker",
  tool: (bench: MindBench, action: Action) => void | Promise<void>,
): Promise<{ bench: MindBench; id: string; by: string }> {
  const bench = await MindBench.open();
  let by = "";
  bench.model = (question, { process }) => {
    const text = lastText(question);
    if (process === kind && (text === "go" || text === "write it"))
      return { call: [{ tool: "files/write", arguments: { path: "a" } }] };
    if (process === "worker") return { say: `result: ${text}` };
    return text === "go"
      ? { call: [{ tool: "spawn_worker", arguments: { task: "write it" } }] }
      : { say: "ok" };
  };
  const { id } = await bench.open();
  bench.tool = async (name) => {
    if (name !== "files/write") return { status: "success", value: "" };
    const { processes } = await bench.service.get(id);
    by = processes.find((process) => process.kind === kind)?.id ?? "";
    const agent = "dev.test.mind";
    bench.proposal("a1");
    bench.changeAction("a1", {
      state: "Committed",
      decided_by: "policy",
      on_behalf_of: [{ kind: "process", process: kind, agent, conversation: id, id: by }],
    });
    const action = bench.actions.get("a1");
    if (action === undefined) throw new Error("There is no action.");
    await tool(bench, action);
    return { status: "success", value: { action: "a1", state: "Committed" } };
  };
  await bench.send(id, "go");
  await bench.rested(id);
  return { bench, id, by };
}

const told = (bench: MindBench): string =>
  JSON.stringify(bench.questions.map(({ question }) => question.messages));

test.each(["channel", "worker"] as const)(
  "what policy allowed a %s is in the log once, before the result of its call",
  async (kind) => {
    const { bench, id, by } = await written(kind, (on, action) => on.minds.actionChanged(action));
    const entries = await bench.entries(id);
    const at = entries.findIndex((entry) => entry.kind === "action");
    expect(entries[at]).toMatchObject({ ref: "a1", state: "Committed", origin: "kernel", process: by });
    expect(
      entries.findIndex((entry) => entry.kind === "tool_result" && entry.process === by),
    ).toBeGreaterThan(at);
    expect(await bench.decisions(id)).toHaveLength(1);
    // It begins no turn, and the models learn of it by the result alone.
    const asked = bench.questions.length;
    await bench.restart();
    const action = bench.actions.get("a1") as Action;
    bench.minds.actionChanged(action);
    await bench.rested(id);
    await bench.send(id, "and now?");
    await bench.rested(id);
    expect(await bench.decisions(id)).toHaveLength(1);
    expect(bench.questions).toHaveLength(asked + 1);
    expect(told(bench)).not.toContain('action \\"a1');
  },
);

test("it is in the log although nobody announced it: a kernel may have died before it was written", async () => {
  const { bench, id } = await written("worker", () => undefined);
  expect(await bench.decisions(id)).toEqual(["action Committed kernel"]);
});

test("a change of another conversation, one that was not made, and a result that names another's are left out", async () => {
  const { bench, id } = await written("channel", (on, action) => {
    const [by] = action.on_behalf_of ?? [];
    if (by?.kind !== "process") throw new Error("No process led to it.");
    on.changeAction("a1", { on_behalf_of: [{ ...by, conversation: "another" }] });
    on.minds.actionChanged(on.actions.get("a1") as Action);
    on.minds.actionChanged({ ...action, id: "a2", state: "Failed" });
  });
  expect(await bench.decisions(id)).toEqual([]);
});

test("what an agent proposed on behalf of a process and the person approved elsewhere is shown, also in a resting conversation", async () => {
  const { bench, id } = await written("channel", () => undefined);
  const action = bench.actions.get("a1") as Action;
  await bench.restart();
  const asked = bench.questions.length;
  bench.proposal("a2");
  bench.changeAction("a2", { ...action, id: "a2", agent: "dev.test.other", decided_by: "user" });
  bench.minds.actionChanged(bench.actions.get("a2") as Action);
  await expect
    .poll(() => bench.decisions(id))
    .toEqual(["action Committed kernel", "action Committed kernel"]);
  expect(bench.questions).toHaveLength(asked);
});

test("what the person rebased waits in the conversation, and does not end with the worker that proposed it", async () => {
  const { bench, id } = await written("worker", () => undefined);
  const action = bench.actions.get("a1") as Action;
  bench.proposal("a2");
  const { decided_by: _decided, ...proposed } = action;
  bench.changeAction("a2", { ...proposed, id: "a2", state: "PendingApproval", rebased_by: "user" });
  bench.minds.actionChanged(bench.actions.get("a2") as Action);
  const waits = ["action Committed kernel", "action PendingApproval workspace"];
  await expect.poll(() => bench.decisions(id)).toEqual(waits);
  await bench.restart();
  await bench.rested(id);
  expect(bench.actions.get("a2")?.state).toBe("PendingApproval");
  bench.decide("a2", "Committed");
  await expect.poll(() => bench.decisions(id)).toEqual([...waits, "action Committed person"]);
});
