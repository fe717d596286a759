import { expect, test } from "vitest";
import { Emitter } from "../base/emitter.ts";
import type { Action, ActionState, Effect } from "../base/vocabulary/action.ts";
import type { ActionService } from "./ports.ts";
import { maxPendingKnown, maxShownPerFile, maxUndoableKnown, ProposedChanges } from "./proposed-changes.ts";

const digest = `sha256:${"0".repeat(64)}` as const;

function effect(path: string, from?: string): Effect {
  const kind = from === undefined ? "file.write" : "file.move";
  return { kind, path, before: digest, after: digest, summary: "", ...(from === undefined ? {} : { from }) };
}

function action(number: number, state: ActionState, ...effects: Effect[]): Action {
  const id = String(number).padStart(6, "0");
  const created = "2026-01-01T00:00:00.000Z";
  const receipt = { applied: effects.map((_effect, index) => index), finished: `${created} ${id}` };
  return {
    id,
    agent: "a.b",
    title: id,
    reason: "",
    state,
    impact_score: 0,
    digest,
    effects,
    created,
    ...(state === "Committed" ? { receipt } : {}),
  };
}

/** The actions as the ledger has them, and a list that is answered when the test says so. */
function ledger(kept: readonly Action[], until: Promise<unknown> = Promise.resolve()) {
  const changed = new Emitter<Action>();
  const list = async ({ state, limit }: { state?: ActionState; limit?: number }): Promise<Action[]> => {
    const found = kept.filter((each) => each.state === state).toReversed();
    await until;
    return found.slice(0, limit);
  };
  const proposed = new ProposedChanges({ changed, list } as unknown as ActionService);
  return { changed, proposed };
}

const ids = (actions: readonly Action[]): number[] => actions.map(({ id }) => Number(id));

test("actions are found at the files that they write, at both ends of a move, and at files in a moved folder", async () => {
  const { proposed } = ledger([
    action(1, "PendingApproval", effect("a.txt"), effect("b.txt")),
    action(2, "PendingApproval", effect("new/c.txt", "old/c.txt")),
    action(3, "PendingApproval", effect("albums", "album")),
  ]);
  const at = async (path: string): Promise<number[]> => ids(await proposed.waitingAt([path]));
  expect(await at("a.txt")).toEqual([1]);
  expect(await at("b.txt")).toEqual([1]);
  expect(await at("old/c.txt")).toEqual([2]);
  expect(await at("new/c.txt")).toEqual([2]);
  expect(await at("album/2024/x.jpg")).toEqual([3]);
  for (const path of ["albums/x.jpg", "album-2/x.jpg", "a.txt/x", "old", "c.txt", ""])
    expect(await at(path), path).toEqual([]);
  expect(ids(await proposed.waitingAt(["a.txt", "b.txt", "album/x"]))).toEqual([3, 1]);
});

test("decided actions disappear, and the last applied one can be undone, only in its files", async () => {
  const { changed, proposed } = ledger([action(1, "PendingApproval", effect("a.txt"))]);
  expect(proposed.isAwaited(["a.txt"])).toBe(false); // nobody has asked yet
  await proposed.waitingAt(["a.txt"]);
  expect(proposed.isAwaited(["a.txt"])).toBe(true);
  changed.emit(action(1, "Committed", effect("a.txt")));
  expect(proposed.isAwaited(["a.txt"])).toBe(false);
  expect(await proposed.waitingAt(["a.txt"])).toEqual([]);
  expect((await proposed.undoableAt(["a.txt"]))?.title).toBe("000001");
  changed.emit(action(2, "Committed", effect("a.txt")));
  expect((await proposed.undoableAt(["a.txt"]))?.title).toBe("000002");
  changed.emit(action(2, "Undone", effect("a.txt")));
  expect((await proposed.undoableAt(["a.txt"]))?.title).toBe("000001");
  const part = action(3, "Committed", effect("a.txt"), effect("b.txt"));
  changed.emit({ ...part, receipt: { applied: [1], finished: "2027" } });
  expect((await proposed.undoableAt(["a.txt"]))?.title).toBe("000001");
  expect((await proposed.undoableAt(["b.txt"]))?.title).toBe("000003");
});

test("a notification during the request for the list takes precedence over the list", async () => {
  const answered = Promise.withResolvers<null>();
  const kept = [action(1, "PendingApproval", effect("a.txt")), action(2, "PendingApproval", effect("a.txt"))];
  const { changed, proposed } = ledger(kept, answered.promise);
  const waiting = proposed.waitingAt(["a.txt"]);
  changed.emit(action(1, "Rejected", effect("a.txt")));
  changed.emit(action(3, "PendingApproval", effect("a.txt")));
  answered.resolve(null);
  expect(ids(await waiting)).toEqual([3, 2]);
});

test("a list that fails is asked for again", async () => {
  let failures = 1;
  const actions = {
    changed: new Emitter<Action>(),
    list: async () => {
      if (failures-- > 0) throw new Error("the disk");
      return [];
    },
  };
  const proposed = new ProposedChanges(actions as unknown as ActionService);
  await expect(proposed.waitingAt(["a.txt"])).rejects.toThrow("the disk");
  expect(await proposed.waitingAt(["a.txt"])).toEqual([]);
});

test("of more than its bounds it knows the newest", async () => {
  const { changed, proposed } = ledger([]);
  await proposed.waitingAt([]);
  const numbers = Array.from({ length: maxPendingKnown + 5 }, (_, index) => index);
  for (const number of numbers) changed.emit(action(number, "PendingApproval", effect(`${number % 10}.txt`)));
  expect(ids(await proposed.waitingAt(["4.txt"]))).toHaveLength(maxShownPerFile);
  expect(ids(await proposed.waitingAt(["4.txt"]))[0]).toBe(maxPendingKnown + 4);
  for (const number of numbers.slice(maxPendingKnown - 20))
    changed.emit(action(number, "Rejected", effect("x")));
  const left = await Promise.all(numbers.slice(0, 10).map((each) => proposed.waitingAt([`${each}.txt`])));
  expect(left.flat().some(({ id }) => Number(id) < 5)).toBe(false);

  for (const number of numbers) changed.emit(action(number, "Committed", effect(`${number}.txt`)));
  expect(await proposed.undoableAt([`${maxPendingKnown - maxUndoableKnown}.txt`])).toBeNull();
  expect(await proposed.undoableAt([`${maxPendingKnown + 4}.txt`])).not.toBeNull();
});

test("after disposal nothing is received any more", async () => {
  const { changed, proposed } = ledger([]);
  proposed[Symbol.dispose]();
  expect(changed.listenerCount).toBe(0);
});
