import type { Observation } from "../platform/folder-reader.ts";
import { workspaceTimes } from "./limits.ts";
import type { Origin } from "./recorder.ts";

/** A name in a folder that has to be looked at (again). Times are the clock's, in milliseconds. */
export interface Pending {
  origin: Origin;
  readonly firstAtMs: number;
  /** When something was last said or seen to change there. */
  changedAtMs: number;
  lookedAtMs: number;
  dueAtMs: number;
  observed: Observation | null;
}

export function newPending(nowMs: number, origin: Origin): Pending {
  return { origin, firstAtMs: nowMs, changedAtMs: nowMs, lookedAtMs: 0, dueAtMs: nowMs, observed: null };
}

/** A hint came while the path was waiting: look soon, but not at each of a thousand hints. */
export function hintAgain(pending: Pending, nowMs: number, origin: Origin): void {
  pending.changedAtMs = nowMs;
  if (origin === "live") pending.origin = "live";
  if (nowMs - pending.lookedAtMs >= workspaceTimes.settleMs / 4) pending.dueAtMs = nowMs;
}

/** A file that was last written long ago is not being written: nothing to wait for. */
export function isLongSettled(observed: Observation, nowMs: number): boolean {
  return nowMs - observed.mtimeMs > workspaceTimes.longSettledMs;
}

/** Whether the file rests, now that it was seen like this; if not, `pending` says when to look again. */
export function settles(pending: Pending, observed: Observation, nowMs: number): boolean {
  const before = pending.observed;
  pending.lookedAtMs = nowMs;
  if (before === null || before.size !== observed.size || before.mtimeMs !== observed.mtimeMs) {
    pending.observed = observed;
    if (before !== null) pending.changedAtMs = nowMs;
  }
  if (isLongSettled(observed, nowMs)) return true;
  if (nowMs - pending.firstAtMs >= workspaceTimes.settleAtMostMs) return true;
  pending.dueAtMs = pending.changedAtMs + workspaceTimes.settleMs;
  return pending.dueAtMs <= nowMs;
}
