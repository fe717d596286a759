import { isoTime } from "../base/clock.ts";
import { endedStates, type Process, waitsForFollowUp } from "../base/vocabulary/conversation.ts";
import type { SuffixPart } from "../context/context.ts";
import { headOf, quoted } from "../context/data-text.ts";
import type { ConversationState } from "../conversations/fold.ts";
import type { DecidedChange } from "./decided-changes.ts";

/** A branch that is over sooner is not worth a line. */
const shownBranchMs = 3_000;
/** How long what has ended is shown, and how many at most. */
const endedShownMs = 15 * 60_000;
const maxEnded = 8;
const maxTaskCharacters = 200;
/** Decisions of the person that are shown. */
const maxDecided = 8;
const decidedAs: Readonly<Record<DecidedChange["how"], string>> = {
  approved: "approved and made",
  rejected: "rejected, so it was not made",
  undone: "undone, so it no longer stands",
};

/**
 * Returns how things stand in a conversation at this moment: what runs, what ended lately, what the person decided about
 * changes, whoever proposed them, and what waits for the person.
 */
export function suffixOf(
  { processes, references }: Pick<ConversationState, "processes" | "references">,
  process: Process,
  nowMs: number,
  decided: readonly DecidedChange[] = [],
): SuffixPart[] {
  const time = { name: "time", text: `It is ${isoTime(nowMs).slice(0, 16)}Z.` };
  if (process.kind !== "channel" && process.kind !== "cortex") return [time];
  const others = processes.filter(({ id, kind }) => id !== process.id && kind !== "channel");
  const running = others.filter(
    (other) =>
      !endedStates.has(other.state) &&
      !waitsForFollowUp(other) &&
      (other.kind !== "branch" || nowMs - Date.parse(other.started) >= shownBranchMs),
  );
  const reported = others.filter(waitsForFollowUp);
  const ended = others
    .filter(
      ({ kind, state, started, ended: at }) =>
        endedStates.has(state) &&
        at !== undefined &&
        nowMs - Date.parse(at) < endedShownMs &&
        (kind !== "branch" || Date.parse(at) - Date.parse(started) >= shownBranchMs),
    )
    .slice(-maxEnded);
  const told = decided
    .filter(({ how, at }) => how !== "approved" || nowMs - Date.parse(at) < endedShownMs)
    .slice(-maxDecided);
  const status = [
    ...(running.length === 0 ? [] : ["Running:", ...running.map((each) => lineOf(each, nowMs))]),
    ...(reported.length === 0
      ? []
      : ["Reported, and ready for a follow-up by route:", ...reported.map((each) => lineOf(each, nowMs))]),
    ...(ended.length === 0 ? [] : ["Ended lately:", ...ended.map((each) => lineOf(each, nowMs))]),
    ...(told.length === 0 ? [] : ["Decided by the person about changes:", ...told.map(decidedLine)]),
    ...(references.length === 0
      ? []
      : [
          `${references.length} ${references.length === 1 ? "question waits" : "questions wait"} for the person.`,
        ]),
  ];
  return status.length === 0 ? [time] : [{ name: "status", text: status.join("\n") }, time];
}

function lineOf(
  { id, kind, name, state, task = "", status, started, ended, expires, error }: Process,
  nowMs: number,
): string {
  const what = name === undefined ? kind : `${kind} (${name})`;
  const short = task.length > maxTaskCharacters ? `${headOf(task, maxTaskCharacters)}…` : task;
  const since = Math.round((nowMs - Date.parse(ended ?? started)) / 1000);
  const how =
    expires !== undefined
      ? `ends at ${expires.slice(0, 16)}Z if none comes`
      : ended === undefined
        ? `${state}, for ${since} s`
        : `${state}, ${since} s ago`;
  const more = [status, error?.message]
    .filter((text) => text !== undefined)
    .map(shortened)
    .join("; ");
  return `- ${what} ${id}: ${quoted(short)}, ${how}${more === "" ? "" : `: ${more}`}`;
}

function decidedLine({ id, how, title, reason, at }: DecidedChange): string {
  const why = reason === undefined ? "" : `, because of ${shortened(reason)}`;
  return `- action ${id}, ${shortened(title)}: ${decidedAs[how]}${why}, at ${at.slice(0, 16)}Z`;
}

function shortened(text: string): string {
  return quoted(headOf(text, maxTaskCharacters));
}
