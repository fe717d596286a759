import type { TextIndex, TextKind, TimeSpan } from "./port.ts";
import type { Places } from "./places.ts";
import type { PreparedSql } from "./prepared-sql.ts";

/** Maximum different words of a text for which the best rows are searched; the others are ignored. */
export const maxBestWords = 64;
/** Maximum rows that are ranked. Words that occur in more rows are ignored if there are rarer ones. */
export const maxRankedRows = 30_000;
/** Number of the best rows by FTS5 that are ranked again by their length. */
const rankedRows = 150;
/** The weight of a row's length in BM25 ("b"): in FTS5, and here. */
const [ftsLengthPart, lengthPart] = [0.75, 0.2];
/** Number of best rows by their own words whose neighbours are looked up. */
const spreadRows = 100;
/** The share of the scores of rows one and two steps away that a row gets in addition to its own. */
const neighbourWeights = [0, 0.5, 0.4] as const;

export interface Scored {
  readonly row: number;
  readonly score: number;
}

/** What is searched for: for each word the forms that it may have; at most `maxBestWords`. */
type Terms = readonly (readonly string[])[];

/** Orders the rows of a full-text table by how well they answer a question. */
export class TextRanking {
  readonly #sql: PreparedSql;
  readonly #places: Places;

  constructor(sql: PreparedSql, places: Places) {
    this.#sql = sql;
    this.#places = places;
  }

  best(
    kind: TextKind,
    terms: Terms,
    { limit, times = [], isAlone = false }: Parameters<TextIndex["best"]>[2],
  ): Scored[] {
    const own = this.#atTheirLength(this.#ranked(kind, terms, Math.max(limit, rankedRows)));
    if (isAlone) return own.slice(0, limit);
    const found = own.length === 0 ? this.#places.within(kind, times, limit) : this.#spread(own, times);
    return found.slice(0, limit).map(({ row, score }) => ({ row, score }));
  }

  /** The part of the terms that no row has, from 0 to 1. */
  unknownPart(kind: TextKind, terms: Terms): number {
    const unknown = terms.filter((forms) => this.countTo(kind, anyOf(forms), 1) === 0);
    return terms.length === 0 ? 0 : unknown.length / terms.length;
  }

  /** The number of rows that match the expression; at most `atMost`. */
  countTo(kind: TextKind, expression: string, atMost: number): number {
    const sql = `SELECT count(*) AS n FROM (SELECT 1 FROM ${kind} WHERE ${kind} MATCH ? LIMIT ?)`;
    return Number(this.#sql.row(sql, expression, atMost)?.["n"]);
  }

  /** Returns the best rows by their own words. */
  #ranked(kind: TextKind, terms: Terms, limit: number): Scored[] {
    const { expression, fromRow } = this.#worthRanking(kind, terms);
    if (expression === "") return [];
    return this.#sql
      .rows(
        `SELECT rowid AS row, -rank AS score FROM ${kind} WHERE ${kind} MATCH ? AND rowid >= ? ORDER BY rank, rowid DESC LIMIT ?`,
        expression,
        fromRow,
        limit,
      )
      .map(({ row, score }) => ({ row: Number(row), score: Math.max(Number(score), Number.MIN_VALUE) }));
  }

  /**
   * FTS5 reduces the score of long rows considerably and cannot be configured. Rows of a memory are long because they
   * contain more, not because they repeat themselves. So most of the reduction is undone.
   */
  #atTheirLength(own: readonly Scored[]): Scored[] {
    const lengths = this.#places.lengths(own.map(({ row }) => row));
    const mean = lengths.reduce((sum, length) => sum + length, 0) / Math.max(1, lengths.length);
    if (mean === 0) return [...own];
    const weight = (part: number, length: number): number =>
      1 / (1 + 1.2 * (1 - part + (part * length) / mean));
    return own
      .map(({ row, score }, at) => {
        const length = lengths[at] ?? mean;
        return { row, score: (score * weight(lengthPart, length)) / weight(ftsLengthPart, length) };
      })
      .toSorted((a, b) => b.score - a.score || b.row - a.row);
  }

  /**
   * A row often answers a question that its neighbours' words match, so each of the best rows shares its score with the
   * rows beside it. No shared score exceeds the best row's own score, and that row stays first.
   */
  #spread(own: readonly Scored[], times: readonly TimeSpan[]): Scored[] {
    const best = own[0]?.score ?? 0;
    const rows = new Map(own.map(({ row, score }) => [row, { row, own: score, shared: 0 }]));
    const sharing = own.slice(0, spreadRows);
    const neighbours = this.#places.neighbours(sharing.map(({ row }) => row));
    for (const { row, score } of sharing) {
      for (const { row: other, steps } of neighbours.get(row) ?? []) {
        const known = rows.get(other) ?? { row: other, own: 0, shared: 0 };
        known.shared += (neighbourWeights[steps] ?? 0) * score;
        rows.set(other, known);
      }
    }
    const inTime = new Set(times.length === 0 ? [] : this.#places.inTime([...rows.keys()], times));
    // The weight of a word that occurs in this number of rows.
    const worth = Math.log(1 + rows.size / Math.max(1, inTime.size));
    return [...rows.values()]
      .map((each) => ({
        ...each,
        score: Math.min(best, each.own + each.shared) + (inTime.has(each.row) ? worth : 0),
      }))
      .toSorted((a, b) => b.score - a.score || b.own - a.own || b.shared - a.shared || b.row - a.row);
  }

  /**
   * Returns the rarest terms, as many as can be ranked quickly. If the rarest alone occurs in too many rows, only the
   * newest of those are ranked.
   */
  #worthRanking(kind: TextKind, searched: Terms): { expression: string; fromRow: number } {
    const counted = searched
      .map((forms) => {
        const term = anyOf(forms);
        return { term, rows: this.countTo(kind, term, maxRankedRows + 1) };
      })
      .filter(({ rows }) => rows > 0)
      .toSorted((left, right) => left.rows - right.rows);
    const terms: string[] = [];
    let total = 0;
    for (const { term, rows } of counted) {
      total += rows;
      if (total > maxRankedRows) break;
      terms.push(term);
    }
    const [rarest] = counted;
    if (terms.length > 0 || rarest === undefined) return { expression: terms.join(" OR "), fromRow: 0 };
    const from = this.#sql.row(
      `SELECT rowid AS row FROM ${kind} WHERE ${kind} MATCH ? ORDER BY rowid DESC LIMIT 1 OFFSET ?`,
      rarest.term,
      maxRankedRows - 1,
    );
    return { expression: rarest.term, fromRow: Number(from?.["row"] ?? 0) };
  }
}

/** Returns a full-text expression for any of these terms, which contain no quotation marks. */
const anyOf = (terms: readonly string[]): string => {
  const quoted = terms.map((term) => `"${term}"`).join(" OR ");
  return terms.length === 1 ? quoted : `(${quoted})`;
};
