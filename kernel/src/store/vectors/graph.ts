/**
 * An HNSW graph of a native library, reduced to what both can do without harm: vectors are added and never removed,
 * and known by their position (0 and up, in the order of adding).
 */
export interface Graph {
  readonly size: number;
  /** Asked for more, it no longer finds what is right, or takes long. */
  readonly mostAsked: number;
  /** `vectors`: as many unit vectors, one after the other. */
  add(vectors: Float32Array, count: number): void;
  /** Positions near `query`, best first as the graph sees it; `count` is from 1 to `size`. May be fewer. */
  search(query: Float32Array, count: number): ArrayLike<number>;
  /** Writes a file at `path`; the library's own error where it cannot. */
  write(path: string): void;
}

export interface GraphEngine {
  readonly name: "usearch" | "faiss";
  readonly version: string;
  create(dimensions: number): Graph;
  /**
   * From what `write` wrote. Only for a file whose bytes were proven: the libraries end the process on others. Null
   * where it is not of this shape.
   */
  read(path: string, dimensions: number, size: number): Graph | null;
  /** No vector takes more in a file that `write` writes. */
  mostBytesPerVector(dimensions: number): number;
}
