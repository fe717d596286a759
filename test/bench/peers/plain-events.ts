import { DatabaseSync } from "node:sqlite";
import type { BenchEvent } from "../temporal-events.ts";

/** A page as one would write it with SQLite and FTS5 alone: one table with its indexes, one full-text table. */
export class PlainEvents implements Disposable {
  readonly #database: DatabaseSync;

  constructor(path: string) {
    this.#database = new DatabaseSync(path);
    this.#database.exec(`
      PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA cache_size = -131072;
      CREATE TABLE events (row INTEGER PRIMARY KEY, id TEXT NOT NULL, variant TEXT NOT NULL, timestamp_ms INTEGER NOT NULL, data TEXT NOT NULL);
      CREATE INDEX events_variant ON events (variant, timestamp_ms);
      CREATE INDEX events_time ON events (timestamp_ms);
      CREATE VIRTUAL TABLE words USING fts5 (text, content = '', tokenize = 'unicode61');
    `);
  }

  append(events: readonly BenchEvent[]): void {
    const event = this.#database.prepare("INSERT INTO events VALUES (?, ?, ?, ?, ?)");
    const words = this.#database.prepare("INSERT INTO words (rowid, text) VALUES (?, ?)");
    this.#database.exec("BEGIN");
    for (const { row, id, variant, timestampMs, data } of events) {
      event.run(row, id, variant, timestampMs, JSON.stringify(data));
      words.run(row, `${data.city} ${data.note} ${data.user}`);
    }
    this.#database.exec("COMMIT");
  }

  byTime(variant: string, sinceMs: number, untilMs: number): { total: number; items: unknown[] } {
    const where = "FROM events WHERE variant = ? AND timestamp_ms >= ? AND timestamp_ms < ?";
    return this.#page("", where, variant, sinceMs, untilMs);
  }

  byText(match: string): { total: number; items: unknown[] } {
    const found = this.#database
      .prepare("SELECT count(*) AS total FROM words WHERE words MATCH ?")
      .get(match);
    const items = this.#items(
      "events.",
      "FROM words JOIN events ON events.row = words.rowid WHERE words MATCH ?",
      match,
    );
    return { total: Number(found?.["total"]), items };
  }

  countOf(field: "city" | "user", value: string): number {
    const count = this.#database.prepare(
      "SELECT count(*) AS total FROM events WHERE json_extract(data, ?) = ?",
    );
    return Number(count.get(`$.${field}`, value)?.["total"]);
  }

  #page(table: string, where: string, ...params: (string | number)[]): { total: number; items: unknown[] } {
    const found = this.#database.prepare(`SELECT count(*) AS total ${where}`).get(...params);
    return { total: Number(found?.["total"]), items: this.#items(table, where, ...params) };
  }

  #items(table: string, where: string, ...params: (string | number)[]): unknown[] {
    const order = `ORDER BY ${table}timestamp_ms DESC, ${table}row DESC LIMIT 50`;
    const rows = this.#database
      .prepare(`SELECT id, variant, timestamp_ms, data ${where} ${order}`)
      .all(...params);
    return rows.map(({ data, ...item }) => ({ ...item, data: JSON.parse(String(data)) as unknown }));
  }

  [Symbol.dispose](): void {
    this.#database.close();
  }
}
