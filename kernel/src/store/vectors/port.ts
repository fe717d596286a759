import type { EngineName } from "../../memory-contract/store-settings.ts";

export interface Neighbour {
  /** The label under which the vector was added. */
  readonly label: number;
  /** Cosine similarity, -1 to 1. */
  readonly similarity: number;
}

/** What is needed to create an index, or to accept one on the disk. */
export interface IndexShape {
  readonly engine: EngineName;
  readonly dimensions: number;
}

/**
 * One index over unit vectors. Labels are positive integers below 2^53, chosen by the caller and never reused after
 * `remove`. All three engines pass the same tests. Not for concurrent callers.
 */
export interface VectorIndex extends Disposable {
  readonly shape: IndexShape;
  /** Number of vectors that can be found. */
  readonly size: number;
  /**
   * Adds a vector, or replaces the one with this label. Throws InvalidParams for another number of dimensions, or a
   * number that is not finite.
   */
  put(label: number, vector: Float32Array): void;
  /** Ignores unknown labels. */
  remove(label: number): void;
  /**
   * Returns the `count` nearest vectors that `accepts` accepts, best first; fewer only if fewer are accepted at all.
   * Asks the engine for more and more until that is so, or everything was seen.
   */
  search(query: Float32Array, count: number, accepts?: (label: number) => boolean): Neighbour[];
  /**
   * Returns the vector of a label, at least at half precision; null if there is none. For a change to another engine.
   */
  vectorOf(label: number): Float32Array | null;
  /** Ensures that saved files contain no removed vector and no trace of where it was in the graph. */
  purge(): void;
  /** Does some of the work that makes searches fast. Returns false when nothing is left to do. */
  grow(): boolean;
  /**
   * Writes `knowledge.<engine>` and `knowledge.json` into the folder, replacing what it contains as a whole or not at
   * all. `watermark` is returned when the index is loaded. Throws StorageError if the disk refuses.
   */
  save(folder: string, watermark: IndexWatermark): Promise<void>;
}

/** The state up to which a saved index has all changes. */
export interface IndexWatermark {
  readonly seq: number;
  readonly hash: string;
  /** The embedder that made the vectors: name, model, generation. */
  readonly embedder: string;
}

export interface LoadedIndex {
  readonly index: VectorIndex;
  readonly watermark: IndexWatermark;
}
