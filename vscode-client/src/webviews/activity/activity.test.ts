import { describe, expect, it } from "vitest";
import { stack } from "../shared/bar-chart.tsx";
import type { ActionLine } from "./messages.ts";
import { actionsPerDay, rememberedPerDay } from "./per-day.ts";
import { fateOf, sentenceOf } from "./sentences.ts";

const nowMs = Date.parse("2026-03-01T12:00:00Z");
const action = (changes: Partial<ActionLine> = {}): ActionLine => ({
  id: "1",
  agent: "storage",
  title: "Move 3 files",
  state: "Committed",
  created: "2026-03-01T11:00:00Z",
  decided: "2026-03-01T11:58:00Z",
  decidedBy: "user",
  effects: 3,
  ...changes,
});

describe("sentences", () => {
  it("say who proposed what, who decided, and when", () =>
    expect(sentenceOf(action(), nowMs)).toBe(
      'storage proposed "Move 3 files" (3 changes): you approved it, 2 minutes ago.',
    ));

  it.each([
    [{ decidedBy: "policy" as const }, "your rules approved it, 2 minutes ago"],
    [{ decidedBy: undefined }, "it was applied, 2 minutes ago"],
    [{ effects: 5, applied: 3 }, "you approved 3 of 5 changes, 2 minutes ago"],
    [{ effects: 5, applied: 3, decidedBy: undefined }, "3 of 5 changes applied, 2 minutes ago"],
    [
      { state: "Undone" as const, effects: 5, applied: 3 },
      "it was undone; you had approved 3 of 5 changes, 2 minutes ago",
    ],
    [{ state: "Undone" as const }, "it was undone; you had approved it, 2 minutes ago"],
    [{ state: "Rejected" as const }, "you rejected it, 2 minutes ago"],
    [{ state: "PendingApproval" as const }, "waits for you since 1 hour ago"],
    [{ state: "Stale" as const }, "its files changed meanwhile, so nothing was applied, 2 minutes ago"],
  ])("%j", (changes, fate) => expect(fateOf(action(changes), nowMs)).toBe(fate));

  it("obey nothing in a title", () =>
    expect(sentenceOf(action({ title: "\u202Etxt.\u001b[2J" }), nowMs)).toContain("<U+202E>txt.␛[2J"));
});

describe("actions per day", () => {
  it("are counted on the day they were proposed on, by what became of them, and only on the days that are shown", () => {
    const bars = actionsPerDay(
      [
        action(),
        action({ state: "Stale" }),
        action({ state: "Failed", created: "2026-02-28T23:59:59Z" }),
        action({ created: "2026-02-27T23:59:59Z" }),
        action({ created: "no time" }),
      ],
      nowMs,
      2,
    );
    expect(bars).toEqual([
      { day: "2026-02-28", counts: { applied: 0, waiting: 0, rejected: 0, failed: 1, undone: 0 } },
      { day: "2026-03-01", counts: { applied: 1, waiting: 0, rejected: 0, failed: 1, undone: 0 } },
    ]);
  });
});

describe("what was remembered", () => {
  it("is added up over agents, by day and by hour", () =>
    expect(
      rememberedPerDay(
        [
          { remembered: { "2026-03-01T00:00:00.000Z": 2, "2026-03-01T05:00:00.000Z": 1 } },
          { remembered: { "2026-03-01": 4 } },
          {},
        ],
        nowMs,
        1,
      ),
    ).toEqual([{ day: "2026-03-01", counts: { remembered: 7 } }]));
});

describe("a bar", () => {
  const series = [
    { kind: "a" as const, label: "a" },
    { kind: "b" as const, label: "b" },
  ];
  it("stands on the ground, its parts on each other", () =>
    expect(stack({ a: 1, b: 3 }, series, 4)).toEqual([
      { kind: "a", y: 48, height: 16 },
      { kind: "b", y: 0, height: 48 },
    ]));
  it("shows what is there at all, however little it is", () =>
    expect(stack({ a: 0, b: 1 }, series, 10_000)).toEqual([{ kind: "b", y: 62, height: 2 }]));
});
