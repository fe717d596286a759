import { Nearest } from "./nearest.ts";
import type { Neighbour } from "./port.ts";
import type { Rows } from "./rows.ts";

/** The label of a row whose vector was removed. */
export const removed = 0;

/** Vectors with their labels, by row. */
export interface Table {
  readonly rows: Rows;
  /** By row. */
  readonly labels: number[];
  readonly rowOf: Map<number, number>;
}

export type Accepts = (label: number) => boolean;

/** Null if a label occurs twice. */
export function tableFrom(rows: Rows, labels: Float64Array): Table | null {
  const rowOf = new Map<number, number>();
  for (const [row, label] of labels.entries()) {
    if (label === removed) continue;
    if (rowOf.has(label)) return null;
    rowOf.set(label, row);
  }
  return { rows, labels: Array.from(labels), rowOf };
}

export function vectorIn({ rows, rowOf }: Table, label: number): Float32Array | null {
  const row = rowOf.get(label);
  if (row === undefined) return null;
  const vector = new Float32Array(rows.dimensions);
  rows.read(row, vector);
  return vector;
}

/** Offers every accepted row from `first` on. Exact; its time grows with the number of rows. */
export function scan(
  { rows, labels }: Table,
  first: number,
  query: Float32Array,
  best: Nearest,
  accepts?: Accepts,
): void {
  for (let row = first; row < labels.length; row++) {
    const label = labels[row]!;
    if (label === removed || (accepts !== undefined && !accepts(label))) continue;
    best.offer(label, rows.dot(row, query));
  }
}

/** Returns the exact answer. */
export function nearestIn(table: Table, query: Float32Array, count: number, accepts?: Accepts): Neighbour[] {
  const best = new Nearest(count);
  scan(table, 0, query, best, accepts);
  return best.sorted();
}
