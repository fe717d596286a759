import { createRequire } from "node:module";
import process from "node:process";
import { storageError } from "../../base/errors.ts";
import type { Graph, GraphEngine } from "./graph.ts";

/** The used part of faiss-node. The rest crashes the process (removeIds over HNSW) or is not needed. */
interface Index {
  ntotal(): number;
  getDimension(): number;
  isTrained(): boolean;
  train(numbers: number[]): void;
  add(numbers: number[]): void;
  search(numbers: number[], count: number): { readonly labels: number[] };
  write(path: string): void;
  toBuffer(): Buffer;
}
interface Library {
  readonly Index: {
    fromFactory(dimensions: number, description: string, metric: number): Index;
    fromBuffer(bytes: Buffer): Index;
    read(path: string): Index;
  };
}

const squaredDistance = 1;
/**
 * Vectors of 32 bits, at most 32 edges each: 1,680 bytes at 384 dimensions. With 16 bits it would be 912, but a build
 * of the library for any processor lacks the instructions for these: adding takes six times as long, and finds the
 * same.
 */
const factory = "HNSW16,Flat";
/** At 100,000 × 384, clustered: recall@10 0.99 (0.98 with 64; the library's own 40 and 16 find less than 0.95). */
const expansion = { whenAdding: 100, whenSearching: 256 };
/** With more results than the search width, the library finds the rest by chance. */
const mostAsked = 256;
const bytesOfEdges = 512;
/** The library turns each number into a JavaScript object, so few are added at a time. */
const rowsPerCall = 16;

let leaked = 0;

/** Bytes that faiss-node has leaked in this process: each search leaks its query. */
export function leakedBytes(): number {
  return leaked;
}

export function loadFaiss(): GraphEngine {
  // Read by the libraries when they are loaded. With a thread for each processor, a search waits for all threads: on
  // two busy cores 12 to 36 ms instead of 0.6.
  process.env["OMP_NUM_THREADS"] ??= "1";
  process.env["OPENBLAS_NUM_THREADS"] ??= "1";
  const require = createRequire(import.meta.url);
  const library = require("faiss-node") as Library;
  const { version } = require("faiss-node/package.json") as { version: string };
  return {
    name: "faiss",
    version,
    create: (dimensions) => graphOf(emptyIndex(library, dimensions), 0, dimensions),
    read(path, dimensions, size) {
      const index = library.Index.read(path);
      return index.getDimension() === dimensions && index.ntotal() === size
        ? graphOf(index, size, dimensions)
        : null;
    },
    mostBytesPerVector: (dimensions) => dimensions * 4 + bytesOfEdges,
  };
}

/**
 * The search width of HNSW has no setter, but it is stored with the index. So an empty index is written, changed and
 * read. If it does not have the expected layout, the library's default stays.
 */
function emptyIndex(library: Library, dimensions: number): Index {
  const index = library.Index.fromFactory(dimensions, factory, squaredDistance);
  // Sixteen bits need no training, but adding to an index that is not marked as trained crashes the process.
  index.train(Array.from({ length: dimensions }, () => 0));
  if (!index.isTrained()) throw storageError("faiss-node makes an index that cannot be added to.");
  const bytes = index.toBuffer();
  const place = expansionsIn(bytes);
  if (place === null) return index;
  bytes.writeInt32LE(expansion.whenAdding, place);
  bytes.writeInt32LE(expansion.whenSearching, place + 4);
  return library.Index.fromBuffer(bytes);
}

/** Returns the offset of the two search widths in an empty HNSW index as FAISS 1.7 writes it. */
function expansionsIn(bytes: Buffer): number | null {
  // The kind; dimensions, count, two unused numbers, "is trained" and the metric.
  let place = 4 + 4 + 8 + 8 + 8 + 1 + 4;
  // Probabilities of levels, neighbours per level, levels, offsets, neighbours, each with its length before it.
  for (const itemBytes of [8, 4, 4, 8, 4]) {
    if (place + 8 > bytes.length) return null;
    const items = bytes.readBigUInt64LE(place);
    if (items > 1_000n) return null;
    place += 8 + Number(items) * itemBytes;
  }
  // Entry point and highest level, then the wanted numbers.
  place += 8;
  const isExpected =
    place + 12 <= bytes.length && bytes.readInt32LE(place) === 40 && bytes.readInt32LE(place + 4) === 16;
  return isExpected ? place : null;
}

function graphOf(index: Index, size: number, dimensions: number): Graph {
  let count = size;
  return {
    get size() {
      return count;
    },
    mostAsked,
    add(vectors, added) {
      for (let row = 0; row < added; row += rowsPerCall)
        index.add(
          Array.from(vectors.subarray(row * dimensions, Math.min(added, row + rowsPerCall) * dimensions)),
        );
      count += added;
    },
    search(query, asked) {
      leaked += dimensions * 4;
      return index.search(Array.from(query), asked).labels;
    },
    write: (path) => index.write(path),
  };
}
