import { expect, test } from "vitest";
import { compileSchedule, maxCronLength } from "./cron.ts";
import { scheduleInWords } from "./cron-words.ts";

test.each([
  ["0 3 * * *", "Every day at 03:00"],
  ["@daily", "Every day at 00:00"],
  ["*/15 * * * *", "Every 15 minutes"],
  ["0 9 * * 1-5", "At 09:00, Monday through Friday"],
  ["30 0 3 * * *", "Every day at 03:00:30"],
  ["0 3 L * *", "At 03:00, on the last day of the month"],
  ["never", null],
  ["", null],
  ["0 25 * * *", null],
  ["* ".repeat(maxCronLength), null],
])("%s: %s", async (expression, words) => {
  expect(await scheduleInWords(expression)).toBe(words);
});

test.each([
  "@yearly",
  "@annually",
  "@monthly",
  "@weekly",
  "@daily",
  "@hourly",
  "0 3 * * SUN#2",
  "0 0 29 2 *",
])("what counts as a schedule has words: %s", async (expression) => {
  expect(compileSchedule(expression, undefined, 0).ok).toBe(true);
  expect(await scheduleInWords(expression)).toMatch(/\w+ \w+/);
});
