import { limitExceeded } from "../../base/errors.ts";
import type { LoadedParts } from "./index-file.ts";
import type { IndexShape, IndexWatermark, Neighbour, VectorIndex } from "./port.ts";
import { rowsFrom } from "./rows.ts";
import { saveIndex } from "./save-index.ts";
import { type Accepts, nearestIn, type Table, tableFrom, vectorIn } from "./table.ts";
import { checkLabel, maxVectors, unitVector } from "./unit.ts";

/** Has to be increased when the format that `exact` writes changes. */
export const exactVersion = "1";

/**
 * Compares every vector, so it is always right. 384 dimensions take 1,536 bytes of memory for the vector and some 60
 * for its label; 10,000 of them are searched in 4 to 5 ms.
 */
export class ExactIndex implements VectorIndex {
  readonly shape: IndexShape;
  readonly #table: Table;

  constructor(dimensions: number, table?: Table) {
    this.shape = { engine: "exact", dimensions };
    this.#table = table ?? { rows: rowsFrom("f32", dimensions, [], 0), labels: [], rowOf: new Map() };
  }

  /** Null if the parts do not fit together. */
  static from({ dimensions, rows, labels }: LoadedParts): ExactIndex | null {
    const table = tableFrom(rows, labels);
    return table === null || table.rowOf.size !== labels.length ? null : new ExactIndex(dimensions, table);
  }

  get size(): number {
    return this.#table.labels.length;
  }

  put(label: number, vector: Float32Array): void {
    checkLabel(label);
    const unit = unitVector(vector, this.shape.dimensions);
    this.remove(label);
    if (this.size >= maxVectors)
      throw limitExceeded("vectors", maxVectors, `An index holds at most ${maxVectors} vectors.`);
    const { rows, labels, rowOf } = this.#table;
    rowOf.set(label, labels.length);
    labels.push(label);
    rows.append(unit);
  }

  remove(label: number): void {
    const { rows, labels, rowOf } = this.#table;
    const row = rowOf.get(label);
    if (row === undefined) return;
    rowOf.delete(label);
    rows.fillWithLast(row);
    const last = labels.pop()!;
    if (last === label) return;
    labels[row] = last;
    rowOf.set(last, row);
  }

  search(query: Float32Array, count: number, accepts?: Accepts): Neighbour[] {
    const unit = unitVector(query, this.shape.dimensions);
    const wanted = Math.floor(Math.min(count, this.size));
    return wanted >= 1 ? nearestIn(this.#table, unit, wanted, accepts) : [];
  }

  vectorOf(label: number): Float32Array | null {
    return vectorIn(this.#table, label);
  }

  purge(): void {
    // Removed vectors are overwritten by the last one, and only existing ones are saved.
  }

  grow(): boolean {
    return false;
  }

  save(folder: string, watermark: IndexWatermark): Promise<void> {
    const { rows, labels } = this.#table;
    const parts = { engineVersion: exactVersion, rows, labels: Float64Array.from(labels), count: this.size };
    return saveIndex(folder, { ...parts, shape: this.shape, graph: null }, watermark);
  }

  [Symbol.dispose](): void {
    // The index is memory only, which is garbage-collected.
  }
}
