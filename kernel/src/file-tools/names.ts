import { invalidParams } from "../base/errors.ts";
import { globLimits } from "../base/glob.ts";
import { visibleText } from "../base/visible-text.ts";

/** Returns a glob that matches exactly this path. */
export function escapedGlob(path: string): string {
  return path.replace(/[\\*?[\]{}]/g, "\\$&");
}

/** Returns a glob for what matches `pattern` beneath a folder; "." is the whole workspace. Throws InvalidParams. */
export function globBeneath(folder: string, pattern: string): string {
  if (folder === ".") return pattern;
  const glob = `${escapedGlob(folder)}/${pattern}`;
  if (glob.length <= globLimits.length) return glob;
  throw invalidParams(
    `The path ${JSON.stringify(`${folder.slice(0, 60)}…`)} and the pattern together have ${glob.length} characters; at most ${globLimits.length} are allowed. Use a folder above it.`,
  );
}

/** Returns a path for a line of text: as it is if every character of it is visible, else with marks and in quotes. */
export function pathInLine(path: string): string {
  const shown = visibleText(path);
  return shown === path ? path : `"${shown}"`;
}

const encoder = new TextEncoder();

/** Returns the length of the text in UTF-8. */
export function bytesOf(text: string): number {
  return encoder.encode(text).length;
}

/** Returns the size of the value's JSON. Bytes. */
export function jsonBytes(value: unknown): number {
  return bytesOf(JSON.stringify(value));
}
