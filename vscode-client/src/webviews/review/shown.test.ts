import { describe, expect, it } from "vitest";
import { cardOf } from "../../deciding/review-cards.ts";
import { action, effect } from "../../testing/things.ts";
import type { Action } from "../../protocol.ts";
import type { Card } from "./messages.ts";
import { bySection, firstUndrawn, merged, nextWaiting, optionsOf, type Cards } from "./shown.ts";

const day = (date: number): string => `2026-01-${String(date).padStart(2, "0")}T12:00:00.000Z`;
const cards = (...actions: Partial<Action>[]): Cards =>
  new Map(actions.map((given) => [given.id ?? "action-1", cardOf(action(given))]));
const ids = (found: readonly Card[]): string[] => found.map(({ id }) => id);

describe("the list", () => {
  it("has what waits oldest first, and what ended newest first, in sections that share nothing", () => {
    const found = bySection(
      cards(
        { id: "b", created: day(2) },
        { id: "a", created: day(1) },
        { id: "c", created: day(2) },
        { id: "mine", state: "Committed", decided_by: "user", decided: day(3) },
        { id: "no", state: "Rejected", decided: day(4) },
        { id: "rule", state: "Committed", decided_by: "policy" },
        { id: "stale", state: "Stale" },
        { id: "replaced", state: "Stale", superseded_by: "a" },
      ),
      {},
    );
    expect(Object.fromEntries(Object.entries(found).map(([section, each]) => [section, ids(each)]))).toEqual({
      waiting: ["a", "b", "c"],
      outdated: ["stale"],
      automatic: ["rule"],
      replaced: ["replaced"],
      decided: ["no", "mine"],
    });
  });

  it("is narrowed by agent, folder and kind, each by itself and together", () => {
    const all = cards(
      { id: "1", agent: "one" },
      {
        id: "2",
        agent: "two",
        effects: [effect({ kind: "file.delete", path: "photos/a.png", after: null })],
      },
      { id: "3", agent: "two" },
    );
    const waiting = (filter: Parameters<typeof bySection>[1]): string[] =>
      ids(bySection(all, filter).waiting);
    expect(waiting({ agent: "two" })).toEqual(["2", "3"]);
    expect(waiting({ folder: "notes" })).toEqual(["1", "3"]);
    expect(waiting({ kind: "delete" })).toEqual(["2"]);
    expect(waiting({ agent: "two", folder: "notes" })).toEqual(["3"]);
    expect(waiting({ agent: "gone" })).toEqual([]);
  });

  it("offers to narrow by what waits, and by nothing that has ended", () => {
    const { all, agents, kinds } = optionsOf(
      cards({ id: "1", agent: "b" }, { id: "2", agent: "a" }, { id: "3", agent: "c", state: "Stale" }),
    );
    expect(all).toBe(2);
    expect(agents).toEqual([
      { value: "a", count: 1 },
      { value: "b", count: 1 },
    ]);
    expect(kinds).toEqual([{ value: "edit", count: 2 }]);
  });
});

it("a card that ends while others arrive is replaced, and those that did not change are not drawn again", () => {
  const before = cards({ id: "1" }, { id: "2" }, { id: "3" });
  const [ended] = [...cards({ id: "2", state: "Stale" }).values()];
  const after = merged(before, [ended!], ["3", "never seen"]);
  expect(after.get("1")).toBe(before.get("1"));
  expect(after.get("2")?.section).toBe("outdated");
  expect([...after.keys()]).toEqual(["1", "2"]);
  expect(before.size).toBe(3);
});

it.each([
  ["the next one", ["a", "b", "c"], ["a", "c"], "b", "c"],
  ["the one before it if it was the last", ["a", "b", "c"], ["a", "b"], "c", "b"],
  ["the next that still waits", ["a", "b", "c", "d"], ["a", "d"], "b", "d"],
  ["the nearest before it if none after it waits", ["a", "b", "c", "d"], ["a", "b"], "c", "b"],
  ["nothing if no other waits", ["a"], [], "a", undefined],
  ["nothing if the card did not wait", ["a"], ["a"], "z", undefined],
] as const)("after a decision the focus goes to %s", (_name, before, now, id, next) => {
  expect(nextWaiting(before, now, id)).toBe(next);
});

it.each([
  ["the last drawn one of a section that has more", "b", { section: "waiting", id: "c" }],
  ["one in the middle", "a", undefined],
  ["the last one of a section that is drawn whole", "z", undefined],
  ["no card", undefined, undefined],
] as const)("after %s, %s, the keys go on to %o", (_name, id, next) => {
  const cards = (...ids: string[]) => ids.map((each) => ({ id: each }));
  const lists = {
    waiting: cards("a", "b", "c"),
    outdated: [],
    automatic: [],
    replaced: [],
    decided: cards("z"),
  };
  const drawn = [
    { section: "waiting", cards: cards("a", "b") },
    { section: "decided", cards: cards("z") },
  ] as const;
  expect(firstUndrawn(drawn, lists, id)).toEqual(next);
});
