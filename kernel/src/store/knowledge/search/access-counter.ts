import { type Database, numberList } from "../rows/schema.ts";

/** Maximum items whose counts are kept in memory before they are written. */
const maxUnwritten = 1_000;

/**
 * Counts how often items are found. A crash loses the counts that were not yet written, which hardly changes
 * importance.
 */
export class AccessCounter {
  readonly #database: Database;
  readonly #unwritten = new Map<number, { count: number; lastMs: number }>();

  constructor(database: Database) {
    this.#database = database;
  }

  get isFull(): boolean {
    return this.#unwritten.size >= maxUnwritten;
  }

  count(rows: readonly number[], nowMs: number): void {
    for (const row of rows) {
      const before = this.#unwritten.get(row);
      this.#unwritten.set(row, { count: (before?.count ?? 0) + 1, lastMs: nowMs });
    }
  }

  async write(): Promise<void> {
    if (this.#unwritten.size === 0) return;
    const counted = new Map(this.#unwritten);
    this.#unwritten.clear();
    const list = JSON.stringify([...counted.keys()]);
    await this.#database.transaction(async (sql) => {
      const before = await sql.all<{ item_row: number; accesses: number | null; last_ms: number | null }>(
        `SELECT i.item_row, a.accesses, a.last_ms FROM knowledge_items i
         LEFT JOIN knowledge_accesses a ON a.item_row = i.item_row WHERE i.item_row IN ${numberList}`,
        [list],
      );
      await sql.run(`DELETE FROM knowledge_accesses WHERE item_row IN ${numberList}`, [list]);
      await sql.append(
        "knowledge_accesses",
        before.map(({ item_row: row, accesses, last_ms: lastMs }) => {
          const now = counted.get(row);
          return [row, (accesses ?? 0) + (now?.count ?? 0), Math.max(lastMs ?? 0, now?.lastMs ?? 0)];
        }),
      );
    });
  }
}
