import { type Embedder, EmbeddingError } from "./port.ts";

/** The outcome for the texts from `from` to `to`, exclusive. */
export type EmbeddedPart = { readonly from: number; readonly to: number } & (
  { readonly vectors: readonly Float32Array[] } | { readonly error: EmbeddingError }
);

/**
 * Embeds all texts in one call. If the call is refused for good, embeds them one by one, so that one bad text
 * does not fail the others. Rejects with the signal's reason.
 */
export async function embedEach(
  embedder: Embedder,
  texts: readonly string[],
  signal?: AbortSignal,
): Promise<EmbeddedPart[]> {
  if (texts.length === 0) return [];
  const whole = await embedPart(embedder, texts, 0, signal);
  if (!("error" in whole) || whole.error.isRetryable || texts.length === 1) return [whole];
  const parts: EmbeddedPart[] = [];
  for (const [index, text] of texts.entries()) {
    const part = await embedPart(embedder, [text], index, signal);
    // The service is unreachable: the other texts would fail for the same reason.
    const isGone = "error" in part && part.error.isRetryable;
    parts.push(isGone ? { ...part, to: texts.length } : part);
    if (isGone) break;
  }
  return parts;
}

async function embedPart(
  embedder: Embedder,
  texts: readonly string[],
  from: number,
  signal?: AbortSignal,
): Promise<EmbeddedPart> {
  signal?.throwIfAborted();
  const place = { from, to: from + texts.length };
  try {
    const vectors = await embedder.embed(texts, "item", signal);
    const areRight =
      vectors.length === texts.length && vectors.every(({ length }) => length === embedder.dimensions);
    if (areRight) return { ...place, vectors };
    const message = `${embedder.name} did not answer for each text.`;
    return { ...place, error: new EmbeddingError(message, { isRetryable: true }) };
  } catch (error) {
    if (!(error instanceof EmbeddingError)) throw error;
    return { ...place, error };
  }
}
