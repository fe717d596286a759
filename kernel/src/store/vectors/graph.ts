/**
 * An HNSW graph of a native library, reduced to what both libraries do safely: vectors are added and never removed, and
 * known by their position (0 and up, in the order of adding).
 */
export interface Graph {
  readonly size: number;
  /** The maximum number of results to ask for; beyond it, results are wrong or slow. */
  readonly mostAsked: number;
  /** Adds the unit vectors in `vectors`, one after the other. */
  add(vectors: Float32Array, count: number): void;
  /** Returns positions near `query`, best first as the graph sees it; `count` is from 1 to `size`. May return fewer. */
  search(query: Float32Array, count: number): ArrayLike<number>;
  /** Writes a file at `path`. Throws the library's own error. */
  write(path: string): void;
}

export interface GraphEngine {
  readonly name: "usearch" | "faiss";
  readonly version: string;
  create(dimensions: number): Graph;
  /**
   * Reads what `write` wrote. Only for a file whose bytes were proven: the libraries crash on others. Returns null if
   * it has another shape.
   */
  read(path: string, dimensions: number, size: number): Graph | null;
  /** Maximum bytes of a vector in a file that `write` writes. */
  mostBytesPerVector(dimensions: number): number;
}
