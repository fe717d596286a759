import { named } from "../base/named.ts";
import type { Asking, Question } from "../base/vocabulary/ask.ts";
import type { MadeSchedule } from "../base/vocabulary/made-schedule.ts";
import { quotedText, visibleText } from "../base/visible-text.ts";
import { scheduleInWords } from "../events/cron-words.ts";

interface AsksPerson {
  isAllowed(question: Question, signal: AbortSignal, asking?: Asking): Promise<boolean>;
}

/** Returns what asks the person whether they accept a schedule. */
export function askAbout(
  asks: AsksPerson,
): (schedule: MadeSchedule, signal: AbortSignal) => Promise<boolean> {
  // The next kernel asks with the same key, and gets the same question or the answer that it had meanwhile.
  return async (schedule, signal) =>
    asks.isAllowed(await questionOf(schedule), signal, {
      key: `schedule ${schedule.id}`,
      changed: () => undefined,
      isPausing: () => false,
    });
}

/**
 * Returns when a schedule runs, as a clause. An answer is found again by these words, also one to an earlier version's
 * question.
 */
export function timesOf({ when }: Pick<MadeSchedule, "when">): string {
  return "at" in when ? `once, at ${when.at}` : `at the times ${quotedText(when.cron)} ${placeOf(when)}`;
}

async function questionOf(schedule: MadeSchedule) {
  const { agent, conversation, prompt, when, sources } = schedule;
  const times = timesOf(schedule);
  return {
    agent,
    conversation,
    process: "channel" as const,
    kind: "schedule" as const,
    title: `May ${visibleText(named(agent))} begin a conversation by itself, ${await timesInWords(when)}?`,
    reason: `Each time it would send itself this message, and tell you the answer: ${quotedText(prompt)}`,
    sources: [...sources],
    facts: { prompt, ...when },
    scopes: ["once" as const],
    about: `${times}: ${prompt}`,
    countsFor: "agent" as const,
  };
}

type Repeating = Extract<MadeSchedule["when"], { cron: string }>;

/** "(Europe/Berlin, 08:00-20:00 only)" */
function placeOf({ timezone, activeHours }: Repeating): string {
  return `(${visibleText(timezone)}${activeHours === undefined ? "" : `, ${activeHours} only`})`;
}

/** "once, on 27 November 2026 at 14:09", at this machine's clock; "every day at 03:00 (Europe/Berlin)" */
async function timesInWords(when: MadeSchedule["when"]): Promise<string> {
  if ("at" in when) {
    const time = new Date(when.at);
    const day = time.toLocaleDateString("en-GB", { day: "numeric", month: "long", year: "numeric" });
    const clock = time.toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" });
    return `once, on ${day} at ${clock}`;
  }
  const words = await scheduleInWords(when.cron);
  const times =
    words === null
      ? `at the times ${quotedText(when.cron)}`
      : visibleText(words.charAt(0).toLowerCase() + words.slice(1));
  return `${times} ${placeOf(when)}`;
}
