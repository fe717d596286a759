import { degreeKm, distanceKm, type Position } from "./geo.ts";

interface Town {
  readonly name: string;
  /** Two letters, ISO 3166: "IT". */
  readonly country: string;
  /** It is beside the town, not in it. */
  readonly isNear: boolean;
}

/** Farther than this, a town says nothing about a place. */
const farthestKm = 60;
/** A village reaches as far as this. */
const leastReachKm = 2;

/**
 * Names of places from a list of towns: a town a line, sorted by latitude. Neither the list nor its lines are parsed before
 * a name is needed.
 */
export class Gazetteer {
  readonly #text: string;
  #lines: readonly string[] | null = null;
  #latitudes: Float32Array = new Float32Array();

  constructor(text: string) {
    this.#text = text;
  }

  /**
   * Returns the town that a position belongs to, or else the nearest, or null if it is far away. A large town reaches farther: the
   * suburbs of Rome are Rome, although the middle of a small town may be nearer.
   */
  townAt(position: Position): Town | null {
    const lines = this.#parsed();
    const reach = farthestKm / degreeKm;
    let best: { readonly line: string; readonly score: number; readonly km: number } | null = null;
    for (
      let at = this.#firstFrom(position[0] - reach);
      at < lines.length && (this.#latitudes[at] ?? 90) <= position[0] + reach;
      at++
    ) {
      const line = lines[at] ?? "";
      const [, latitude, longitude, , thousands] = line.split("\t");
      const km = distanceKm(position, [Number(latitude), Number(longitude)]);
      if (km > farthestKm) continue;
      const reachKm = leastReachKm + Math.sqrt(Number(thousands)) / 2;
      const score = km / reachKm;
      const isBetter = best === null || (score > 1 && best.score > 1 ? km < best.km : score < best.score);
      if (isBetter) best = { line, score, km };
    }
    if (best === null) return null;
    const [name = "", , , country = ""] = best.line.split("\t");
    return { name, country, isNear: best.score > 1 };
  }

  #parsed(): readonly string[] {
    if (this.#lines !== null) return this.#lines;
    const lines = this.#text.split("\n").filter((line) => line !== "");
    this.#latitudes = Float32Array.from(lines, (line) => {
      const begin = line.indexOf("\t") + 1;
      return Number(line.slice(begin, line.indexOf("\t", begin)));
    });
    return (this.#lines = lines);
  }

  /** Returns the number of the first line at this latitude or north of it. */
  #firstFrom(latitude: number): number {
    let low = 0;
    let high = this.#latitudes.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#latitudes[middle] ?? 90) < latitude) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
