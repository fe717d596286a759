import type { Ask } from "../base/vocabulary/ask.ts";
import type { Database } from "../platform/database/database.ts";

/** The number of ended questions that are kept; the oldest are deleted first. */
const endedKept = 1_000;

/** The rows of all questions. The database has `asksMigrations` applied. */
export class AskRows {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Stores a question, in place of an earlier state of it. Resolves after the commit. */
  async store(ask: Ask): Promise<void> {
    await this.#database.batch([
      {
        sql: "INSERT OR REPLACE INTO asks (id, state, record) VALUES (?, ?, ?)",
        params: [ask.id, ask.state, JSON.stringify(ask)],
      },
    ]);
  }

  /** Ends the questions of a kernel that died, because their calls are gone. Deletes the oldest ended ones. */
  async endAll(now: string): Promise<void> {
    await this.#database.batch([
      {
        sql: `UPDATE asks SET state = 'Expired',
                record = json_set(record, '$.state', 'Expired', '$.expires', ?)
              WHERE state = 'Pending'`,
        params: [now],
      },
      {
        sql: "DELETE FROM asks WHERE id NOT IN (SELECT id FROM asks ORDER BY id DESC LIMIT ?)",
        params: [endedKept],
      },
    ]);
  }

  /** Newest first; with `state`, only those. */
  async list(state?: Ask["state"]): Promise<Ask[]> {
    const rows = await this.#database.query<{ record: string }>(
      `SELECT record FROM asks WHERE ?1 IS NULL OR state = ?1 ORDER BY id DESC LIMIT ${endedKept}`,
      [state ?? null],
    );
    return rows.map(({ record }) => JSON.parse(record) as Ask);
  }

  /** Returns null if there is none. */
  async get(id: string): Promise<Ask | null> {
    const [row] = await this.#database.query<{ record: string }>("SELECT record FROM asks WHERE id = ?", [
      id,
    ]);
    return row === undefined ? null : (JSON.parse(row.record) as Ask);
  }
}
