import { invalidParams } from "../../base/errors.ts";
import { addFeatures, hashOf } from "./hash-features.ts";
import { DocumentFrequencies } from "./hash-frequencies.ts";
import type { Embedder } from "./port.ts";
import { refuseBlank } from "./texts.ts";

const defaultHashDimensions = 384;
const dimensionBounds = { least: 32, most: 4_096 } as const;
/** In queries, of a word that all texts have; one that none has weighs 1. */
const commonWeight = 0.2;
/** Counted up when the same text would get another vector. */
const version = 1;

/**
 * The embedder that needs nothing: words and their pieces hashed to signed places (`hash-features.ts`). It knows no
 * meanings; texts are alike where their words are, in whatever form.
 *
 * An item's vector never changes: what the memory's other texts say (`statistics`) weighs words only in queries, where
 * it does as much good as on both sides, and nothing has to be embedded again while a memory grows. So a query for an
 * item's very text is not at 1, but near it; compare items with `"item"` on both sides.
 */
export function createHashEmbedder({
  dimensions = defaultHashDimensions,
}: {
  dimensions?: number;
}): Embedder {
  if (
    !Number.isInteger(dimensions) ||
    dimensions < dimensionBounds.least ||
    dimensions > dimensionBounds.most
  ) {
    throw invalidParams(
      `The hash embedder has ${dimensionBounds.least} to ${dimensionBounds.most} dimensions, not ${dimensions}. Leave "dimensions" out for ${defaultHashDimensions}.`,
      { dimensions },
    );
  }
  const statistics = new DocumentFrequencies();
  const weights = {
    item: () => 1,
    // Never nothing: a query for an item's own text is to stay near it where all texts have most words in common.
    query: (wordHash: number) => commonWeight + (1 - commonWeight) * statistics.rarity(wordHash),
  };
  return {
    name: `hash/${version}/${dimensions}`,
    dimensions,
    knows: "words",
    isImmediate: true,
    statistics,
    async embed(texts, purpose) {
      refuseBlank(texts);
      return texts.map((text) => hashed(text, dimensions, weights[purpose]));
    },
    async [Symbol.asyncDispose]() {},
  };
}

function hashed(text: string, dimensions: number, weigh: (wordHash: number) => number): Float32Array {
  const sums = new Float64Array(dimensions);
  addFeatures(text, sums, weigh);
  let squares = 0;
  for (const sum of sums) squares += sum * sum;
  // Features of few and short words can cancel each other out; a vector has to point somewhere all the same.
  if (squares === 0) {
    squares = 1;
    sums[hashOf(text, 0, Math.min(text.length, dimensionBounds.most), 0) % dimensions] = 1;
  }
  const length = Math.sqrt(squares);
  const vector = new Float32Array(dimensions);
  for (let index = 0; index < dimensions; index += 1) vector[index] = (sums[index] ?? 0) / length;
  return vector;
}
