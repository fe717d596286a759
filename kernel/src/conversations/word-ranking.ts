import type { Entry } from "../base/vocabulary/conversation.ts";
import { embeddedText } from "./records.ts";

/** An entry near another one in its conversation, one or two texts away. */
export interface Neighbour {
  readonly seq: number;
  readonly steps: 1 | 2;
}

interface FoundEntry {
  readonly entry: Entry;
  readonly score: number;
}

/** An entry that was found; without its text if that was not read yet. */
export interface FoundPlace {
  readonly conversation: string;
  readonly seq: number;
  readonly entry?: Entry;
  readonly score: number;
}

/** The share of the scores of entries one and two steps away that an entry gets in addition to its own, as in a memory. */
const shares = { 1: 0.5, 2: 0.4 } as const;
/** The weight of a text's length in BM25 ("b"): in FTS5, and here. */
const [ftsLengthPart, lengthPart] = [0.75, 0.2];

export const keyOf = ({ conversation, seq }: Pick<FoundPlace, "conversation" | "seq">): string =>
  `${conversation} ${seq}`;

export const placed = ({ entry, score }: FoundEntry): FoundPlace => ({
  conversation: entry.conversation,
  seq: entry.seq,
  entry,
  score,
});

/**
 * Returns found entries, the best first, with most of what FTS5 takes from the scores of long texts given back: a message is
 * long because it says more. Results of tools keep their scores, because they are long whatever they say.
 */
export function atTheirLength(found: readonly FoundEntry[]): readonly FoundEntry[] {
  const lengths = found.map(({ entry }) => embeddedText(entry).length);
  const said = lengths.filter((length) => length > 0);
  const mean = said.reduce((sum, length) => sum + length, 0) / Math.max(1, said.length);
  const weight = (part: number, length: number): number =>
    1 / (1 + 1.2 * (1 - part + (part * length) / mean));
  return found
    .map(({ entry, score }, at) => {
      const length = lengths[at] ?? 0;
      if (length === 0) return { entry, score };
      return { entry, score: (score * weight(lengthPart, length)) / weight(ftsLengthPart, length) };
    })
    .toSorted((one, other) => other.score - one.score);
}

/**
 * Returns found entries with those beside them, the best first: an answer often stands beside the words of its question. No
 * shared score exceeds the best entry's own, and that entry stays first. `neighbours`: in the order of the entries.
 */
export function withNeighbours(
  found: readonly FoundEntry[],
  neighbours: readonly (readonly Neighbour[])[],
): readonly FoundPlace[] {
  const best = found[0]?.score ?? 0;
  const all = new Map<string, FoundPlace & { readonly own: number; shared: number }>(
    found.map((each) => [keyOf(each.entry), { ...placed(each), own: each.score, shared: 0 }] as const),
  );
  for (const [at, { entry, score }] of found.entries())
    for (const { seq, steps } of neighbours[at] ?? []) {
      const place = { conversation: entry.conversation, seq };
      const known = all.get(keyOf(place)) ?? { ...place, score: 0, own: 0, shared: 0 };
      known.shared += shares[steps] * score;
      all.set(keyOf(place), known);
    }
  return [...all.values()]
    .toSorted(
      (one, other) =>
        Math.min(best, other.own + other.shared) - Math.min(best, one.own + one.shared) ||
        other.own - one.own ||
        other.shared - one.shared,
    )
    .map(({ own, shared, ...place }) => ({ ...place, score: Math.min(best, own + shared) }));
}
