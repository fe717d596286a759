import { randomHex } from "../../platform/random.ts";
import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { JsonObject } from "../../base/json.ts";
import { sha256Hex } from "../../platform/files/hash.ts";
import type { JournalRecord, Neighbour, TextKind, TimeSpan } from "./port.ts";

/** A record without a source follows the one before it if it was appended within this time. */
export const maxGapMs = 30 * 60_000;
const maxSteps = 2;
/** Maximum sources that are cached. */
const maxKnownSources = 10_000;

/**
 * Which rows are neighbours. Rows of one kind and one source follow each other by the given position; without one, by
 * time, as long as the gaps are short. No text is copied from one row to another: neighbours are looked up when a
 * question is answered, so nothing of a removed row remains with them. A source is stored as a salted digest, because
 * its name may have to be forgotten.
 */
export class Places {
  readonly #salt: string;
  readonly #sources = new Map<string, number>();
  readonly #insert: StatementSync;
  readonly #measure: StatementSync;
  readonly #delete: StatementSync;
  readonly #find: StatementSync;
  readonly #before: StatementSync;
  readonly #after: StatementSync;
  readonly #within: StatementSync;

  constructor(database: DatabaseSync) {
    database.exec("CREATE TABLE IF NOT EXISTS place_salt (salt TEXT NOT NULL)");
    const known = database.prepare("SELECT salt FROM place_salt").get();
    this.#salt = known === undefined ? randomHex(16) : String(known["salt"]);
    if (known === undefined) database.prepare("INSERT INTO place_salt VALUES (?)").run(this.#salt);
    this.#insert = database.prepare("INSERT OR REPLACE INTO places VALUES (?, ?, ?, ?, ?)");
    this.#measure = database.prepare("UPDATE places SET terms = ? WHERE row = ?");
    this.#delete = database.prepare("DELETE FROM places WHERE row = ?");
    this.#find = database.prepare("SELECT row, source, position, at_ms, terms FROM places WHERE row = ?");
    const beside = (sign: "<" | ">", order: "ASC" | "DESC"): StatementSync =>
      database.prepare(
        `SELECT row, position FROM places WHERE source = ? AND (position, row) ${sign} (?, ?)
         ORDER BY position ${order}, row ${order} LIMIT ${maxSteps}`,
      );
    this.#before = beside("<", "DESC");
    this.#after = beside(">", "ASC");
    this.#within = database.prepare(
      "SELECT row FROM places WHERE source = ? AND position >= ? AND position < ? ORDER BY position DESC, row DESC LIMIT ?",
    );
  }

  add(kind: TextKind, { seq, writtenMs }: JournalRecord, data: JsonObject): void {
    const { source, position, timestamp } = data;
    const given = typeof timestamp === "string" ? Date.parse(timestamp) : NaN;
    const atMs = Number.isNaN(given) ? writtenMs : given;
    const isPlaced = typeof position === "number" && Number.isFinite(position);
    const name = typeof source === "string" ? source : null;
    this.#insert.run(seq, this.#sourceOf(kind, name, isPlaced), isPlaced ? position : atMs, atMs, 0);
  }

  /** Sets the number of terms in a row. */
  measure(row: number, terms: number): void {
    this.#measure.run(terms, row);
  }

  /** Returns the number of terms of each row, in the same order. */
  lengths(rows: readonly number[]): number[] {
    return rows.map((row) => Number(this.#find.get(row)?.["terms"] ?? 0));
  }

  remove(row: number): void {
    this.#delete.run(row);
  }

  neighbours(rows: readonly number[]): Map<number, Neighbour[]> {
    const found = new Map<number, Neighbour[]>();
    for (const row of rows) {
      const place = this.#find.get(row);
      if (place === undefined) continue;
      const [source, position] = [Number(place["source"]), Number(place["position"])];
      const neighbours = [this.#before, this.#after].flatMap((beside) =>
        chained(beside.all(source, position, row), position, isPlacedSource(source)),
      );
      if (neighbours.length > 0) found.set(row, neighbours);
    }
    return found;
  }

  /** Returns the rows within one of these times. */
  inTime(rows: readonly number[], times: readonly TimeSpan[]): number[] {
    return rows.filter((row) => {
      const atMs = Number(this.#find.get(row)?.["at_ms"]);
      return times.some(({ fromMs, untilMs }) => atMs >= fromMs && atMs < untilMs);
    });
  }

  /** Returns the newest rows within these times that have no source. */
  within(kind: TextKind, times: readonly TimeSpan[], limit: number): { row: number; score: number }[] {
    const source = this.#sourceOf(kind, null, false);
    const rows = times.flatMap(({ fromMs, untilMs }) =>
      this.#within.all(source, fromMs, untilMs, limit).map(({ row }) => Number(row)),
    );
    return [...new Set(rows)].slice(0, limit).map((row) => ({ row, score: Number.MIN_VALUE }));
  }

  /** An odd number if the source's rows have positions of their own. */
  #sourceOf(kind: TextKind, name: string | null, isPlaced: boolean): number {
    const key = JSON.stringify([kind, name, isPlaced]);
    const known = this.#sources.get(key);
    if (known !== undefined) return known;
    const digest = Number.parseInt(sha256Hex(this.#salt + key).slice(0, 12), 16);
    const source = digest * 2 + (isPlaced ? 1 : 0);
    if (this.#sources.size >= maxKnownSources) this.#sources.clear();
    this.#sources.set(key, source);
    return source;
  }
}

const isPlacedSource = (source: number): boolean => source % 2 === 1;

/** Stops at the first gap. */
function chained(rows: readonly Record<string, unknown>[], position: number, isPlaced: boolean): Neighbour[] {
  const neighbours: Neighbour[] = [];
  let last = position;
  for (const [index, { row, position: at }] of rows.entries()) {
    if (!isPlaced && Math.abs(Number(at) - last) > maxGapMs) break;
    last = Number(at);
    neighbours.push({ row: Number(row), steps: index + 1 });
  }
  return neighbours;
}
