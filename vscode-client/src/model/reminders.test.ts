import { EventEmitter } from "vscode";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { Action } from "../protocol.ts";
import { action } from "../testing/things.ts";
import type { Reminder } from "./ports.ts";
import { Reminders } from "./reminders.ts";

const start = Date.parse("2026-01-01T12:00:00.000Z");
beforeEach(() => void vi.useFakeTimers({ now: start }));
afterEach(() => void vi.useRealTimers());

type Question = { readonly digest: `sha256:${string}`; readonly title: string };
const questionOf = (digest: string): Question => ({
  digest: `sha256:${digest}`,
  title: `Question ${digest}`,
});

function remind(pending: readonly Action[], afterMinutes = 10, first: Question | null = null) {
  let question = first;
  const asked = new EventEmitter<void>();
  const changed = new EventEmitter<void>();
  const actions = { pending, onDidChange: changed.event };
  const told: Reminder[] = [];
  const reminders = new Reminders(actions, (id) => id, {
    question: () => question,
    onDidChangeQuestion: asked.event,
    now: () => Date.now(),
    afterMinutes: () => afterMinutes,
  });
  reminders.onDidRemind((reminder) => void told.push(reminder));
  const set = (now: readonly Action[]): void => {
    actions.pending = now;
    changed.fire();
  };
  const ask = (now: Question | null): void => {
    question = now;
    asked.fire();
  };
  return { told, set, ask, reminders };
}

it("a change that waits longer than configured is announced once", () => {
  const { told, set } = remind([action({ title: "Tidy up" })]);
  vi.advanceTimersByTime(9 * 60_000);
  expect(told).toEqual([]);
  vi.advanceTimersByTime(60_000);
  expect(told).toEqual([
    {
      about: "changes",
      title: "Lares: 1 change has waited for you for 10 minutes or more",
      body: "test.agent: Tidy up",
    },
  ]);
  set([action({})]);
  vi.advanceTimersByTime(60 * 60_000);
  expect(told).toHaveLength(1);
});

it("a change that was decided in time is not announced", () => {
  const { told, set } = remind([action({})]);
  set([]);
  vi.advanceTimersByTime(60 * 60_000);
  expect(told).toEqual([]);
});

it("several that are due together get one announcement, and 0 minutes disables it", () => {
  const many = Array.from({ length: 5 }, (_, index) => action({ id: `${index}`, title: `Change ${index}` }));
  const { told } = remind(many);
  const none = remind(many, 0);
  vi.advanceTimersByTime(10 * 60_000);
  expect(told).toHaveLength(1);
  expect(told[0]?.title).toBe("Lares: 5 changes wait for you, one of them for 10 minutes or more");
  expect(told[0]?.body).toContain("and 2 more");
  expect(none.told).toEqual([]);
});

it("consecutive changes are announced with the first that is due, and not again", () => {
  const many = Array.from({ length: 5 }, (_, index) =>
    action({ id: `${index}`, created: new Date(start + index * 60_000).toISOString() }),
  );
  const { told, set } = remind(many);
  vi.advanceTimersByTime(30 * 60_000);
  expect(told).toHaveLength(1);
  expect(told[0]?.title).toContain("5 changes wait for you");
  set([...many, action({ id: "later", created: new Date(Date.now()).toISOString() })]);
  vi.advanceTimersByTime(10 * 60_000);
  expect(told.slice(1).map(({ title }) => title)).toEqual([
    "Lares: 1 change has waited for you for 10 minutes or more",
  ]);
});

it("an agent's text in a reminder is plain", () => {
  const { told } = remind([
    action({ title: "$(trash)\n[x](command:y)", created: "2026-01-01T11:00:00.000Z" }),
  ]);
  vi.advanceTimersByTime(1);
  expect(told).toEqual([]);
  const later = remind([]);
  later.set([action({ title: "a\n[x](command:y)", created: "2026-01-01T11:00:00.000Z" })]);
  expect(later.told[0]?.body).not.toMatch(/\n|\]\(command/);
});

it("a question about permissions that waits longer than configured is announced once, besides the changes", () => {
  const { told, ask, set } = remind([], 10, questionOf("1"));
  vi.advanceTimersByTime(9 * 60_000);
  set([action({ created: "2026-01-01T12:09:00.000Z" })]);
  ask(questionOf("1"));
  vi.advanceTimersByTime(60_000);
  expect(told).toEqual([
    {
      about: "permissions",
      title: "Lares: a question about permissions has waited for you for 10 minutes or more",
      body: "Question 1",
    },
  ]);
  vi.advanceTimersByTime(60 * 60_000);
  expect(told.map(({ about }) => about)).toEqual(["permissions", "changes"]);
});

it("a new question starts its own wait, and an answered or postponed one is not announced", () => {
  const { told, ask } = remind([], 10, questionOf("1"));
  vi.advanceTimersByTime(9 * 60_000);
  ask(questionOf("2"));
  vi.advanceTimersByTime(9 * 60_000);
  expect(told).toEqual([]);
  ask(null);
  vi.advanceTimersByTime(60 * 60_000);
  expect(told).toEqual([]);
});
