import type { ActiveHours } from "../base/vocabulary/agent-definition.ts";
import type { Process } from "../base/vocabulary/conversation.ts";
import type { MindPorts, ProcessLog } from "./ports.ts";

/** The message that a schedule sends to a mind. */
export interface SchedulePrompt {
  readonly name: string;
  readonly text: string;
  readonly activeHours?: ActiveHours;
  /** IANA name. */
  readonly timezone: string;
}

/** Returns whether a time is within the hours in which a schedule may speak. */
export function isActive(
  { activeHours, timezone }: Pick<SchedulePrompt, "activeHours" | "timezone">,
  nowMs: number,
): boolean {
  if (activeHours === undefined) return true;
  const { fromMinutes, untilMinutes } = activeHours;
  const minutes = minutesOf(timezone, nowMs);
  return fromMinutes <= untilMinutes
    ? minutes >= fromMinutes && minutes < untilMinutes
    : minutes >= fromMinutes || minutes < untilMinutes;
}

const announcedCharacters = 4_000;

/** Returns how a turn that a schedule began is announced; null if there is nothing to say. */
function endOf(
  { error }: Pick<Process, "error">,
  answer: string,
): { readonly message: string; readonly severity: "info" | "warning" } | null {
  const message = error?.message ?? answer;
  if (message === "") return null;
  return {
    message: message.slice(0, announcedCharacters).toWellFormed(),
    severity: error === undefined ? "info" : "warning",
  };
}

/** Announces the end of such a turn, because nobody looks at its conversation. */
export function notifyEnd(
  { ports, log }: { readonly ports: Pick<MindPorts, "notify">; readonly log: ProcessLog },
  channel: Process,
  answer: string,
): void {
  const end = endOf(channel, answer);
  if (end !== null) ports.notify({ agent: log.header.agent, title: log.state.title, ...end });
}

/** Returns the minutes since midnight by the clocks of a time zone. */
function minutesOf(timeZone: string, nowMs: number): number {
  const parts = new Intl.DateTimeFormat("en-GB", {
    timeZone,
    hour: "2-digit",
    minute: "2-digit",
    hourCycle: "h23",
  }).formatToParts(nowMs);
  const of = (type: "hour" | "minute"): number => Number(parts.find((part) => part.type === type)?.value);
  return of("hour") * 60 + of("minute");
}
