import { createTwoFilesPatch } from "diff";
import { invalidParams, limitExceeded } from "../base/errors.ts";
import { actionLimits } from "./limits.ts";

export interface Edit {
  readonly find: string;
  readonly replace: string;
  readonly all?: boolean | undefined;
}

/** The text of UTF-8 bytes; null where they are something else, or hold a NUL as binary files do. */
export function textOf(bytes: Uint8Array): string | null {
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    return text.includes("\0") ? null : text;
  } catch (error) {
    if (error instanceof TypeError) return null;
    throw error;
  }
}

/** Applies edits one after the other. Each must find its text, and find it once unless it says `all`. */
export function applyEdits(path: string, text: string, edits: readonly Edit[]): string {
  let edited = text;
  for (const [index, { find, replace, all }] of edits.entries()) {
    const which = `Edit ${index} of ${JSON.stringify(path)}`;
    const pieces = edited.split(find);
    const count = pieces.length - 1;
    if (count === 0)
      throw invalidParams(`${which}: ${quoted(find)} does not occur in the file.`, { path, edit: index });
    if (count > 1 && all !== true) {
      throw invalidParams(
        `${which}: ${quoted(find)} occurs ${count} times; give more of the text around it, or set "all".`,
        { path, edit: index },
      );
    }
    const length = edited.length + count * (replace.length - find.length);
    if (length > actionLimits.previewFileBytes) {
      throw limitExceeded(
        "previewFileBytes",
        length,
        `${which} would make the file larger than ${actionLimits.previewFileBytes} bytes.`,
      );
    }
    edited = pieces.join(replace);
  }
  return edited;
}

function quoted(text: string): string {
  return JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text);
}

/**
 * A unified diff; undefined where a side is no text or longer than `diffTextBytes`. Null is a side without a
 * file. Where too much differs to search for the smallest diff, all of the one side is shown as removed
 * and all of the other as added.
 */
export function unifiedDiff(
  names: { readonly before: string; readonly after: string },
  before: Uint8Array | null,
  after: Uint8Array | null,
): string | undefined {
  const limit = actionLimits.diffTextBytes;
  if ((before?.length ?? 0) > limit || (after?.length ?? 0) > limit) return undefined;
  const [old, changed] = [before === null ? "" : textOf(before), after === null ? "" : textOf(after)];
  if (old === null || changed === null) return undefined;
  const oldName = before === null ? "/dev/null" : `a/${oneLine(names.before)}`;
  const newName = after === null ? "/dev/null" : `b/${oneLine(names.after)}`;
  const patch = createTwoFilesPatch(oldName, newName, old, changed, undefined, undefined, {
    maxEditLength: actionLimits.diffEdits,
  });
  return withoutIndexLine(patch ?? wholeDiff(oldName, newName, old, changed));
}

const oneLine = (name: string): string => name.replace(/[\r\n\t]/g, "?");

/** The library begins with a line of "=" that no patch tool needs. */
const withoutIndexLine = (patch: string): string => patch.replace(/^=+\n/, "");

function wholeDiff(oldName: string, newName: string, old: string, changed: string): string {
  const lines = (text: string, mark: string): string[] =>
    text === ""
      ? []
      : text
          .replace(/\n$/, "")
          .split("\n")
          .map((line) => mark + line);
  const [removed, added] = [lines(old, "-"), lines(changed, "+")];
  const range = (count: number): string => `${count === 0 ? 0 : 1},${count}`;
  const noNewline = "\\ No newline at end of file";
  return [
    `--- ${oldName}`,
    `+++ ${newName}`,
    `@@ -${range(removed.length)} +${range(added.length)} @@`,
    ...removed,
    ...(old !== "" && !old.endsWith("\n") ? [noNewline] : []),
    ...added,
    ...(changed !== "" && !changed.endsWith("\n") ? [noNewline] : []),
    "",
  ].join("\n");
}
