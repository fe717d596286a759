import { parsePatch } from "diff";
import { effectPaths } from "../model/effect-text.ts";
import type { Action, Effect } from "../protocol.ts";

/** At most this many lines of one file are marked. */
export const maxMarks = 1000;

/** A line of the file as it is, counted from 0, that a change would touch. */
export interface Mark {
  readonly line: number;
  /** "inserted": what the change adds comes before this line, which stays. */
  readonly kind: "changed" | "inserted";
}

/** The lines that a unified diff touches in the text it starts from; none where it is not one. */
export function markedLines(diff: string): readonly Mark[] {
  const marks: Mark[] = [];
  for (const { hunks } of parsed(diff)) {
    for (const { oldStart, lines } of hunks) {
      let line = oldStart - 1;
      let removed = 0;
      let isAdded = false;
      const endOfRun = (): void => {
        if (isAdded && removed === 0) marks.push({ line, kind: "inserted" });
        for (let index = removed; index > 0; index--) marks.push({ line: line - index, kind: "changed" });
        removed = 0;
        isAdded = false;
      };
      for (const text of lines) {
        if (text.startsWith("-")) {
          removed += 1;
          line += 1;
        } else if (text.startsWith("+")) {
          isAdded = true;
        } else if (!text.startsWith("\\")) {
          endOfRun();
          line += 1;
        }
      }
      endOfRun();
      if (marks.length >= maxMarks) return marks.slice(0, maxMarks);
    }
  }
  return marks;
}

function parsed(diff: string): ReturnType<typeof parsePatch> {
  try {
    return parsePatch(diff);
  } catch (error) {
    // The kernel's own; a peer that sends something else gets no marks.
    if (error instanceof Error) return [];
    throw error;
  }
}

/** What a pending action would do to one file, to be shown in it. */
export interface FileMarks {
  readonly action: Action;
  /** Empty where the change is not in the file's lines: a move, a delete, tags. */
  readonly lines: readonly Mark[];
  /** What the change starts from; null where that is no file. */
  readonly before: Effect["before"];
  /** The file is no longer what the change starts from. */
  readonly hasMovedOn?: boolean;
}

/**
 * What of an action concerns the file at a workspace-relative path, undefined where nothing does. Only the first
 * effect on it has lines: the next ones start from what the first leaves.
 */
export function fileMarks(action: Action, path: string): FileMarks | undefined {
  const effect = action.effects.find((each) => each.path === path || each.from === path);
  if (effect === undefined) return undefined;
  const isInLines = effect.kind === "file.write" || effect.kind === "file.edit";
  const lines = isInLines && effect.diff !== undefined ? markedLines(effect.diff) : [];
  return { action, lines, before: effect.before };
}

/** The workspace-relative paths that an action touches, both ends of a move included. */
export function touchedPaths({ effects }: Action): Set<string> {
  return new Set(effects.flatMap(effectPaths));
}
