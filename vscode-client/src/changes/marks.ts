import { parsePatch } from "diff";
import { effectPaths } from "../model/effect-text.ts";
import type { Action, Effect } from "../protocol.ts";

/** The number of lines of one file that are marked. */
export const maxMarks = 1000;

/** A line of the current file, counted from 0, that a change would touch. */
export interface Mark {
  readonly line: number;
  /** "inserted": the change adds lines before this one, which stays. */
  readonly kind: "changed" | "inserted";
}

/** Returns the lines that a unified diff touches in the old text; none if it is not a diff. */
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
    // The kernel sends valid diffs; an invalid one from another peer has no marks.
    if (error instanceof Error) return [];
    throw error;
  }
}

/** What a pending action would do to one file, to be shown in that file. */
export interface FileMarks {
  readonly action: Action;
  /** Empty if the change is not in the file's lines: a move, a delete, tags. */
  readonly lines: readonly Mark[];
  /** The hash that the change starts from; null if there was no file. */
  readonly before: Effect["before"];
  /** The file has changed since the proposal. */
  readonly hasMovedOn?: boolean;
}

/**
 * Returns what an action does to the file at a workspace-relative path; undefined if nothing. Only the first effect on
 * the file has lines, because later ones start from the result of the first.
 */
export function fileMarks(action: Action, path: string): FileMarks | undefined {
  const effect = action.effects.find((each) => each.path === path || each.from === path);
  if (effect === undefined) return undefined;
  const isInLines = effect.kind === "file.write" || effect.kind === "file.edit";
  const lines = isInLines && effect.diff !== undefined ? markedLines(effect.diff) : [];
  return { action, lines, before: effect.before };
}

/** Returns the workspace-relative paths that an action touches, including both ends of a move. */
export function touchedPaths({ effects }: Action): Set<string> {
  return new Set(effects.flatMap(effectPaths));
}
