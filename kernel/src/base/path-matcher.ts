import { compileGlob } from "./glob.ts";

/** Answers that are remembered, because the same paths are asked about again and again. */
const maxRemembered = 1000;

/** Returns a function that tests a path against the patterns. They are compiled again only when they have changed. */
export function matcherOf(patternsNow: () => readonly string[]): (path: string) => boolean {
  let compiled: { readonly of: readonly string[]; readonly matches: (path: string) => boolean } | null = null;
  const answers = new Map<string, boolean>();
  return (path) => {
    const patterns = patternsNow();
    if (compiled?.of !== patterns) {
      const globs = patterns.map((pattern) => compileGlob(pattern));
      answers.clear();
      compiled = { of: patterns, matches: (each) => globs.some((glob) => glob.ok && glob.matches(each)) };
    }
    const known = answers.get(path);
    if (known !== undefined) return known;
    const answer = compiled.matches(path);
    if (answers.size >= maxRemembered) answers.clear();
    answers.set(path, answer);
    return answer;
  };
}
