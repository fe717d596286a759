import { expect, test } from "vitest";
import type { Question } from "../base/vocabulary/ask.ts";
import type { MadeSchedule } from "../base/vocabulary/made-schedule.ts";
import { askAbout } from "./schedule-question.ts";

async function questionAbout(when: MadeSchedule["when"]): Promise<Question> {
  const asked: Question[] = [];
  const isAllowed = async (question: Question): Promise<boolean> => asked.push(question) > 0;
  const schedule: MadeSchedule = {
    id: "s",
    agent: "test.mind",
    conversation: "c",
    prompt: "What is new?",
    when,
    state: "proposed",
    created: "2026-11-27T14:00:00.000Z",
    sources: [],
  };
  await askAbout({ isAllowed })(schedule, new AbortController().signal);
  return asked[0]!;
}

test.each([
  ["* * * * *", undefined, "every minute (UTC)"],
  ["0 3 * * *", undefined, "every day at 03:00 (UTC)"],
  ["30 9 * * 1-5", "08:00-20:00", "at 09:30, Monday through Friday (UTC, 08:00-20:00 only)"],
])("a question about the times %s says them in words", async (cron, activeHours, words) => {
  const when = { cron, timezone: "UTC", ...(activeHours === undefined ? {} : { activeHours }) };
  const { title, about } = await questionAbout(when);
  expect(title).toBe(`May test.mind begin a conversation by itself, ${words}?`);
  // An answer that was given to an earlier version's question still counts.
  expect(about).toContain(`at the times "${cron}" (UTC`);
});

test("a question about one time says it by the clock of this machine", async () => {
  const at = new Date(2026, 10, 27, 14, 9, 19).toISOString();
  expect((await questionAbout({ at })).title).toBe(
    "May test.mind begin a conversation by itself, once, on 27 November 2026 at 14:09?",
  );
});
