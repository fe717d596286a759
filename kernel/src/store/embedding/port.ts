export interface Embedder extends AsyncDisposable {
  /** Names kind, model and dimensions, and for `hash` the version of its features: vectors of one name can be compared. */
  readonly name: string;
  readonly dimensions: number;
  /** "words": likeness of how texts are written, which says little more than their words do. */
  readonly knows: "words" | "meanings";
  /** True where it answers within a millisecond or two, without leaving the machine: it then embeds while projecting. */
  readonly isImmediate: boolean;
  /**
   * Unit vectors, in order. Throws EmbeddingError, saying whether trying again can help, and after how long at the
   * least; a text with nothing but white space in it is such an error, for good, for the whole call.
   */
  embed(texts: readonly string[], purpose: "item" | "query"): Promise<Float32Array[]>;
  /** Only where the embedder learns from the texts of the memory it serves. */
  readonly statistics?: TextStatistics;
}

/**
 * What an embedder has learned from a memory's texts. A projection: it depends on which texts were added and not
 * removed, not on their order, so it can be kept with the index and be built again from the items. It changes how
 * queries are weighted, never an item's vector; without it answers are worse, and none is wrong.
 */
export interface TextStatistics {
  /** Texts added and not removed. */
  readonly documents: number;
  add(text: string): void;
  /** A text as it was added. */
  remove(text: string): void;
  /** At most 300 KB; usually a few. */
  bytes(): Uint8Array;
  /** False, and empty from then on, where these are not bytes to be believed: add all texts again. */
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
