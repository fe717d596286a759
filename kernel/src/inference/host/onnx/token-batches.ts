/**
 * Texts as tokens, in batches to be padded to their longest: each takes at most `maxTokens` with its padding, unless
 * it is one text alone. Texts of like length come together, so that little is padded; the shortest come first.
 */
export function inTokenBatches<Tokens extends { readonly length: number }>(
  texts: readonly Tokens[],
  maxTokens: number,
): Tokens[][] {
  const batches: Tokens[][] = [];
  let batch: Tokens[] = [];
  for (const text of texts.toSorted((one, other) => one.length - other.length)) {
    if (batch.length > 0 && (batch.length + 1) * text.length > maxTokens) {
      batches.push(batch);
      batch = [];
    }
    batch.push(text);
  }
  if (batch.length > 0) batches.push(batch);
  return batches;
}
