import { invalidParams } from "../../base/errors.ts";
import { addFeatures, hashOf } from "./hash-features.ts";
import { DocumentFrequencies } from "./hash-frequencies.ts";
import type { Embedder } from "./port.ts";
import { refuseBlank } from "./texts.ts";

const defaultHashDimensions = 384;
const dimensionBounds = { least: 32, most: 4_096 } as const;
/** The weight in queries of a word that occurs in all texts; a word that occurs in none has weight 1. */
const commonWeight = 0.2;
/** Has to be increased when the same text would get another vector. */
const version = 1;

/**
 * An embedder without dependencies: hashes words and their pieces to signed places (`hash-features.ts`). It
 * knows no meanings; texts are similar if their words are, in whatever form.
 *
 * An item's vector never changes. The statistics of the memory's other texts weight words only in queries:
 * measured, this is as good as weighting both sides, and nothing has to be embedded again while a memory
 * grows. So the similarity of an item to a query for its very text is near 1, not 1. To compare items, use
 * `"item"` for both.
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
    // The weight is never 0: a query for an item's own text must stay near it even if all texts share most
    // words.
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
  // Features of few and short words can cancel each other out, but a vector needs a direction.
  if (squares === 0) {
    squares = 1;
    sums[hashOf(text, 0, Math.min(text.length, dimensionBounds.most), 0) % dimensions] = 1;
  }
  const length = Math.sqrt(squares);
  const vector = new Float32Array(dimensions);
  for (let index = 0; index < dimensions; index += 1) vector[index] = (sums[index] ?? 0) / length;
  return vector;
}
