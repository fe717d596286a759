import { madeScheduleRows } from "../../agent-state/made-schedules.ts";
import type { Asks } from "../../asks/asks.ts";
import type { Clock } from "../../base/clock.ts";
import { invalidParams } from "../../base/errors.ts";
import { named } from "../../base/named.ts";
import type { HookDefinition } from "../../base/vocabulary/agent-definition.ts";
import { type MadeSchedule, madeHandler } from "../../base/vocabulary/made-schedule.ts";
import { quotedText, visibleText } from "../../base/visible-text.ts";
import { hookOf } from "../../configuration/definitions.ts";
import { compileSchedule } from "../../events/cron.ts";
import { MadeSchedules } from "../../minds/made-schedules.ts";
import type { Database } from "../../platform/database/database.ts";
import type { KernelContext } from "./kernel-context.ts";

/** Opens the schedules that minds made. None runs, and nobody is asked, before agents are known. */
export async function openMadeSchedules(
  { clock, log }: Pick<KernelContext, "clock" | "log">,
  { database, asks }: { readonly database: Database; readonly asks: Asks },
): Promise<MadeSchedules> {
  return await MadeSchedules.open({
    clock,
    log,
    rows: madeScheduleRows(database),
    hookOf: (schedule) => hookOfMade(schedule, clock),
    // The next kernel asks with the same key, and gets the same question or the answer that it had meanwhile.
    ask: (schedule, signal) =>
      asks.isAllowed(questionOf(schedule), signal, {
        key: `schedule ${schedule.id}`,
        changed: () => undefined,
        isPausing: () => false,
      }),
  });
}

/** Returns a made schedule as a hook. A run that was missed is made up for once; InvalidParams if there is no such time. */
function hookOfMade(schedule: MadeSchedule, clock: Clock): HookDefinition {
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

function questionOf({ agent, conversation, prompt, when, sources }: MadeSchedule) {
  const times =
    "at" in when
      ? `once, at ${when.at}`
      : `at the times ${quotedText(when.cron)} (${visibleText(when.timezone)}${when.activeHours === undefined ? "" : `, ${when.activeHours} only`})`;
  return {
    agent,
    conversation,
    process: "channel" as const,
    kind: "schedule" as const,
    title: `May ${visibleText(named(agent))} begin a conversation by itself, ${times}?`,
    reason: `Each time it would send itself this message, and tell you the answer: ${quotedText(prompt)}`,
    sources: [...sources],
    facts: { prompt, ...when },
    scopes: ["once" as const],
    about: `${times}: ${prompt}`,
    countsFor: "agent" as const,
  };
}
