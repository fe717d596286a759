import { compileGlob, type GlobOptions } from "../base/glob.ts";
import { foldPath } from "./paths.ts";

/**
 * Compiles a glob that widens: it matches only in exactly this spelling (`ignoreCase` is for filters of media types,
 * which request it). An invalid glob matches nothing.
 */
export function wideningGlob(
  pattern: string,
  options: Pick<GlobOptions, "ignoreCase" | "matchBase"> = {},
): (path: string) => boolean {
  const glob = compileGlob(pattern, { ...options, exact: true });
  return glob.ok ? glob.matches : () => false;
}

interface RestrainingGlob {
  matches(path: string): boolean;
  /** The folder, or file, that contains everything that it matches, folded; "." if the pattern names none. */
  readonly base: string;
  /** In lower case and ASCII: every ASCII path that it matches contains this. */
  readonly word: string;
}

/**
 * Compiles a glob that restricts: it matches every spelling that some file system treats as a path that it names. An
 * invalid glob matches everything.
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

/** True for a path in which folding changes only the case. */
export function isPlain(path: string): boolean {
  return !/[^ -~]|[. :](?:\/|$)|:/.test(path);
}

/** Returns the longest literal text of the pattern; "" if that is not easy to determine. */
function literalWord(pattern: string): string {
  if (/[[\]{}\\]|[^ -~]/.test(pattern)) return "";
  // "**/" may match nothing, so a slash beside a wildcard may be absent.
  const words = pattern.split(/[*?]+/).map((word) => word.replace(/^\/+|(?<!\/)\/+$/g, ""));
  return words.reduce((longest, word) => (word.length > longest.length ? word : longest)).toLowerCase();
}

/** Returns the literal names at the beginning of the pattern; "." if there are none. */
export function literalBase(pattern: string): string {
  const names: string[] = [];
  for (const part of pattern.split("/")) {
    if (/[*?[\]{},]/.test(part.replace(/\\./g, ""))) break;
    names.push(part.replace(/\\(.)/g, "$1"));
  }
  return names.length === 0 ? "." : names.join("/");
}

/**
 * Returns what every matching name has after its last dot, in lower case: `["md"]` for `notes/*.md`, two for
 * `*.{md,txt}`. Null if that is not easy to determine.
 */
export function literalEndings(pattern: string): string[] | null {
  const ending = /\.(?:(?<one>[a-z\d]+)|\{(?<many>[a-z\d]+(?:,[a-z\d]+)*)\})$/i.exec(pattern);
  const { one, many } = ending?.groups ?? {};
  // Braces before it may end with the pattern, and a backslash may have made the dot or the brace a literal character.
  const isSimple = ending !== null && !/[{}\\]/.test(pattern.slice(0, ending.index));
  const endings = one ?? many;
  return isSimple && endings !== undefined ? endings.toLowerCase().split(",") : null;
}
