import { limitExceeded } from "../../base/errors.ts";
import { Generation } from "./generation.ts";
import type { GraphEngine } from "./graph.ts";
import type { LoadedParts } from "./index-file.ts";
import type { IndexShape, IndexWatermark, Neighbour, VectorIndex } from "./port.ts";
import { saveIndex } from "./save-index.ts";
import { type Accepts, removed, tableFrom, vectorIn } from "./table.ts";
import { checkLabel, maxVectors, unitVector } from "./unit.ts";

/** Tombstones that are tolerated: half as many as there are vectors, and a few that are never worth the work. */
const tombstonesPerVector = 0.5;
const leastTombstones = 1_024;
/**
 * Rows that the next generation takes over with each change: it catches up, and no change waits for a whole rebuild.
 */
const movedPerChange = 8;
/** Vectors that are added to a graph at once when nobody waits. */
const grownPerTurn = 32;

/**
 * An index over a graph that cannot remove vectors. A removed vector leaves a tombstone. When there are too many, a new
 * generation takes the remaining vectors over, a few with each put and remove, while the old one answers.
 */
export class GraphIndex implements VectorIndex {
  readonly shape: IndexShape;
  readonly #engine: GraphEngine;
  #current: Generation;
  #next: { readonly generation: Generation; row: number } | null = null;

  constructor(engine: GraphEngine, dimensions: number, generation?: Generation) {
    this.shape = { engine: engine.name, dimensions };
    this.#engine = engine;
    this.#current = generation ?? this.#empty();
  }

  /** Null if the parts do not fit together. */
  static from(engine: GraphEngine, parts: LoadedParts): GraphIndex | null {
    const { dimensions, rows, labels } = parts;
    const table = tableFrom(rows, labels);
    if (table === null || table.rowOf.size !== parts.count) return null;
    const graph =
      parts.graph === null
        ? engine.create(dimensions)
        : engine.read(parts.graph.path, dimensions, parts.graph.size);
    return graph && new GraphIndex(engine, dimensions, new Generation(dimensions, graph, table));
  }

  get size(): number {
    return this.#current.size;
  }

  put(label: number, vector: Float32Array): void {
    checkLabel(label);
    const unit = unitVector(vector, this.shape.dimensions);
    if (this.#current.table.labels.length >= maxVectors * (1 + tombstonesPerVector))
      throw limitExceeded("vectors", maxVectors, `An index holds at most ${maxVectors} vectors.`);
    this.#next?.generation.remove(label);
    this.#current.put(label, unit);
    this.#renew();
  }

  remove(label: number): void {
    if (!this.#current.table.rowOf.has(label)) return;
    this.#next?.generation.remove(label);
    this.#current.remove(label);
    this.#renew();
  }

  search(query: Float32Array, count: number, accepts?: Accepts): Neighbour[] {
    const unit = unitVector(query, this.shape.dimensions);
    const wanted = Math.floor(Math.min(count, this.size));
    return wanted >= 1 ? this.#current.search(unit, wanted, accepts) : [];
  }

  vectorOf(label: number): Float32Array | null {
    return vectorIn(this.#current.table, label);
  }

  purge(): void {
    this.#next = null;
    if (this.#current.tombstones > 0) this.#current = this.#current.livingWith(this.#empty().graph);
  }

  grow(): boolean {
    return this.#current.grow(grownPerTurn);
  }

  async save(folder: string, watermark: IndexWatermark): Promise<void> {
    const { table, graph } = this.#current;
    const { version: engineVersion } = this.#engine;
    const labels = Float64Array.from(table.labels);
    const parts = { shape: this.shape, engineVersion, rows: table.rows, labels, count: this.size };
    const mostBytes = graph.size * this.#engine.mostBytesPerVector(this.shape.dimensions);
    const saved = graph.size === 0 ? null : { size: graph.size, mostBytes, write: graph.write.bind(graph) };
    await saveIndex(folder, { ...parts, graph: saved }, watermark);
  }

  [Symbol.dispose](): void {
    // The libraries free a graph with its JavaScript object, so the reference is dropped:
    this.#current = this.#empty();
    this.#next = null;
  }

  #empty(): Generation {
    const { dimensions } = this.shape;
    return new Generation(dimensions, this.#engine.create(dimensions));
  }

  #renew(): void {
    const { size, tombstones } = this.#current;
    if (size === 0) {
      if (tombstones > 0) this.#current = this.#empty();
      this.#next = null;
      return;
    }
    if (this.#next === null) {
      if (tombstones <= Math.max(leastTombstones, size * tombstonesPerVector)) return;
      this.#next = { generation: this.#empty(), row: 0 };
    }
    this.#moveSome(this.#next);
  }

  #moveSome(next: { readonly generation: Generation; row: number }): void {
    const { rows, labels } = this.#current.table;
    const vector = new Float32Array(this.shape.dimensions);
    for (let moved = 0; moved < movedPerChange && next.row < labels.length; next.row++) {
      const label = labels[next.row]!;
      if (label === removed) continue;
      rows.read(next.row, vector);
      next.generation.put(label, vector);
      moved++;
    }
    if (next.row < labels.length) return;
    this.#current = next.generation;
    this.#next = null;
  }
}
