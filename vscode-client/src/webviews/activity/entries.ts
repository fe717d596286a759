import { counted } from "../shared/format.ts";
import type { ActionLine, AgentRow, Failure, Overview } from "./messages.ts";

/** An entry of the timeline. */
export type Entry =
  | { readonly kind: "action"; readonly at: string; readonly action: ActionLine }
  | { readonly kind: "failure"; readonly at: string; readonly failure: Failure };

export type Show = "everything" | "changes" | "failures";

interface EntryFilter {
  /** "2026-11-22" in the local zone. */
  readonly day: string;
  readonly show: Show;
  /** An agent's id, or an empty text for all agents. */
  readonly agent: string;
}

/** Returns the entries of a day, newest first. Actions that wait for a person have no day and are not included. */
export function entriesOf({ actions, failures }: Overview, { day, show, agent }: EntryFilter): Entry[] {
  const entries: Entry[] = [
    ...(show === "failures" ? [] : actions.filter(hasHappened)).map((action): Entry => ({
      kind: "action",
      at: action.at,
      action,
    })),
    ...(show === "changes" ? [] : failures).map((failure): Entry => ({
      kind: "failure",
      at: failure.at,
      failure,
    })),
  ];
  return entries
    .filter((entry) => localDay(entry.at) === day && (agent === "" || agentOf(entry) === agent))
    .toSorted((one, other) => (one.at < other.at ? 1 : one.at > other.at ? -1 : 0));
}

export function hasHappened({ state }: ActionLine): boolean {
  return state !== "PendingApproval" && state !== "Approved" && state !== "Committing";
}

function agentOf(entry: Entry): string {
  return entry.kind === "action" ? entry.action.agent : entry.failure.agent;
}

/** Returns "2026-11-22" in the local zone, or an empty text if it is not a time. */
export function localDay(time: string | number): string {
  const at = new Date(time);
  if (Number.isNaN(at.getTime())) return "";
  const two = (value: number): string => String(value).padStart(2, "0");
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
}

/** Returns the day that is `days` later, or earlier if `days` is negative. */
export function dayAfter(day: string, days: number): string {
  const [year = 0, month = 1, date = 1] = day.split("-").map(Number);
  return localDay(new Date(year, month - 1, date + days, 12).getTime());
}

/** Returns "Today", "Yesterday", or "Sunday, 22 November". */
export function dayTitle(day: string, today: string): string {
  if (day === today) return "Today";
  return day === dayAfter(today, -1) ? "Yesterday" : dayDate(day);
}

const weekday = new Intl.DateTimeFormat("en-GB", { weekday: "long" });
const dayAndMonth = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "long" });

export function dayDate(day: string): string {
  const [year = 0, month = 1, date = 1] = day.split("-").map(Number);
  const at = new Date(year, month - 1, date, 12);
  return `${weekday.format(at)}, ${dayAndMonth.format(at)}`;
}

/** Summarizes the day in a few sentences: changes by who decided them, what was undone, and which agents fail now. */
export function summaryOfDay(
  entries: readonly Entry[],
  agents: readonly AgentRow[],
  isToday: boolean,
): string {
  const actions = entries.flatMap((entry) => (entry.kind === "action" ? [entry.action] : []));
  const applied = actions.filter(({ state }) => state === "Committed");
  const byUser = applied.filter(({ decidedBy }) => decidedBy === "user").length;
  const byRule = applied.filter(({ decidedBy }) => decidedBy === "policy").length;
  const undone = actions.filter(({ state }) => state === "Undone").length;
  const rejected = actions.filter(({ state }) => state === "Rejected").length;
  const who = new Set(applied.map(({ agent }) => agent)).size;
  const parts = [
    ...(byUser > 0 ? [`${byUser} approved by you`] : []),
    ...(byRule > 0 ? [`${byRule} automatic`] : []),
  ];
  const failing = isToday ? agents.filter(({ kind }) => isFailingKind(kind)).length : 0;
  const sentences = [
    ...(applied.length === 0
      ? undone > 0
        ? []
        : ["No file was changed."]
      : [
          `${counted(applied.length, "change")} by ${counted(who, "agent")}${parts.length > 0 ? `: ${parts.join(", ")}` : ""}.`,
        ]),
    ...(undone > 0 ? [`You undid ${counted(undone, "change")}.`] : []),
    ...(rejected > 0 ? [`${counted(rejected, "change was", "changes were")} rejected.`] : []),
    ...(failing > 0 ? [failing === 1 ? "1 agent fails." : `${failing} agents fail.`] : []),
  ];
  return sentences.join(" ");
}

export function isFailingKind(kind: AgentRow["kind"]): boolean {
  return kind === "manifest" || kind === "error" || kind === "failed";
}

/** Returns the outcome of an action, in words that name the actor. */
export function verbOf({ state, decidedBy, effects, applied }: ActionLine): string {
  const part = applied === undefined ? "" : `${applied} of ${counted(effects, "change")} of `;
  switch (state) {
    case "PendingApproval":
      return "Waits for you:";
    case "Approved":
    case "Committing":
      return "Is being applied:";
    case "Committed":
      return decidedBy === "user" ? `You approved ${part}` : `Applied automatically: ${part}`;
    case "Rejected":
      return decidedBy === "user" ? "You rejected" : "Refused by a rule:";
    case "Expired":
      return "Expired without an answer:";
    case "Stale":
      return "Out of date, because its files changed:";
    case "Failed":
      return "Could not be applied, and nothing was changed:";
    case "Undone":
      return `You undid ${part}`;
  }
}
