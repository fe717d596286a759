import { LaresError } from "../errors.ts";
import { openVectorEngine, refusals, type VectorEngine } from "./engine.ts";

export interface VectorSetOptions {
  /** Of every vector: 1 to 4,096. */
  readonly dimensions: number;
  /** Vectors it may hold at most: 1 to 1,048,576, default 100,000. Memory is taken for what is in it, twice as much each time. */
  readonly capacity?: number;
  /** Neighbours that a vector knows: 2 to 64, default 16. More finds more, and takes more memory. */
  readonly m?: number;
  /** How widely `add` looks around: 1 to 1,000, default 100. */
  readonly efConstruction?: number;
  /** How widely `search` looks around: 1 to 1,000, default 64, and never less than it is to find. */
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

/** A set that comes from bytes, by the options its constructor is called with. */
interface Restored {
  readonly engine: VectorEngine;
  readonly block: unknown;
  readonly m: number;
}
const restoredFor = new WeakMap<VectorSetOptions, Restored>();

const defaults = { capacity: 100_000, m: 16, efConstruction: 100, efSearch: 64 };
const bounds = { dimensions: 4096, capacity: 2 ** 20, leastM: 2, m: 64, ef: 1000, label: 2 ** 32 - 1 };
/** Of a set that was just made; below it a search compares with every vector anyway. */
const firstSlots = 64;
/** Where `m` stands in a set's bytes: u32, little-endian. */
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

  /** Throws `InvalidParams` for options out of their bounds, `LimitExceeded` where there is no memory. */
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

  /** Vectors in it. */
  get size(): number {
    return this.#engine.call("size", this.#block, null);
  }

  /**
   * Puts a vector in; one that has the label already is replaced. `label`: a whole number, 0 to 4,294,967,295. Throws
   * `InvalidParams` for another number of dimensions, for numbers that are not finite, and for all zeros;
   * `LimitExceeded` at `capacity`, or where there is no memory left. After an error the set is as it was.
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

  /** Whether there was one. Takes time in proportion to the size: nobody may go on knowing it. */
  remove(label: number): boolean {
    return this.#engine.call("remove", this.#block, null, checkedLabel(label)) === 1;
  }

  has(label: number): boolean {
    return this.#engine.call("has", this.#block, null, checkedLabel(label)) === 1;
  }

  /** The `count` (1 to 1,000) most similar, best first; fewer only where there are fewer. */
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

  /** All of it, for `VectorSet.fromBytes`; the format is described in the package's `hnsw/README.md`. */
  toBytes(): Uint8Array {
    const length = this.#engine.call("savedBytes", this.#block, null);
    const saved = allocate(this.#engine, length);
    this.#engine.call("save", this.#block, saved);
    return bytesOf(this.#engine, saved, length).slice();
  }

  /**
   * A set as it was; `capacity` and `efSearch` may be others. Throws `InvalidParams` for bytes that are no set, were
   * damaged, or were made up by somebody who meant harm.
   */
  static fromBytes(
    bytes: Uint8Array,
    options: Pick<VectorSetOptions, "capacity" | "efSearch"> = {},
  ): VectorSet {
    const engine = openVectorEngine();
    const refused = (): LaresError =>
      new LaresError("InvalidParams", `These ${bytes.length} bytes are no vector set, or a damaged one.`);
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

  /** Writes a vector to where the index reads it. */
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

  /** Into a block with twice the room. */
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

/** Throws where the index says 0, which is more than it can address, and where there is no memory. */
function allocate(engine: VectorEngine, bytes: number): unknown {
  try {
    if (bytes > 0) return engine.allocate(bytes);
  } catch {
    // An engine's word for "no memory left" is its own: RangeError here, InternalError there.
  }
  throw new LaresError(
    "LimitExceeded",
    bytes > 0
      ? `There is no memory for ${bytes} bytes of vectors; the manifest's max_memory_mb says how much there is.`
      : "So many vectors of so many dimensions need more than 2 GiB.",
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
