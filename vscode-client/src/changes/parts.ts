import type { TextDocument } from "vscode";
import type { ClientContext } from "../feature.ts";
import { hashOfFile } from "../model/file-hash.ts";
import { uriOf } from "../model/uris.ts";
import type { Action } from "../protocol.ts";
import { hunksOf, type Hunk } from "../deciding/hunks.ts";
import { touchedPaths } from "./marks.ts";

/** The number of actions whose parts are searched for in one file. */
export const maxActionsPerFile = 20;

/** A part of a proposal in the current text: one hunk of its diff. */
export interface ProposedPart {
  readonly action: Action;
  readonly effect: number;
  /** Its number among the hunks of this file. */
  readonly hunk: number;
  readonly hunks: number;
  /** The first and last line that it touches, from 0; for a pure insertion, the line before which it inserts. */
  readonly start: number;
  readonly end: number;
  readonly lines: Hunk;
}

/**
 * Returns the parts of all proposals that wait for this text, in the order of lines; none while the text differs from
 * their base.
 */
export async function proposedParts(
  { models: { actions } }: Pick<ClientContext, "models">,
  { uri, isDirty }: Pick<TextDocument, "uri" | "isDirty">,
): Promise<readonly ProposedPart[]> {
  // The lines of a text with unsaved changes are not those that the proposals refer to.
  if (isDirty || uri.scheme !== "file") return [];
  const key = uri.toString();
  const found: Promise<readonly ProposedPart[]>[] = [];
  for (const action of actions.pending) {
    if (found.length >= maxActionsPerFile) break;
    for (const path of touchedPaths(action))
      if (uriOf(path)?.toString() === key)
        found.push(
          partsOf(
            actions.withDiffs(action.id).catch(() => action),
            path,
          ),
        );
  }
  return (await Promise.all(found)).flat().toSorted((one, other) => one.start - other.start);
}

async function partsOf(asked: Promise<Action>, path: string): Promise<readonly ProposedPart[]> {
  const action = await asked;
  // The first effect on a file starts from the file; later ones start from the result of the first.
  const effect = action.effects.findIndex((each) => each.path === path || each.from === path);
  const { kind, diff, before } = action.effects[effect] ?? {};
  if (diff === undefined || (kind !== "file.write" && kind !== "file.edit")) return [];
  if (before !== null) {
    const now = await hashOfFile(path);
    if (now !== undefined && now !== before) return [];
  }
  const hunks = hunksOf(diff);
  return hunks.map((lines, hunk) => ({
    action,
    effect,
    hunk,
    hunks: hunks.length,
    ...rangeOf(lines),
    lines,
  }));
}

/** Returns the range without the unchanged lines around it. */
export function rangeOf({ oldStart, lines }: Hunk): { readonly start: number; readonly end: number } {
  const touched: number[] = [];
  let line = Math.max(0, oldStart - 1);
  for (const text of lines) {
    if (text.startsWith("-")) touched.push(line);
    if (text.startsWith("+")) touched.push(line);
    if (text.startsWith("-") || text.startsWith(" ")) line += 1;
  }
  return { start: Math.min(...touched, line), end: Math.max(...touched, oldStart - 1) };
}
