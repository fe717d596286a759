import { expect, it } from "vitest";
import type { KernelState } from "../kernel/kernel.ts";
import { action, status } from "../testing/things.ts";
import { EventEmitter } from "../testing/vscode.ts";
import { FakeWire } from "../testing/wire.ts";
import { KernelActions, maxPending, maxRecent } from "./actions.ts";
import type { StatusModel } from "./ports.ts";

function start() {
  const wire = new FakeWire<KernelState>({ kind: "running" });
  const changed = new EventEmitter<void>();
  const known = { current: undefined as StatusModel["current"], onDidChange: changed.event };
  const model = new KernelActions(wire, known);
  const say = (given: Parameters<typeof status>[0]): void => {
    known.current = status(given);
    changed.fire();
  };
  const load = async (...actions: ReturnType<typeof action>[]): Promise<void> => {
    await wire.answer("lares/actions/list", actions);
    await wire.answer("lares/actions/list", []);
  };
  return { wire, model, say, load };
}

const at = (minute: number): string => new Date(Date.UTC(2026, 0, 1, 12, minute)).toISOString();

it("pending actions are oldest first, decided ones newest first", async () => {
  const { model, load } = start();
  await load(
    action({ id: "new", created: at(2) }),
    action({ id: "old", created: at(1) }),
    action({ id: "first", state: "Committed", decided: at(3) }),
    action({ id: "last", state: "Rejected", decided: at(4) }),
  );
  expect(model.pending.map(({ id }) => id)).toEqual(["old", "new"]);
  expect(model.recent.map(({ id }) => id)).toEqual(["last", "first"]);
  model.dispose();
});

it("an action that is decided elsewhere is no longer pending", async () => {
  const { wire, model, load } = start();
  await load(action());
  wire.tell("lares/actions/changed", action({ state: "Committed", decided_by: "user" }));
  expect(model.pending).toEqual([]);
  expect(model.recent).toHaveLength(1);
  model.dispose();
});

it("the number of kept actions is bounded", async () => {
  const { wire, model, load } = start();
  await load();
  for (let index = 0; index < 2000; index++) {
    wire.tell("lares/actions/changed", action({ id: `p${index}` }));
    wire.tell("lares/actions/changed", action({ id: `r${index}`, state: "Rejected", decided: at(index) }));
  }
  expect(model.pending).toHaveLength(maxPending);
  expect(model.recent).toHaveLength(maxRecent);
  expect(model.get("p1999")).toBeUndefined();
  model.dispose();
});

it("loads again if the kernel has more pending ones", async () => {
  const { wire, model, say, load } = start();
  await load(action());
  say({ pendingActions: 1 });
  await load(action());
  say({ pendingActions: 2 });
  expect(wire.isAsked("lares/actions/list")).toBe(true);
  model.dispose();
});

it("diffs are requested once while the action stays the same, and again after it changed or failed", async () => {
  const { wire, model, load } = start();
  await load(action());
  const first = model.withDiffs("action-1");
  expect(model.withDiffs("action-1")).toBe(first);
  await wire.answer("lares/actions/get", action());
  expect(await first).toEqual(action());

  wire.tell("lares/actions/changed", action({ state: "Stale" }));
  const second = model.withDiffs("action-1");
  await wire.refuse("lares/actions/get", "gone");
  await expect(second).rejects.toThrow("gone");
  void model.withDiffs("action-1");
  expect(wire.isAsked("lares/actions/get")).toBe(true);
  model.dispose();
});

it("pending actions are kept while the kernel restarts, and dropped without trust", async () => {
  const { wire, model, load } = start();
  await load(action());
  wire.become({ kind: "restarting", inMs: 1, reason: "it ended" });
  expect(model.pending).toHaveLength(1);
  wire.become({ kind: "untrusted", by: "editor" });
  expect(model.pending).toHaveLength(0);
  model.dispose();
});
