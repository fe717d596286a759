import { expect, it } from "vitest";
import type { KernelState } from "../kernel/kernel.ts";
import { agent, status } from "../testing/things.ts";
import { EventEmitter } from "../testing/vscode.ts";
import { FakeWire, settled } from "../testing/wire.ts";
import { KernelAgents } from "./agents.ts";
import type { StatusModel } from "./ports.ts";

function start(state: KernelState = { kind: "running" }) {
  const wire = new FakeWire<KernelState>(state);
  const changed = new EventEmitter<void>();
  const known = { current: undefined as StatusModel["current"], onDidChange: changed.event };
  const model = new KernelAgents(wire, known);
  const say = (given: Parameters<typeof status>[0]): void => {
    known.current = status(given);
    changed.fire();
  };
  const ids = (): string[] => model.all.map(({ id }) => id);
  return { wire, model, say, ids };
}

it("loads the agents, by name, and updates them by notifications", async () => {
  const { wire, model, ids } = start();
  await wire.answer("lares/agents/list", [agent({ id: "b", name: "Bee" }), agent({ id: "a", name: "Ant" })]);
  expect(ids()).toEqual(["a", "b"]);
  wire.tell("lares/agents/changed", agent({ id: "b", name: "Bee", state: "Error" }));
  expect(model.get("b")?.state).toBe("Error");
  model.dispose();
});

it("two agents with the same name are distinguished as long as there are two", async () => {
  const { wire, model } = start();
  await wire.answer("lares/agents/list", [agent({ id: "a", name: "Ant" })]);
  expect(model.nameOf("a")).toBe("Ant");
  wire.tell("lares/agents/changed", agent({ id: "b", name: "Ant" }));
  expect(["a", "b", "c"].map((id) => model.nameOf(id))).toEqual(["Ant (a)", "Ant (b)", "c"]);
  wire.tell("lares/agents/changed", agent({ id: "b", name: "Bee" }));
  expect(["a", "b"].map((id) => model.nameOf(id))).toEqual(["Ant", "Bee"]);
  model.dispose();
});

it("a notification during a request for the list is newer than the list", async () => {
  const { wire, model } = start();
  wire.tell("lares/agents/changed", agent({ id: "a", state: "Error" }));
  await wire.answer("lares/agents/list", [agent({ id: "a", state: "Active" })]);
  expect(model.get("a")?.state).toBe("Error");
  model.dispose();
});

it("loads again if the kernel's count differs, and if it is another kernel", async () => {
  const { wire, model, say, ids } = start();
  await wire.answer("lares/agents/list", [agent({ id: "a" }), agent({ id: "gone" })]);
  say({ pid: 1, agents: 2 });
  await wire.answer("lares/agents/list", [agent({ id: "a" }), agent({ id: "gone" })]);
  say({ pid: 1, agents: 2, pendingActions: 1 });
  expect(wire.isAsked("lares/agents/list")).toBe(false);
  say({ pid: 1, agents: 1 });
  await wire.answer("lares/agents/list", [agent({ id: "a" })]);
  expect(ids()).toEqual(["a"]);
  say({ pid: 2, agents: 1 });
  expect(wire.isAsked("lares/agents/list")).toBe(true);
  model.dispose();
});

it("a starting kernel is asked before its first status, and again if it knew nothing yet", async () => {
  const { wire, model, say, ids } = start({ kind: "starting" });
  await wire.answer("lares/agents/list", []);
  say({ pid: 1, agents: 1 });
  await wire.answer("lares/agents/list", [agent({ id: "a" })]);
  expect(ids()).toEqual(["a"]);
  model.dispose();
});

it("keeps its agents when a list fails, and drops them when the kernel is given up", async () => {
  const { wire, model, ids } = start();
  await wire.answer("lares/agents/list", [agent({ id: "a" })]);
  wire.become({ kind: "running" });
  await wire.refuse("lares/agents/list", "gone");
  wire.become({ kind: "restarting", inMs: 1, reason: "it ended" });
  expect(ids()).toEqual(["a"]);
  wire.become({ kind: "failed", reason: "it ended" });
  expect(ids()).toEqual([]);
  await settled();
  model.dispose();
});
