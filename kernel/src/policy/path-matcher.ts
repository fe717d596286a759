import { foldPath, isWithinExactly } from "./paths.ts";
import { restrainingGlob } from "./globs.ts";

/** Answers that are remembered, because the same paths are asked about again and again. */
const maxRemembered = 1000;

interface PathMatcher {
  /** True for a path that one of the patterns names, in every spelling that some file system treats as that path. */
  matches(path: string): boolean;
  /** True if a pattern may match the folder, or something in it. */
  reaches(folder: string): boolean;
}

interface Compiled {
  readonly of: readonly string[];
  readonly globs: readonly ReturnType<typeof restrainingGlob>[];
}

/** Returns a test of paths against patterns that restrict. They are compiled again only when they have changed. */
export function matcherOf(patternsNow: () => readonly string[]): PathMatcher {
  let compiled: Compiled | null = null;
  const answers = new Map<string, boolean>();
  const compiledNow = (): Compiled => {
    const patterns = patternsNow();
    if (compiled?.of === patterns) return compiled;
    answers.clear();
    return (compiled = { of: patterns, globs: patterns.map((pattern) => restrainingGlob(pattern)) });
  };
  return {
    matches: (path) => {
      const { globs } = compiledNow();
      const known = answers.get(path);
      if (known !== undefined) return known;
      const answer = globs.some((glob) => glob.matches(path));
      if (answers.size >= maxRemembered) answers.clear();
      answers.set(path, answer);
      return answer;
    },
    reaches: (folder) => {
      const folded = foldPath(folder);
      return compiledNow().globs.some(
        ({ base }) => isWithinExactly(base, folded) || isWithinExactly(folded, base),
      );
    },
  };
}
