import { LaresError } from "../errors.ts";
import { openVectorEngine, refusals, type VectorEngine } from "./engine.ts";

export interface VectorSetOptions {
  /** The dimensions of every vector: 1 to 4,096. */
  readonly dimensions: number;
  /**
   * The maximum number of vectors: 1 to 1,048,576, default 100,000. Memory is allocated for the current vectors and
   * doubled as needed.
   */
  readonly capacity?: number;
  /** Neighbours per vector: 2 to 64, default 16. More improve the results and take more memory. */
  readonly m?: number;
  /** The breadth of the search in `add`: 1 to 1,000, default 100. */
  readonly efConstruction?: number;
  /** The breadth of `search`: 1 to 1,000, default 64, and at least the number of results. */
  readonly efSearch?: number;
}

/** A vector that was found. */
export interface VectorMatch {
  readonly label: number;
  /** Cosine, -1 to 1. */
  readonly similarity: number;
}

/** An array or a typed array of numbers. */
export type VectorLike = ArrayLike<number>;

/** A set that is restored from bytes, with the options of the constructor. */
interface Restored {
  readonly engine: VectorEngine;
  readonly block: unknown;
  readonly m: number;
}
const restoredFor = new WeakMap<VectorSetOptions, Restored>();

const defaults = { capacity: 100_000, m: 16, efConstruction: 100, efSearch: 64 };
const bounds = { dimensions: 4096, capacity: 2 ** 20, leastM: 2, m: 64, ef: 1000, label: 2 ** 32 - 1 };
/** Slots of a new set; below this size a search compares with every vector anyway. */
const firstSlots = 64;
/** The offset of `m` in a set's bytes: u32, little-endian. */
const savedM = 16;

/**
 * A private set of vectors that is searched without a call to the kernel: an HNSW index in the guest's own memory.
 * Vectors are compared by direction; their lengths do not matter. Up to 4 × efSearch vectors results are exact, above
 * they are nearly so. The same calls give the same results everywhere.
 *
 * It is as private as a variable, and gone with the guest: keep its `toBytes()`, or fill it again.
 *
 *     const set = new VectorSet({ dimensions: 3 });
 *     set.add(7, [1, 0, 0]);
 *     set.search([0.9, 0.1, 0], 1); // [{ label: 7, similarity: 0.99… }]
 */
export class VectorSet {
  readonly dimensions: number;
  readonly capacity: number;
  readonly #m: number;
  readonly #efSearch: number;
  readonly #engine: VectorEngine;
  #block: unknown;

  /** Throws `InvalidParams` for options out of bounds, `LimitExceeded` if there is not enough memory. */
  constructor(options: VectorSetOptions) {
    const { dimensions, capacity, m, efConstruction, efSearch } = { ...defaults, ...options };
    this.dimensions = whole("dimensions", dimensions, 1, bounds.dimensions);
    this.capacity = whole("capacity", capacity, 1, bounds.capacity);
    this.#efSearch = whole("efSearch", efSearch, 1, bounds.ef);
    const restored = restoredFor.get(options);
    this.#m = restored?.m ?? whole("m", m, bounds.leastM, bounds.m);
    this.#engine = restored?.engine ?? openVectorEngine();
    this.#block = restored?.block;
    if (restored !== undefined) return;
    whole("efConstruction", efConstruction, 1, bounds.ef);
    const slots = Math.min(firstSlots, capacity);
    this.#block = this.#allocate(slots);
    this.#engine.call("create", this.#block, null, dimensions, slots, m, efConstruction);
  }

  get size(): number {
    return this.#engine.call("size", this.#block, null);
  }

  /**
   * Adds a vector, or replaces the one with the same label. `label`: a whole number, 0 to 4,294,967,295. Throws
   * `InvalidParams` for a wrong number of dimensions, for numbers that are not finite, and for all zeros;
   * `LimitExceeded` at `capacity`, or without enough memory. After an error the set is unchanged.
   */
  add(label: number, vector: VectorLike): void {
    const isReplaced = this.has(label);
    if (!isReplaced && this.size >= this.capacity)
      throw new LaresError("LimitExceeded", `The set is full: it holds ${this.capacity} vectors.`, {
        limit: "capacity",
        value: this.capacity,
      });
    this.#enter(vector);
    let status = this.#engine.call("add", this.#block, null, label);
    if (status === refusals.isFull) {
      this.#grow();
      this.#enter(vector);
      status = this.#engine.call("add", this.#block, null, label);
    }
    if (status < 0) throw noDirection();
  }

  /** Returns true if the label existed. Takes time in proportion to the size, as all links to it are removed. */
  remove(label: number): boolean {
    return this.#engine.call("remove", this.#block, null, checkedLabel(label)) === 1;
  }

  has(label: number): boolean {
    return this.#engine.call("has", this.#block, null, checkedLabel(label)) === 1;
  }

  /** Returns the `count` (1 to 1,000) most similar vectors, best first; fewer only if the set has fewer. */
  search(vector: VectorLike, count = 10): VectorMatch[] {
    whole("count", count, 1, bounds.ef);
    this.#enter(vector);
    const found = this.#engine.call("search", this.#block, null, count, this.#efSearch);
    if (found < 0) throw noDirection();
    const { buffer, byteOffset } = this.#engine.view(this.#block);
    const at = byteOffset + this.#engine.call("resultsAt", this.#block, null);
    const labels = new Uint32Array(buffer, at, found * 2);
    const similarities = new Float32Array(buffer, at, found * 2);
    return Array.from({ length: found }, (_, index) => ({
      label: labels[index * 2] ?? 0,
      similarity: similarities[index * 2 + 1] ?? 0,
    }));
  }

  /** Returns the whole set, for `VectorSet.fromBytes`; the package's `hnsw/README.md` describes the format. */
  toBytes(): Uint8Array {
    const length = this.#engine.call("savedBytes", this.#block, null);
    const saved = allocate(this.#engine, length);
    this.#engine.call("save", this.#block, saved);
    return bytesOf(this.#engine, saved, length).slice();
  }

  /**
   * Restores a set; `capacity` and `efSearch` may differ. Throws `InvalidParams` for bytes that are not a set, were
   * damaged, or were forged.
   */
  static fromBytes(
    bytes: Uint8Array,
    options: Pick<VectorSetOptions, "capacity" | "efSearch"> = {},
  ): VectorSet {
    const engine = openVectorEngine();
    const refused = (): LaresError =>
      new LaresError("InvalidParams", `These ${bytes.length} bytes are not a vector set, or a damaged one.`);
    if (bytes.length === 0) throw refused();
    const saved = allocate(engine, bytes.length);
    bytesOf(engine, saved, bytes.length).set(bytes);
    const needed = engine.call("loadBytes", null, saved, 1);
    if (needed < 0) throw refused();
    const block = allocate(engine, needed);
    if (engine.call("load", block, saved, 1) !== 0) throw refused();
    const size = engine.call("size", block, null);
    const capacity = options.capacity ?? Math.max(defaults.capacity, size);
    if (capacity < size)
      throw new LaresError("InvalidParams", `These bytes hold ${size} vectors; capacity is ${capacity}.`, {
        capacity,
      });
    const all = { ...options, capacity, dimensions: engine.call("dimensions", block, null) };
    const m = new DataView(bytes.buffer, bytes.byteOffset).getUint32(savedM, true);
    restoredFor.set(all, { engine, block, m });
    return new VectorSet(all);
  }

  /** Writes a vector to the place where the index reads it. */
  #enter(vector: VectorLike): void {
    if (vector.length !== this.dimensions)
      throw new LaresError(
        "InvalidParams",
        `The vector has ${vector.length} dimensions; those of this set have ${this.dimensions}.`,
        { dimensions: this.dimensions, value: vector.length },
      );
    const { buffer, byteOffset } = this.#engine.view(this.#block);
    const at = byteOffset + this.#engine.call("inputAt", this.#block, null);
    new Float32Array(buffer, at, this.dimensions).set(vector);
  }

  /** Moves the set into a block with twice the room. */
  #grow(): void {
    const slots = Math.min(this.#engine.call("capacity", this.#block, null) * 2, bounds.capacity);
    const larger = this.#allocate(slots);
    this.#engine.call("resize", this.#block, larger, slots);
    this.#block = larger;
  }

  #allocate(slots: number): unknown {
    return allocate(this.#engine, this.#engine.call("bytes", null, null, this.dimensions, slots, this.#m));
  }
}

/** Throws if the size is 0, which means that the index cannot address it, and if there is not enough memory. */
function allocate(engine: VectorEngine, bytes: number): unknown {
  try {
    if (bytes > 0) return engine.allocate(bytes);
  } catch {
    // Engines raise different errors when memory is exhausted: RangeError or InternalError.
  }
  throw new LaresError(
    "LimitExceeded",
    bytes > 0
      ? `There is no memory for ${bytes} bytes of vectors; the manifest's max_memory_mb says how much there is.`
      : "This number of vectors and dimensions needs more than 2 GiB.",
    { limit: "memory", value: bytes },
  );
}

function bytesOf(engine: VectorEngine, block: unknown, length: number): Uint8Array {
  const { buffer, byteOffset } = engine.view(block);
  return new Uint8Array(buffer, byteOffset, length);
}

function checkedLabel(label: number): number {
  return whole("label", label, 0, bounds.label);
}

function whole(name: string, value: number, least: number, most: number): number {
  if (Number.isInteger(value) && value >= least && value <= most) return value;
  throw new LaresError(
    "InvalidParams",
    `${name} is ${String(value)}; it must be a whole number from ${least} to ${most}.`,
    { name, value },
  );
}

function noDirection(): LaresError {
  return new LaresError(
    "InvalidParams",
    "The vector has no direction: it is all zeros, or not all of its numbers are finite.",
  );
}
