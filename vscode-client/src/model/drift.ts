import type { Effect } from "../protocol.ts";

/** At most so many files are looked at. */
const maxFiles = 200;
/** SHA-256 of a file as the kernel writes it; null: there is none; undefined: that cannot be told. */
export type HashOf = (path: string) => Promise<Effect["before"] | undefined>;

/**
 * The first file that these effects start from and that is something else by now; undefined where there is none, or none
 * that can be told.
 */
export async function pathMovedOn(effects: readonly Effect[], hashOf: HashOf): Promise<string | undefined> {
  for (const { path, before } of bases(effects).slice(0, maxFiles)) {
    const now = await hashOf(path);
    if (now !== undefined && now !== before) return path;
  }
  return undefined;
}

/** The files that effects start from: of each path only the first, the others start from what that one leaves. */
function bases(effects: readonly Effect[]): { path: string; before: Effect["before"] }[] {
  const seen = new Set<string>();
  return effects.flatMap((effect) => {
    const path = effect.from ?? effect.path;
    const isFirst = !seen.has(path) && !seen.has(effect.path);
    seen.add(path).add(effect.path);
    return isFirst && effect.kind.startsWith("file.") ? [{ path, before: effect.before }] : [];
  });
}
