import { LaresError } from "../base/errors.ts";
import type { Entry } from "../base/vocabulary/conversation.ts";
import { anyOf, wordsOf } from "./search-words.ts";
import type { IndexRows } from "./index-rows.ts";
import { atTheirLength, type FoundPlace, keyOf, placed, withNeighbours } from "./word-ranking.ts";
import type { MessageVectors } from "./vectors/message-vectors.ts";
import type { SourceRows, WordUse } from "./source-rows.ts";

export interface FoundEntry {
  readonly entry: Entry;
  readonly score: number;
}

export interface MessageQuestion {
  /** Whose conversations they are. */
  readonly agent: string;
  readonly text: string;
  readonly mode: "auto" | "text" | "vector" | "hybrid";
  readonly limit: number;
}

/** Minimum candidates of each list: a hit far down in one may be far up in the other. */
const leastCandidates = 100;
/** As a memory fuses its lists: the constant of reciprocal rank fusion, and the weights. */
const rankOffset = 10;
const weights = { words: 2, similarity: 1 } as const;
const mostUnknown = 0.9;

/**
 * Finds entries by their words and by what they mean, and scores them by Σ weight/(10 + rank). The more of a question's
 * words occur in no entry, the less its words count, and the more an embedder does that knows only spellings. Without an
 * embedder words alone decide. The mode `text` finds entries that have the words themselves; the others also find those
 * beside them. VectorSearchNotConfigured for `vector` without an embedder.
 */
export async function findMessages(
  rows: IndexRows,
  sources: SourceRows,
  vectors: MessageVectors | null,
  stretches: readonly { readonly conversation: string; readonly through: number }[],
  { agent, text, mode, limit }: MessageQuestion,
): Promise<readonly FoundEntry[]> {
  const words = wordsOf(text);
  const worded = (searched: readonly string[], count: number) =>
    rows.search(stretches, anyOf(searched), count);
  if (words.length === 0) return [];
  if (mode === "text") return await worded(words, limit);
  const count = Math.max(limit, leastCandidates);
  const near = (await vectors?.near(agent, stretches, text, count)) ?? null;
  if (mode === "vector") {
    if (near === null) throw noVectors();
    return (await sources.entries(near.entries)).slice(0, limit);
  }
  const telling = tellingWords(await sources.uses(words));
  const own = atTheirLength(await worded(telling.words, count));
  const beside = await sources.neighbours(
    own.map(({ entry }) => entry),
    stretches,
  );
  const byWords = withNeighbours(own, beside);
  if (near === null) return await read(sources, byWords.slice(0, limit));
  const similarity = weights.similarity * (near.knows === "meanings" ? 1 : telling.unknownPart ** 2);
  const byLikeness = similarity === 0 ? [] : (await sources.entries(near.entries)).map(placed);
  const both = fused([
    { weight: weights.words * (1 - telling.unknownPart ** 2), found: byWords.slice(0, count) },
    { weight: similarity, found: byLikeness },
  ]);
  return await read(sources, both.slice(0, limit));
}

/** Returns the entries, also those whose texts were not read before; without those that have none. */
async function read(sources: SourceRows, found: readonly FoundPlace[]): Promise<readonly FoundEntry[]> {
  const rest = await sources.entries(found.filter(({ entry }) => entry === undefined));
  const others = new Map(rest.map(({ entry }) => [keyOf(entry), entry]));
  return found.flatMap((place) => {
    const entry = place.entry ?? others.get(keyOf(place));
    return entry === undefined ? [] : [{ entry, score: place.score }];
  });
}

/**
 * Returns the words that tell entries apart, all if none does, and the part of the telling ones that occurs in no entry: the
 * rank of an entry that has only common words says nothing, and would count as much as any other.
 */
function tellingWords(uses: readonly WordUse[]): {
  readonly words: readonly string[];
  readonly unknownPart: number;
} {
  const telling = uses.filter(({ isCommon }) => !isCommon);
  const known = telling.filter(({ isKnown }) => isKnown);
  const unknownPart = telling.length === 0 ? 0 : 1 - known.length / telling.length;
  return {
    words: (known.length === 0 ? uses : known).map(({ word }) => word),
    // Where nothing else is found, an entry with common words is better than none.
    unknownPart: Math.min(unknownPart, mostUnknown),
  };
}

const noVectors = (): LaresError =>
  new LaresError(
    "VectorSearchNotConfigured",
    "No embedder answers for these conversations. Search with mode text or auto, or set memory.embedder; a service also needs the agent's permission use_models with the category embedding.",
  );

function fused(
  lists: readonly { readonly weight: number; readonly found: readonly FoundPlace[] }[],
): FoundPlace[] {
  const scores = new Map<string, FoundPlace>();
  for (const { weight, found } of lists)
    for (const [rank, place] of found.entries()) {
      const known = scores.get(keyOf(place));
      const score = (known?.score ?? 0) + weight / (rankOffset + rank + 1);
      scores.set(keyOf(place), { ...known, ...place, score });
    }
  return [...scores.values()].toSorted((one, other) => other.score - one.score);
}
