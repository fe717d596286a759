export interface Embedder extends AsyncDisposable {
  /**
   * Kind, model and dimensions, and for `hash` the version of its features. Vectors of embedders with the
   * same name can be compared.
   */
  readonly name: string;
  readonly dimensions: number;
  /** "words": similar vectors mean similar spelling, which adds little to a search by words. */
  readonly knows: "words" | "meanings";
  /**
   * True if it answers within a millisecond or two without leaving the machine. It then embeds during
   * projection.
   */
  readonly isImmediate: boolean;
  /**
   * Returns unit vectors, in order. Throws an EmbeddingError that says whether a retry can help and the
   * minimum delay before it. A text of white space only fails the whole call for good. An aborted signal
   * ends a running request, and the call rejects.
   */
  embed(texts: readonly string[], purpose: "item" | "query", signal?: AbortSignal): Promise<Float32Array[]>;
  /** Present only if the embedder learns from the texts of its memory. */
  readonly statistics?: TextStatistics;
}

/**
 * What an embedder has learned from a memory's texts. It depends on which texts were added and not removed,
 * not on their order, so it can be stored with the index and rebuilt from the items. It changes the weights
 * of queries, never an item's vector. Without it answers are worse, but not wrong.
 */
export interface TextStatistics {
  /** The number of texts added and not removed. */
  readonly documents: number;
  add(text: string): void;
  /** The text must be the one that was added. */
  remove(text: string): void;
  /** At most 300 KB; usually a few. */
  bytes(): Uint8Array;
  /**
   * Returns false, and is empty afterwards, if the bytes are not valid. Then all texts have to be added
   * again.
   */
  load(bytes: Uint8Array): boolean;
}

export class EmbeddingError extends Error {
  readonly isRetryable: boolean;
  readonly retryAfterMs: number;
  constructor(message: string, options: { isRetryable: boolean; retryAfterMs?: number; cause?: unknown }) {
    super(message, { cause: options.cause });
    this.name = "EmbeddingError";
    this.isRetryable = options.isRetryable;
    this.retryAfterMs = options.retryAfterMs ?? 0;
  }
}
