import { decisionLines } from "../../render/decision-text.ts";
import { subjectOf, folderOf } from "../../../base/vocabulary/impact-words.ts";
import type { Action } from "../../../base/vocabulary/action.ts";
import type { Surface } from "../../render/style.ts";
import { displayWidth, padEnd, wrap } from "../../render/width.ts";

/**
 * Returns the lines that name the subject of a change: a file's name, or the number of files, with its folder at the
 * right. Both are shown in full: if they do not fit on one line, the path takes as many lines as it needs.
 */
export function subjectLines({ effects }: Pick<Action, "effects">, surface: Surface): string[] {
  const { style, width, isAscii } = surface;
  const subject = subjectOf(effects);
  const path = "path" in subject ? subject.path : null;
  const name = path === null ? ("words" in subject ? subject.words : "") : baseName(path);
  const folder =
    path === null ? folderOf(effects) : path.slice(0, Math.max(0, path.length - name.length - 1));
  const [nameLine = "", ...moreOfName] = decisionLines(name, width, { isAscii });
  const [folderLine = "", ...moreOfFolder] = folder === "" ? [] : decisionLines(folder, width, { isAscii });
  const room = width - displayWidth(nameLine) - displayWidth(folderLine);
  if (moreOfName.length + moreOfFolder.length === 0 && (folder === "" || room >= 2))
    return [padEnd(style.bold(nameLine), width - displayWidth(folderLine)) + style.dim(folderLine)];
  const whole = path ?? (folder === "" ? name : `${name} in ${folder}`);
  return decisionLines(whole, width, { isAscii }).map((line) => style.bold(line));
}

function baseName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

/** Returns "2 min ago", or the day for older times. */
export function ageWords(timestamp: string, nowMs: number): string {
  const minutes = Math.floor((nowMs - Date.parse(timestamp)) / 60_000);
  if (Number.isNaN(minutes)) return "";
  if (minutes < 1) return "now";
  if (minutes < 60) return `${minutes} min ago`;
  if (minutes < 24 * 60) return `${Math.floor(minutes / 60)} h ago`;
  const days = Math.floor(minutes / (24 * 60));
  return days === 1 ? "1 day ago" : `${days} days ago`;
}

/** Joins pieces into lines that are broken only between pieces. */
export function joinPieces(pieces: readonly string[], between: string, width: number): string[] {
  const lines: string[] = [];
  for (const piece of pieces) {
    const last = lines.at(-1);
    if (last !== undefined && displayWidth(last) + displayWidth(between) + displayWidth(piece) <= width)
      lines[lines.length - 1] = last + between + piece;
    else if (displayWidth(piece) <= width) lines.push(piece);
    else lines.push(...wrap(piece, width));
  }
  return lines;
}
