import { wordsOf } from "./hash-words.ts";

/**
 * Returns the features of a text: its words, and pieces of three to five characters with the ends of words
 * marked. So forms of one word and misspellings are near each other in every language with endings. Chosen by
 * the `retrieval` figure of test/bench: a stemmer and pairs of words added nothing to it.
 */

/** The weight of each piece of a word, relative to the word's own weight of 1. */
const pieceWeight = 0.8;
const pieceLengths = [3, 4, 5] as const;
const stopWordWeight = 0.15;

/**
 * Adds one text's features to `sums`, which has one place for each dimension. `weigh` returns the weight of a
 * word by its hash.
 */
export function addFeatures(text: string, sums: Float64Array, weigh: (wordHash: number) => number): void {
  const features = new Map<number, { count: number; weight: number }>();
  for (const { text: word, isStopWord } of wordsOf(text)) {
    const hash = hashOf(word, 0, word.length, wordSeed);
    const weight = (isStopWord ? stopWordWeight : 1) * weigh(hash);
    count(features, hash, weight);
    const marked = `^${word}$`;
    for (const length of pieceLengths) {
      for (let start = 0; start + length <= marked.length; start += 1) {
        count(features, hashOf(marked, start, start + length, length), pieceWeight * weight);
      }
    }
  }
  for (const [hash, { count, weight }] of features) {
    // A word that occurs ten times is not ten times as important.
    const value = Math.sqrt(count) * weight;
    const place = (hash >>> 1) % sums.length;
    sums[place] = (sums[place] ?? 0) + ((hash & 1) === 1 ? value : -value);
  }
}

/** Returns the hashes of a text's different words, as the statistics count them. */
export function wordHashes(text: string): Set<number> {
  return new Set(wordsOf(text).map(({ text: word }) => hashOf(word, 0, word.length, wordSeed)));
}

/** A piece that occurs in several words gets the highest weight among them. */
function count(features: Map<number, { count: number; weight: number }>, hash: number, weight: number): void {
  const feature = features.get(hash);
  if (feature === undefined) features.set(hash, { count: 1, weight });
  else {
    feature.count += 1;
    feature.weight = Math.max(feature.weight, weight);
  }
}

const wordSeed = 1;

/**
 * Returns FNV-1a over UTF-16 units, with the bits mixed at the end so that the lowest ones can be used. 32
 * bits, unsigned.
 */
export function hashOf(text: string, start: number, end: number, seed: number): number {
  let hash = 0x811c9dc5 ^ Math.imul(seed, 0x9e3779b1);
  for (let index = start; index < end; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
