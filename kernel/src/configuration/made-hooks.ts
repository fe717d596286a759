import type { Clock } from "../base/clock.ts";
import { invalidParams } from "../base/errors.ts";
import type { HookDefinition } from "../base/vocabulary/agent-definition.ts";
import { type MadeSchedule, madeHandler } from "../base/vocabulary/made-schedule.ts";
import { compileSchedule } from "../events/cron.ts";
import { hookOf } from "./definitions.ts";

/** Returns a made schedule as a hook. A run that was missed is made up for once; InvalidParams if there is no such time. */
export function hookOfMade(schedule: MadeSchedule, clock: Clock): HookDefinition {
  const { when, prompt } = schedule;
  const handler = madeHandler(schedule);
  const name = prompt.split("\n", 1)[0] ?? "";
  if ("cron" in when) {
    const { cron, timezone, activeHours } = when;
    const compiled = compileSchedule(cron, timezone, clock.now(), activeHours);
    if (!compiled.ok) throw invalidParams(compiled.message, { path: compiled.part });
    const hook = hookOf(
      {
        kind: "schedule",
        schedule: cron,
        timezone,
        catchUp: "once",
        handler,
        prompt: handler,
        ...(activeHours === undefined ? {} : { activeHours }),
      },
      clock,
      new Map([[handler, prompt]]),
    );
    return hook.prompt === undefined ? hook : { ...hook, prompt: { ...hook.prompt, name } };
  }
  const atMs = Date.parse(when.at);
  return {
    handler,
    schedule: `at ${when.at}`,
    prompt: { name, text: prompt, target: "notify" },
    accepts: () => ({ passed: false }),
    nextRun: () => (atMs > clock.now() ? when.at : null),
    timing: {
      timezone: "UTC",
      catchUp: "once",
      overlap: "skip",
      jitterMs: 0,
      isActive: () => true,
      next: (afterMs) => (atMs > afterMs ? atMs : null),
      between: (afterMs, throughMs) => (atMs > afterMs && atMs <= throughMs ? [atMs] : []),
    },
  };
}
