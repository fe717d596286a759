import type { ActionState, Hash } from "@lares/sdk";

/** A proposal it made, by what it was about: so that the same is not asked twice. */
export interface Asked {
  content_id: Hash;
  /** The extra copies it was about. */
  paths: string[];
  action: string;
  state: ActionState;
}

/** A file large enough that it should have a second copy. */
export interface LargeFile {
  id: string;
  path: string;
  size: number;
  content_id: Hash | null;
  /** No second copy when last looked; said so once. */
  alone: boolean;
}

/** Working memory. */
export interface Remembered {
  /** An index has been complete once: from then on every new file is looked at by itself. */
  indexed: boolean;
  asked: Asked[];
  large: LargeFile[];
  /** Files whose content was not hashed yet when there was time to look. */
  unhashed: string[];
  /** More groups were found than proposals may wait at once. */
  more: boolean;
}

/** Bounds of the lists: together they stay far below the 1 MiB that one message may have. */
export const maxAsked = 500;
export const maxLarge = 500;
export const maxUnhashed = 500;

export function nothingYet(): Remembered {
  return { indexed: false, asked: [], large: [], unhashed: [], more: false };
}

/** Still waits for a person, or is being carried out. */
export function isOpen(asked: Asked): boolean {
  return asked.state === "PendingApproval" || asked.state === "Approved" || asked.state === "Committing";
}

/** A person said no, before or after: it is not asked again. */
export function wasRefused(asked: Asked): boolean {
  return asked.state === "Rejected" || asked.state === "Undone";
}

/**
 * Of a group's extra copies, those that nobody was asked about. Committed: those files were moved, so a file that is
 * at that path now is another one. Expired, stale or failed: nobody said no.
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

/** Adds a proposal; the oldest that are neither open nor refused go first when the list is full. */
export function withAsked(memory: Remembered, asked: Asked): Remembered {
  const all = [...memory.asked, asked];
  while (all.length > maxAsked) {
    const done = all.findIndex((one) => !isOpen(one) && !wasRefused(one));
    all.splice(Math.max(done, 0), 1);
  }
  return { ...memory, asked: all };
}

/** What is known of the large files, replaced; returns those that have lost, or never had, a second copy and of which nobody was told. */
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
