import { degreeKm, distanceKm, type Position } from "./geo.ts";

/**
 * Clusters of positions by density (DBSCAN), made one position at a time: `add` looks only at the positions nearby. The
 * clusters do not depend on the order, but for a position between two of them, which belongs to one.
 */
export class Clusters {
  readonly #km: number;
  readonly #least: number;
  readonly #positions: Position[] = [];
  readonly #weights: number[] = [];
  /** The weights of all positions within reach, its own included. */
  readonly #near: number[] = [];
  /** The position whose cluster this one joined; itself where it joined none. */
  readonly #joined: number[] = [];
  readonly #cells = new Map<string, number[]>();

  /** How many pairs of positions were compared. */
  comparisons = 0;

  /** Positions within `km` of one that has a weight of `least` within `km`, its own included, are in its cluster. */
  constructor(km: number, least: number) {
    this.#km = km;
    this.#least = least;
  }

  /** `weight`: how many positions it stands for. */
  add(position: Position, weight = 1): void {
    const near = this.#within(position);
    const added = this.#positions.length;
    this.#positions.push(position);
    this.#weights.push(weight);
    this.#joined.push(added);
    const cell = this.#cellOf(position);
    const members = this.#cells.get(cell);
    if (members === undefined) this.#cells.set(cell, [added]);
    else members.push(added);
    const dense: number[] = [];
    for (const other of near) {
      const wasDense = this.#isDense(other);
      this.#near[other] = (this.#near[other] ?? 0) + weight;
      if (!wasDense && this.#isDense(other)) dense.push(other);
    }
    this.#near.push(near.reduce((sum, other) => sum + (this.#weights[other] ?? 0), weight));
    if (this.#isDense(added)) dense.push(added);
    // Only a dense position connects those around it; one that has just become dense does so now.
    for (const one of dense)
      for (const other of this.#within(this.#positions[one] ?? position)) this.#connect(one, other);
    if (!this.#isDense(added)) {
      const neighbour = near.find((other) => this.#isDense(other));
      if (neighbour !== undefined) this.#joined[added] = this.#rootOf(neighbour);
    }
  }

  /** Returns the members of each cluster, as numbers in the order of `add`; the largest cluster comes first. */
  groups(): number[][] {
    const byRoot = new Map<number, number[]>();
    for (const index of this.#positions.keys()) {
      const root = this.#rootOf(index);
      const members = byRoot.get(root);
      if (members === undefined) byRoot.set(root, [index]);
      else members.push(index);
    }
    return [...byRoot.values()]
      .filter((members) => members.some((index) => this.#isDense(index)))
      .toSorted((one, other) => other.length - one.length || (one[0] ?? 0) - (other[0] ?? 0));
  }

  #isDense(index: number): boolean {
    return (this.#near[index] ?? 0) >= this.#least;
  }

  #connect(one: number, other: number): void {
    const root = this.#rootOf(one);
    const otherRoot = this.#rootOf(other);
    if (root === otherRoot) return;
    // A position that is not dense stays where it is, so that it does not connect two clusters.
    if (!this.#isDense(other) && otherRoot !== other) return;
    this.#joined[otherRoot] = root;
  }

  #rootOf(index: number): number {
    let root = index;
    while (this.#joined[root] !== root) root = this.#joined[root] ?? root;
    // Shortens the way for the next time.
    for (let at = index; at !== root;) {
      const next = this.#joined[at] ?? root;
      this.#joined[at] = root;
      at = next;
    }
    return root;
  }

  #cellOf([latitude, longitude]: Position): string {
    const row = Math.floor((latitude * degreeKm) / this.#km);
    return `${row} ${Math.floor((longitude + 180) / this.#columnDegrees(row))}`;
  }

  /** The width of a cell in degrees of longitude: at least `km` wherever in its row. */
  #columnDegrees(row: number): number {
    const farthest = (Math.max(Math.abs(row), Math.abs(row + 1)) * this.#km) / degreeKm;
    // Around a pole all meridians are near each other.
    if (farthest > 89) return 360;
    return Math.min(360, this.#km / degreeKm / Math.cos((farthest * Math.PI) / 180));
  }

  #within(position: Position): number[] {
    const found: number[] = [];
    const middle = Math.floor((position[0] * degreeKm) / this.#km);
    for (let row = middle - 1; row <= middle + 1; row++) {
      const width = this.#columnDegrees(row);
      const columns = Math.ceil(360 / width);
      const column = Math.floor((position[1] + 180) / width);
      // The first and the last column, which may be narrow, meet at the date line.
      const around = [-2, -1, 0, 1, 2].map((by) => (((column + by) % columns) + columns) % columns);
      for (const at of new Set(around))
        for (const index of this.#cells.get(`${row} ${at}`) ?? []) {
          this.comparisons += 1;
          if (distanceKm(position, this.#positions[index] ?? position) <= this.#km) found.push(index);
        }
    }
    return found;
  }
}
