import { describe, expect, it } from "vitest";
import { dayAfter, dayTitle, entriesOf, localDay, summaryOfDay, verbOf } from "./entries.ts";
import type { ActionLine, AgentRow, Failure, Overview } from "./messages.ts";

/** Times of a day in the zone of this machine, whichever that is. */
const at = (date: number, hour: number): string => new Date(2026, 2, date, hour).toISOString();
const today = "2026-03-10";
const action = (changes: Partial<ActionLine> = {}): ActionLine => ({
  id: "1",
  agent: "storage",
  title: "Move 3 files",
  state: "Committed",
  at: at(10, 11),
  decidedBy: "user",
  files: [{ path: "b.txt", from: "a.txt" }],
  effects: 3,
  deletes: 0,
  ...changes,
});
const failure: Failure = {
  agent: "titles",
  message: "TypeError",
  since: at(10, 8),
  at: at(10, 9),
  count: 13,
};
const row: AgentRow = { id: "titles", kind: "failed", words: "Last run failed at 10:41" };
const overview = (changes: Partial<Overview>): Overview => ({
  actions: [],
  agents: [],
  moreAgents: 0,
  failures: [],
  ...changes,
});

describe("the timeline", () => {
  const all = overview({
    actions: [
      action({ id: "late", at: at(10, 12) }),
      action({ id: "early", at: at(10, 7) }),
      action({ id: "yesterday", at: at(9, 12) }),
      action({ id: "waits", at: at(10, 10), state: "PendingApproval" }),
      action({ id: "no time", at: "nonsense" }),
    ],
    failures: [failure],
  });
  const idsOf = (filter: Partial<Parameters<typeof entriesOf>[1]>): string[] =>
    entriesOf(all, { day: today, show: "everything", agent: "", ...filter }).map((entry) =>
      entry.kind === "action" ? entry.action.id : "failure",
    );

  it("shows what happened on one day, newest first, without pending changes", () =>
    expect(idsOf({})).toEqual(["late", "failure", "early"]));

  it("is filtered by kind, by agent and by day", () => {
    expect(idsOf({ show: "changes" })).toEqual(["late", "early"]);
    expect(idsOf({ show: "failures" })).toEqual(["failure"]);
    expect(idsOf({ agent: "titles" })).toEqual(["failure"]);
    expect(idsOf({ day: "2026-03-09" })).toEqual(["yesterday"]);
  });
});

describe("the day's summary", () => {
  const entry = (changes: Partial<ActionLine>) =>
    ({ kind: "action", at: today, action: action(changes) }) as const;

  it("counts changes by who decided them, and names failing agents", () =>
    expect(
      summaryOfDay(
        [
          entry({}),
          entry({ agent: "notes" }),
          entry({ decidedBy: "policy" }),
          entry({ state: "Undone" }),
          entry({ state: "Rejected" }),
        ],
        [row],
        true,
      ),
    ).toBe(
      "3 changes by 2 agents: 2 approved by you, 1 automatic. You undid 1 change. 1 change was rejected. 1 agent fails.",
    ));

  it("says of an empty day that nothing was changed, and omits the agents' current state for a past day", () =>
    expect(summaryOfDay([], [row], false)).toBe("No file was changed."));

  it("says of undone changes only that they were undone", () =>
    expect(summaryOfDay([entry({ state: "Undone" })], [], true)).toBe("You undid 1 change."));
});

it.each<[Partial<ActionLine>, string]>([
  [{}, "You approved "],
  [{ effects: 5, applied: 3 }, "You approved 3 of 5 changes of "],
  [{ decidedBy: "policy" }, "Applied automatically: "],
  [{ state: "Undone" }, "You undid "],
  [{ state: "Rejected" }, "You rejected"],
  [{ state: "Rejected", decidedBy: "policy" }, "Refused by a rule:"],
  [{ state: "Stale" }, "Out of date, because its files changed:"],
  [{ state: "Expired" }, "Expired without an answer:"],
])("what became of an action names the actor: %j", (changes, words) => {
  expect(verbOf(action(changes))).toBe(words);
});

it("days follow each other across the ends of months, and the last two have names", () => {
  expect(dayAfter("2026-03-01", -1)).toBe("2026-02-28");
  expect(dayAfter("2026-12-31", 1)).toBe("2027-01-01");
  expect([0, -1, -2].map((days) => dayTitle(dayAfter(today, days), today))).toEqual([
    "Today",
    "Yesterday",
    "Sunday, 8 March",
  ]);
  expect(localDay("nonsense")).toBe("");
});
