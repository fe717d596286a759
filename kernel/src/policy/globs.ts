import { compileGlob, type GlobOptions } from "../base/glob.ts";
import { foldPath } from "./paths.ts";

/**
 * A glob of something that widens: it matches in this very spelling (`ignoreCase` is for filters of media types,
 * which say so). One that does not compile matches nothing.
 */
export function wideningGlob(
  pattern: string,
  options: Pick<GlobOptions, "ignoreCase" | "matchBase"> = {},
): (path: string) => boolean {
  const glob = compileGlob(pattern, { ...options, exact: true });
  return glob.ok ? glob.matches : () => false;
}

export interface RestrainingGlob {
  matches(path: string): boolean;
  /** The folder, or file, that everything it matches is or lies in, folded; "." where the pattern names none. */
  readonly base: string;
  /** In lower case and ASCII: every path in ASCII that it matches contains this. */
  readonly word: string;
}

/**
 * A glob of something that restricts: it matches every spelling that some file system takes for a path which it
 * names. One that does not compile matches everything.
 */
export function restrainingGlob(
  pattern: string,
  options: Pick<GlobOptions, "matchBase"> = {},
): RestrainingGlob {
  const glob = compileGlob(pattern, { ...options, ignoreCase: true });
  if (!glob.ok) return { matches: () => true, base: ".", word: "" };
  return {
    matches: (path) => glob.matches(path) || (!isPlain(path) && glob.matches(foldPath(path))),
    base: foldPath(literalBase(pattern)),
    word: literalWord(pattern),
  };
}

/** True for a path of which folding changes nothing but its case. */
export function isPlain(path: string): boolean {
  return !/[^ -~]|[. :](?:\/|$)|:/.test(path);
}

/** The longest text of the pattern that stands for itself; "" where that is not simple to say. */
function literalWord(pattern: string): string {
  if (/[[\]{}\\]|[^ -~]/.test(pattern)) return "";
  // "**/" may stand for nothing, so a slash beside a wildcard may not be there.
  const words = pattern.split(/[*?]+/).map((word) => word.replace(/^\/+|\/+$/g, ""));
  return words.reduce((longest, word) => (word.length > longest.length ? word : longest)).toLowerCase();
}

/** The names that the pattern begins with and that stand for themselves; "." where there are none. */
export function literalBase(pattern: string): string {
  const names: string[] = [];
  for (const part of pattern.split("/")) {
    if (/[*?[\]{},]/.test(part.replace(/\\./g, ""))) break;
    names.push(part.replace(/\\(.)/g, "$1"));
  }
  return names.length === 0 ? "." : names.join("/");
}
