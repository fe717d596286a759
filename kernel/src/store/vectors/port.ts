import type { EngineName } from "../../memory-contract/store-settings.ts";

export interface Neighbour {
  /** The label under which the vector was put in. */
  readonly label: number;
  /** Cosine similarity, -1 to 1. */
  readonly similarity: number;
}

/** What is needed to make an index, or to believe one that is on the disk. */
export interface IndexShape {
  readonly engine: EngineName;
  readonly dimensions: number;
}

/**
 * One index over unit vectors. Labels are positive integers below 2^53, chosen by the caller and never used again after
 * `remove`. All three engines pass the same tests. Not for more than one caller at a time.
 */
export interface VectorIndex extends Disposable {
  readonly shape: IndexShape;
  /** Vectors that can be found. */
  readonly size: number;
  /** Throws InvalidParams for another number of dimensions, or a number that is not finite. Replaces what has the label. */
  put(label: number, vector: Float32Array): void;
  /** Unknown labels are fine. */
  remove(label: number): void;
  /**
   * The `count` nearest that `accepts` lets through, best first; fewer only where fewer were let through at all. Asks
   * the engine for more and more until that is so, or everything was seen.
   */
  search(query: Float32Array, count: number, accepts?: (label: number) => boolean): Neighbour[];
  /** What lies under the label, to half precision at the least; null where there is nothing. For a move to another engine. */
  vectorOf(label: number): Float32Array | null;
  /** From here on nothing of what was removed stands in what is saved: neither the vector nor where it lay. */
  purge(): void;
  /** Does a little of what is left to do for searches to be quick; false where there is nothing. */
  grow(): boolean;
  /**
   * Writes `knowledge.<engine>` and `knowledge.json` into the folder: what was there before is replaced whole, or not
   * at all. `watermark` comes back when it is loaded. StorageError where the disk refuses.
   */
  save(folder: string, watermark: IndexWatermark): Promise<void>;
}

/** What an index on the disk has seen. */
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
