import { pseudoRandom } from "../../base/pseudo-random.ts";
import type { Graph } from "./graph.ts";
import { Nearest } from "./nearest.ts";
import type { Neighbour } from "./port.ts";
import { rowsFrom, rowsPerBlock } from "./rows.ts";
import { type Accepts, nearestIn, removed, scan, type Table } from "./table.ts";

/** The graph is asked for at least this many: wrongly ordered results are sorted by the vectors stored here. */
const leastAsked = 64;
/**
 * Comparing a row here costs about an eighth of finding one through a graph (0.5 µs and 3 to 6 µs at 384 dimensions),
 * so asking a graph for more than an eighth of the rows is slower than the exact answer.
 */
const rowsPerAsked = 8;
/** More results are requested than wanted, because those near the end may be in the wrong order. */
const overFetch = 1.25;
const widerBy = 4;
/**
 * Length of the random offset that is added to each vector in the graph. Equal vectors link only to each other there:
 * among 5,000, 2,000 equal ones hid one in four of the others (usearch) or more than half (faiss). With this offset,
 * none.
 */
const apart = 5e-3;

/**
 * A graph that only grows, the vectors in it at half precision, and the newest vectors, which are not in it yet. A row
 * of the table is a position in the graph.
 */
export class Generation {
  readonly table: Table;
  readonly graph: Graph;

  constructor(dimensions: number, graph: Graph, table?: Table) {
    this.graph = graph;
    this.table = table ?? { rows: rowsFrom("f16", dimensions, [], 0), labels: [], rowOf: new Map() };
  }

  get size(): number {
    return this.table.rowOf.size;
  }

  /** Rows whose vector was removed, or replaced by a later one. */
  get tombstones(): number {
    return this.table.labels.length - this.size;
  }

  /** `unit` has length 1 (or 0). */
  put(label: number, unit: Float32Array): void {
    this.remove(label);
    this.#append(label, unit);
    // In small batches: a large one would delay searches. A longer backlog is left to `grow`.
    const behind = this.table.labels.length - this.graph.size;
    if (behind % rowsPerBlock === 0) this.grow(rowsPerBlock);
  }

  remove(label: number): void {
    const { labels, rowOf } = this.table;
    const row = rowOf.get(label);
    if (row === undefined) return;
    rowOf.delete(label);
    labels[row] = removed;
  }

  /** `wanted` is from 1 to `size`. */
  search(query: Float32Array, wanted: number, accepts?: Accepts): Neighbour[] {
    return this.#throughGraph(query, wanted, accepts) ?? nearestIn(this.table, query, wanted, accepts);
  }

  /** Returns null if the exact answer is cheaper, or if the graph does not return enough accepted vectors. */
  #throughGraph(query: Float32Array, wanted: number, accepts?: Accepts): Neighbour[] | null {
    const { graph, table } = this;
    const most = Math.min(graph.size, graph.mostAsked, Math.floor(table.labels.length / rowsPerAsked));
    let ask = Math.ceil((Math.max(leastAsked, wanted * overFetch) * table.labels.length) / this.size);
    while (ask <= most) {
      const best = new Nearest(wanted);
      const positions = graph.search(query, ask);
      const seen = this.#offer(positions, query, best, accepts);
      if (seen >= wanted) {
        scan(table, graph.size, query, best, accepts);
        return best.sorted();
      }
      const likely = Math.ceil((2 * wanted * positions.length) / Math.max(1, seen));
      ask = Math.max(ask * widerBy, likely);
    }
    return null;
  }

  #offer(positions: ArrayLike<number>, query: Float32Array, best: Nearest, accepts?: Accepts): number {
    const { rows, labels } = this.table;
    let seen = 0;
    for (let at = 0; at < positions.length; at++) {
      // A position that was never used has no label: the library's results are checked.
      const label = labels[positions[at]!] ?? removed;
      if (label === removed || (accepts !== undefined && !accepts(label))) continue;
      seen++;
      best.offer(label, rows.dot(positions[at]!, query));
    }
    return seen;
  }

  /** Adds at most this many rows to the graph, once a block of them is missing. Returns false if nothing was added. */
  grow(atMost: number): boolean {
    const { rows, labels } = this.table;
    const first = this.graph.size;
    if (labels.length - first < rowsPerBlock) return false;
    const count = Math.min(atMost, labels.length - first);
    const { dimensions } = rows;
    const batch = new Float32Array(count * dimensions);
    for (let at = 0; at < count; at++)
      rows.read(first + at, batch.subarray(at * dimensions, (at + 1) * dimensions));
    const random = pseudoRandom(first);
    const most = apart * Math.sqrt(3 / dimensions);
    for (let at = 0; at < batch.length; at++) batch[at]! += most * (2 * random() - 1);
    this.graph.add(batch, count);
    return true;
  }

  /**
   * Returns a generation with the vectors that still exist and an empty graph. Until the graph has grown, searches
   * compare row by row.
   */
  livingWith(graph: Graph): Generation {
    const { rows, labels } = this.table;
    const living = new Generation(rows.dimensions, graph);
    const vector = new Float32Array(rows.dimensions);
    for (const [row, label] of labels.entries()) {
      if (label === removed) continue;
      rows.read(row, vector);
      living.#append(label, vector);
    }
    return living;
  }

  #append(label: number, unit: Float32Array): void {
    const { rows, labels, rowOf } = this.table;
    rowOf.set(label, labels.length);
    labels.push(label);
    rows.append(unit);
  }
}
