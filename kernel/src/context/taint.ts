/** Sources that are named. */
const maxSources = 32;
/** Stands for all further sources. */
const otherSources = "others";

/** The marks that a text inherits from the texts it was made from. */
export interface Inherited {
  readonly sources?: string[];
  readonly tainted?: true;
}

/** Returns the sources of all entries, each once, and whether one of them is tainted: what a text made from them inherits. */
export function taintOf(
  entries: Iterable<{
    readonly origin?: string;
    readonly sources?: readonly string[];
    readonly tainted?: true;
  }>,
): Inherited {
  const sources = new Set<string>();
  let tainted = false;
  for (const entry of entries) {
    tainted ||= entry.tainted === true;
    const named = entry.sources ?? [];
    for (const source of named) sources.add(source);
    if (entry.tainted === true && named.length === 0 && entry.origin !== undefined) sources.add(entry.origin);
  }
  const all = [...sources];
  const listed = all.length <= maxSources ? all : [...all.slice(0, maxSources - 1), otherSources];
  return { ...(listed.length === 0 ? {} : { sources: listed }), ...(tainted ? { tainted } : {}) };
}
