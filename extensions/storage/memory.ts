import type { ActionState, Hash } from "@lares/sdk";

/** A proposal that this agent made, by its subject, so that the same is not asked twice. */
export interface Asked {
  content_id: Hash;
  /** The extra copies that it concerns. */
  paths: string[];
  action: string;
  state: ActionState;
}

/** A file so large that it should have a second copy. */
export interface LargeFile {
  id: string;
  path: string;
  size: number;
  content_id: Hash | null;
  /** It had no second copy at the last look, and this was reported. */
  alone: boolean;
}

/** A proposal to move cold files. */
export interface ColdProposal {
  readonly action: string;
  /** An id stays the same where a file is renamed. */
  readonly files: readonly { readonly id: string; readonly path: string }[];
}

export interface ColdMemory {
  /** The one that waits for an answer. */
  readonly open: ColdProposal | null;
  /** The last ones that were carried out: they may be undone. */
  readonly moved: readonly ColdProposal[];
  /** The ids of files that a person does not want to be moved, newest last. */
  readonly refused: readonly string[];
  /** No move is suggested before this time. Milliseconds since 1970. */
  readonly restUntil: number;
}

/** Files whose refusal is remembered; with more, nothing is suggested any more. */
export const maxColdRefused = 5_000;
/** Proposals that were carried out and are looked at again, in case they were undone. */
export const maxColdMoved = 20;
/** For how long nothing is suggested after a refusal: 30 days. */
export const coldRestMs = 30 * 24 * 3_600_000;

/** Working memory. */
export interface Remembered {
  /** An index has been complete once: from then on every new file is examined by itself. */
  indexed: boolean;
  asked: Asked[];
  large: LargeFile[];
  /** Files that were not hashed yet when they were examined. */
  unhashed: string[];
  /** There are more groups than proposals may wait at once. */
  more: boolean;
  /** Absent in what an earlier version remembered. */
  cold?: ColdMemory;
}

/** Bounds of the lists: together they stay far below the 1 MiB that one message may have. */
export const maxAsked = 500;
export const maxLarge = 500;
export const maxUnhashed = 500;

export function nothingYet(): Remembered {
  return { indexed: false, asked: [], large: [], unhashed: [], more: false };
}

export function coldIn({ cold }: Remembered): ColdMemory {
  return cold ?? { open: null, moved: [], refused: [], restUntil: 0 };
}

/** True if it still waits for a person, or is being carried out. */
export function isOpen(asked: Asked): boolean {
  return isWaiting(asked.state);
}

export function isWaiting(state: ActionState): boolean {
  return state === "PendingApproval" || state === "Approved" || state === "Committing";
}

/** True if a person refused it, before or after it was carried out; it is not proposed again. */
function wasRefused(asked: Asked): boolean {
  return asked.state === "Rejected" || asked.state === "Undone";
}

/**
 * Returns those of a group's extra copies that were never proposed. After Committed the files were moved, so a file at
 * that path now is another one. Expired, Stale or Failed is not a refusal.
 */
export function unasked(
  extra: readonly string[],
  content_id: Hash,
  asked: readonly Asked[],
  { again }: { again: boolean },
): string[] {
  const covered = new Set(
    asked
      .filter((one) => one.content_id === content_id && (isOpen(one) || (wasRefused(one) && !again)))
      .flatMap((one) => one.paths),
  );
  return extra.filter((path) => !covered.has(path));
}

/** Adds a proposal; if the list is full, drops the oldest that are neither open nor refused. */
export function withAsked(memory: Remembered, asked: Asked): Remembered {
  const all = [...memory.asked, asked];
  while (all.length > maxAsked) {
    const done = all.findIndex((one) => !isOpen(one) && !wasRefused(one));
    all.splice(Math.max(done, 0), 1);
  }
  return { ...memory, asked: all };
}

/** Replaces what is known of the large files. Returns those without a second copy that were not reported yet. */
export function withLarge(
  memory: Remembered,
  seen: readonly LargeFile[],
): { memory: Remembered; alone: LargeFile[] } {
  const before = new Map(memory.large.map((file) => [file.id, file]));
  const alone = seen.filter((file) => file.alone && before.get(file.id)?.alone !== true);
  const merged = new Map([...before, ...seen.map((file) => [file.id, file] as const)]);
  const large = [...merged.values()].toSorted((a, b) => b.size - a.size).slice(0, maxLarge);
  return { memory: { ...memory, large }, alone };
}
