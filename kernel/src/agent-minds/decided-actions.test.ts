import { expect, test } from "vitest";
import type { Action } from "../base/vocabulary/action.ts";
import { DecidedActions } from "./decided-actions.ts";

const action = (id: string, state: Action["state"], more: Partial<Action> = {}): Action =>
  ({
    id,
    agent: "mind",
    title: `Change ${id}`,
    state,
    decided_by: "user",
    created: "2026-11-28T09:00:00.000Z",
    ended: `2026-11-28T10:00:0${id.at(-1)}.000Z`,
    on_behalf_of: [{ kind: "process", process: "worker", agent: "mind", conversation: "c1" }],
    ...more,
  }) as Action;

function ledger(...actions: readonly Action[]) {
  const rows = new Map(actions.map((each) => [each.id, each]));
  let lists = 0;
  const decided = new DecidedActions({
    get: async (id) => rows.get(id) ?? null,
    list: async ({ state }) => {
      lists++;
      return [...rows.values()].filter((each) => each.state === state);
    },
  });
  const change = (changed: Action): void => {
    rows.set(changed.id, changed);
    decided.take(changed);
  };
  const idsOf = async (conversation: string): Promise<string[]> =>
    (await decided.of([{ conversation }])).map(({ id, state }) => `${id} ${state}`);
  return { decided, rows, change, idsOf, lists: () => lists };
}

test("those of a conversation that a person has decided about, the oldest first; the ledger is searched once", async () => {
  const { idsOf, lists, change } = ledger(
    action("a3", "Undone"),
    action("a1", "Committed"),
    action("a2", "Rejected"),
    action("a4", "Committed", { decided_by: "policy" }),
    action("a5", "PendingApproval"),
    action("a6", "Rejected", { on_behalf_of: [] }),
  );
  expect(await idsOf("c1")).toEqual(["a1 Committed", "a2 Rejected", "a3 Undone"]);
  expect(await idsOf("c2")).toEqual([]);
  change(action("a4", "Undone", { decided_by: "policy" }));
  expect(await idsOf("c1")).toEqual(["a1 Committed", "a2 Rejected", "a3 Undone", "a4 Undone"]);
  expect(lists()).toBe(3);
});

test("what is told is what the ledger has now", async () => {
  const { decided, rows } = ledger(action("a1", "Undone"), action("a2", "Undone"));
  await decided.of([{ conversation: "c1" }]);
  rows.set("a1", { ...action("a1", "Undone"), title: "[redacted by the person]" });
  rows.delete("a2");
  expect((await decided.of([{ conversation: "c1" }])).map(({ title }) => title)).toEqual([
    "[redacted by the person]",
  ]);
});

test("a fork's: those that its origin had led to before, not those that came later", async () => {
  const { decided } = ledger(
    action("a1", "Undone"),
    action("a2", "Undone", { created: "2026-11-28T09:00:01.000Z" }),
    action("a3", "Undone", { created: "2026-11-28T09:00:02.000Z" }),
  );
  const lineage = [{ conversation: "c1", until: "2026-11-28T09:00:01.000Z" }, { conversation: "fork" }];
  expect((await decided.of(lineage)).map(({ id }) => id)).toEqual(["a1", "a2"]);
});

test("after a search that failed the next one is tried again", async () => {
  let isBroken = true;
  const decided = new DecidedActions({
    get: async (id) => action(id, "Undone"),
    list: async ({ state }) => {
      if (isBroken) throw new Error("The disk is full.");
      return state === "Undone" ? [action("a1", "Undone")] : [];
    },
  });
  await expect(decided.of([{ conversation: "c1" }])).rejects.toThrow("The disk is full.");
  isBroken = false;
  expect(await decided.of([{ conversation: "c1" }])).toHaveLength(1);
});
