import type { Effect } from "../protocol.ts";

/** The number of files that are checked. */
const maxFiles = 200;
/**
 * Returns the SHA-256 of a file as the kernel writes it; null if there is none; undefined if that cannot be determined.
 */
export type HashOf = (path: string) => Promise<Effect["before"] | undefined>;

/**
 * Returns the first file that has changed since these effects were proposed; undefined if there is none, or if that
 * cannot be determined.
 */
export async function pathMovedOn(effects: readonly Effect[], hashOf: HashOf): Promise<string | undefined> {
  for (const { path, before } of bases(effects).slice(0, maxFiles)) {
    const now = await hashOf(path);
    if (now !== undefined && now !== before) return path;
  }
  return undefined;
}

/**
 * Returns the base files of effects: for each path only the first effect counts, because later ones start from its
 * result.
 */
function bases(effects: readonly Effect[]): { path: string; before: Effect["before"] }[] {
  const seen = new Set<string>();
  return effects.flatMap((effect) => {
    const path = effect.from ?? effect.path;
    const isFirst = !seen.has(path) && !seen.has(effect.path);
    seen.add(path).add(effect.path);
    return isFirst && effect.kind.startsWith("file.") ? [{ path, before: effect.before }] : [];
  });
}
