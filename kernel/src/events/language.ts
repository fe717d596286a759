import { compileSchedule } from "./cron.ts";
import { scheduleInWords } from "./cron-words.ts";
import { filterMembers, filterWords } from "./reference.ts";
import { eventTypes, isCustomEvent } from "./types.ts";

/** Returns the language of hooks, for completion and hover. `now` is in milliseconds since 1970. */
export function eventLanguage(now: () => number) {
  return {
    eventTypes,
    isCustomEvent,
    filterWords,
    filterMembers,
    scheduleInWords,
    nextRuns: (expression: string, timezone: string | undefined, nowMs: number, count: number): string[] => {
      const schedule = compileSchedule(expression, timezone, nowMs);
      return schedule.ok ? schedule.nextRuns(nowMs, count) : [];
    },
    now,
  };
}
