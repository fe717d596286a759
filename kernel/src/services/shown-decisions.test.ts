import { expect, test } from "vitest";
import { Emitter } from "../base/emitter.ts";
import { nextTurn } from "../base/next-turn.ts";
import type { Action } from "../base/vocabulary/action.ts";
import type { Ask } from "../base/vocabulary/ask.ts";
import { openShownDecisions } from "./shown-decisions.ts";

/** Actions and questions that are only records here. */
function rooms() {
  const records = new Map<string, { readonly state: string; readonly id: string }>();
  const actions = new Emitter<Action>();
  const asks = new Emitter<Ask>();
  const of = <Kind>(prefix: string, state?: string): Kind[] =>
    [...records.values()].filter(
      (each) => each.id.startsWith(prefix) && (state === undefined || each.state === state),
    ) as unknown as Kind[];
  const action = (id: string, conversation: string | null, state = "PendingApproval"): void => {
    const causes = conversation === null ? [] : [{ kind: "process", conversation }];
    const record = { id: `a${id}`, state, on_behalf_of: causes } as unknown as Action;
    records.set(record.id, record);
    actions.emit(record);
  };
  const ask = (id: string, conversation: string, state = "Pending"): void => {
    const record = { id: `q${id}`, state, conversation } as unknown as Ask;
    records.set(record.id, record);
    asks.emit(record);
  };
  return {
    action,
    ask,
    open: async () => {
      const shown = await openShownDecisions({
        actions: {
          changed: actions,
          list: async ({ state }) => of<Action>("a", state),
          get: async (id) => of<Action>(id)[0] ?? null,
        },
        asks: {
          changed: asks,
          list: async (state) => of<Ask>("q", state),
          get: async (id) => of<Ask>(id)[0] ?? null,
          answer: () => Promise.reject(new Error("Nobody answers here.")),
        },
      });
      const told: string[] = [];
      shown.actions.changed.on(({ id, state }) => told.push(`${id} ${state}`));
      shown.asks.changed.on(({ id, state }) => told.push(`${id} ${state}`));
      const listed = async (): Promise<string[]> =>
        [
          ...(await shown.actions.list({ state: "PendingApproval" })),
          ...(await shown.asks.list("Pending")),
        ].map(({ id }) => id);
      return { shown, told, listed };
    },
  };
}

test("three of a conversation's questions and actions are shown; each further one comes when one has ended", async () => {
  const { action, ask, open } = rooms();
  const { shown, told, listed } = await open();
  action("1", "c");
  ask("2", "c");
  action("3", "c");
  action("4", "c");
  ask("5", "c");
  expect(told).toEqual(["a1 PendingApproval", "q2 Pending", "a3 PendingApproval"]);
  expect(await listed()).toEqual(["a1", "a3", "q2"]);
  expect(shown.hiddenActions()).toBe(2);
  ask("2", "c", "Denied");
  await nextTurn();
  expect(told.slice(3)).toEqual(["q2 Denied", "a4 PendingApproval"]);
  action("1", "c", "Committed");
  await nextTurn();
  expect(told.slice(5)).toEqual(["a1 Committed", "q5 Pending"]);
  expect(await listed()).toEqual(["a3", "a4", "q5"]);
});

test("one that ends unseen shows no other, and other conversations and agents are not held up", async () => {
  const { action, open } = rooms();
  const { told, listed } = await open();
  for (const id of ["1", "2", "3", "4", "5"]) action(id, "c");
  action("6", "d");
  action("7", null);
  expect(await listed()).toEqual(["a1", "a2", "a3", "a6", "a7"]);
  action("4", "c", "Stale");
  await nextTurn();
  expect(told.at(-1)).toBe("a4 Stale");
  expect(await listed()).toEqual(["a1", "a2", "a3", "a6", "a7"]);
});

test("the next kernel shows the same ones", async () => {
  const { action, ask, open } = rooms();
  for (const id of ["1", "2", "3", "4"]) action(id, "c");
  ask("5", "c");
  const { told, listed } = await open();
  expect(await listed()).toEqual(["a1", "a2", "a3"]);
  action("1", "c", "Rejected");
  await nextTurn();
  expect(told).toEqual(["a1 Rejected", "a4 PendingApproval"]);
});
