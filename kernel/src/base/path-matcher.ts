import { compileGlob } from "./glob.ts";

/** Returns a function that tests a path against the patterns. They are compiled again only when they have changed. */
export function matcherOf(patternsNow: () => readonly string[]): (path: string) => boolean {
  let compiled: { readonly of: readonly string[]; readonly matches: (path: string) => boolean } | null = null;
  return (path) => {
    const patterns = patternsNow();
    if (compiled?.of !== patterns) {
      const globs = patterns.map((pattern) => compileGlob(pattern));
      compiled = { of: patterns, matches: (each) => globs.some((glob) => glob.ok && glob.matches(each)) };
    }
    return compiled.matches(path);
  };
}
