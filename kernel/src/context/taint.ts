import { maxSources, otherSources } from "../base/vocabulary/bounds.ts";

/** The marks that a text inherits from the texts it was made from. */
export interface Inherited {
  readonly sources?: string[];
  readonly tainted?: true;
}

export interface Marked {
  readonly origin?: string;
  readonly sources?: readonly string[];
  readonly tainted?: true;
}

/** Returns the sources that an entry names; of a tainted one that names none, its origin. */
export function namedSources({ sources = [], tainted, origin }: Marked): readonly string[] {
  return tainted === true && sources.length === 0 && origin !== undefined ? [origin] : sources;
}

/** Returns the sources of all entries, each once, and whether one of them is tainted: what a text made from them inherits. */
export function taintOf(entries: Iterable<Marked>): Inherited {
  const sources = new Set<string>();
  let tainted = false;
  for (const entry of entries) {
    tainted ||= entry.tainted === true;
    for (const source of namedSources(entry)) sources.add(source);
  }
  const all = [...sources];
  const listed = all.length <= maxSources ? all : [...all.slice(0, maxSources - 1), otherSources];
  return { ...(listed.length === 0 ? {} : { sources: listed }), ...(tainted ? { tainted } : {}) };
}
