import type { Observation } from "../platform/files/folder-reader.ts";
import { workspaceTimes } from "./limits.ts";
import type { Origin } from "./recorder.ts";
import type { FileFacts } from "./tree.ts";

/** A name in a folder that has to be checked (again). Times are the clock's, in milliseconds. */
export interface Pending {
  origin: Origin;
  readonly firstAtMs: number;
  /** When a change was last reported or observed there. */
  changedAtMs: number;
  lookedAtMs: number;
  dueAtMs: number;
  observed: Observation | null;
  /** The file had rested before the change, as far as is known. */
  hadRested: boolean;
  /** The turn in which something that the index does not have was first seen there. */
  sightedTurn: number | null;
}

export function newPending(nowMs: number, origin: Origin): Pending {
  const times = { firstAtMs: nowMs, changedAtMs: nowMs, lookedAtMs: 0, dueAtMs: nowMs };
  return { origin, ...times, observed: null, hadRested: false, sightedTurn: null };
}

/** Another hint arrived for a waiting path: look soon, but not once for each of a thousand hints. */
export function hintAgain(pending: Pending, nowMs: number, origin: Origin): void {
  pending.changedAtMs = nowMs;
  if (origin === "live") pending.origin = "live";
  const nextLookAtMs = pending.lookedAtMs + workspaceTimes.settleMs / 4;
  pending.dueAtMs = Math.min(pending.dueAtMs, Math.max(nowMs, nextLookAtMs));
}

/** A file that was last written long ago is not being written now, so there is nothing to wait for. */
export function isLongSettled(observed: Observation, nowMs: number): boolean {
  return nowMs - observed.mtimeMs > workspaceTimes.longSettledMs;
}

/**
 * Returns true if the file has settled according to this observation; otherwise `pending` says when to look again.
 * `known`: what the index has under that name, if anything.
 */
export function settles(
  pending: Pending,
  observed: Observation,
  known: FileFacts | null,
  nowMs: number,
): boolean {
  const before = pending.observed;
  pending.lookedAtMs = nowMs;
  if (before === null || before.size !== observed.size || before.mtimeMs !== observed.mtimeMs) {
    pending.observed = observed;
    if (before !== null) pending.changedAtMs = nowMs;
    else if (known !== null) pending.hadRested = observed.mtimeMs - known.mtimeMs >= workspaceTimes.restedMs;
  }
  if (isLongSettled(observed, nowMs)) return true;
  if (nowMs - pending.firstAtMs >= workspaceTimes.settleAtMostMs) return true;
  pending.dueAtMs = pending.changedAtMs + restNeededMs(pending, observed, known);
  return pending.dueAtMs <= nowMs;
}

/**
 * Returns how long a file has to be left alone. A save often truncates the file and writes it again, piece by piece. So
 * a file that shrank, keeps changing, or changed shortly before gets the time of a new one.
 */
function restNeededMs(pending: Pending, observed: Observation, known: FileFacts | null): number {
  const { settleMs, settleModifiedMs } = workspaceTimes;
  if (known === null || observed.size < known.size || !pending.hadRested) return settleMs;
  return pending.changedAtMs - pending.firstAtMs < settleMs ? settleModifiedMs : settleMs;
}
