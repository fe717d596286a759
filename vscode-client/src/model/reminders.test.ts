import { EventEmitter } from "vscode";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { Action } from "../protocol.ts";
import { action } from "../testing/things.ts";
import type { Reminder } from "./ports.ts";
import { Reminders } from "./reminders.ts";

const start = Date.parse("2026-01-01T12:00:00.000Z");
beforeEach(() => void vi.useFakeTimers({ now: start }));
afterEach(() => void vi.useRealTimers());

function remind(pending: readonly Action[], afterMinutes = 10) {
  const changed = new EventEmitter<void>();
  const actions = { pending, onDidChange: changed.event };
  const told: Reminder[] = [];
  const reminders = new Reminders(actions, (id) => id, {
    now: () => Date.now(),
    afterMinutes: () => afterMinutes,
  });
  reminders.onDidRemind((reminder) => void told.push(reminder));
  const set = (now: readonly Action[]): void => {
    actions.pending = now;
    changed.fire();
  };
  return { told, set, reminders };
}

it("a change that waits longer than the setting says is announced once", () => {
  const { told, set } = remind([action({ title: "Tidy up" })]);
  vi.advanceTimersByTime(9 * 60_000);
  expect(told).toEqual([]);
  vi.advanceTimersByTime(60_000);
  expect(told).toEqual([
    { title: "Lares: 1 change has waited for you for 10 minutes or more", body: "test.agent: Tidy up" },
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

it("several that are due together are one announcement, and 0 minutes is none", () => {
  const many = Array.from({ length: 5 }, (_, index) => action({ id: `${index}`, title: `Change ${index}` }));
  const { told } = remind(many);
  const none = remind(many, 0);
  vi.advanceTimersByTime(10 * 60_000);
  expect(told).toHaveLength(1);
  expect(told[0]?.title).toContain("5 changes have waited");
  expect(told[0]?.body).toContain("and 2 more");
  expect(none.told).toEqual([]);
});

it("what an agent says in a reminder is plain", () => {
  const { told } = remind([
    action({ title: "$(trash)\n[x](command:y)", created: "2026-01-01T11:00:00.000Z" }),
  ]);
  vi.advanceTimersByTime(1);
  expect(told).toEqual([]);
  const later = remind([]);
  later.set([action({ title: "a\n[x](command:y)", created: "2026-01-01T11:00:00.000Z" })]);
  expect(later.told[0]?.body).not.toMatch(/\n|\]\(command/);
});
