import { DatabaseSync } from "node:sqlite";
import type { BenchItem } from "../temporal-events.ts";

/** FTS5 alone, with its own BM25: a search over items without anything else. */
export class PlainItems implements Disposable {
  readonly #database = new DatabaseSync(":memory:");
  readonly #ids: string[] = [];

  constructor() {
    this.#database.exec("CREATE VIRTUAL TABLE words USING fts5 (text, content = '', tokenize = 'unicode61')");
  }

  append(items: readonly BenchItem[]): void {
    const words = this.#database.prepare("INSERT INTO words (rowid, text) VALUES (?, ?)");
    this.#database.exec("BEGIN");
    for (const { id, text } of items) words.run(this.#ids.push(id), text);
    this.#database.exec("COMMIT");
  }

  /** Returns the ids of the ten best items that contain any of the words. */
  best(text: string): string[] {
    const match = text.split(" ").join(" OR ");
    return this.#database
      .prepare("SELECT rowid FROM words WHERE words MATCH ? ORDER BY rank LIMIT 10")
      .all(match)
      .map(({ rowid }) => this.#ids[Number(rowid) - 1] ?? "");
  }

  [Symbol.dispose](): void {
    this.#database.close();
  }
}
