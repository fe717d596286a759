import type { Clock } from "../base/clock.ts";
import type { Database, Migration, Statement } from "../platform/database/database.ts";
import type { TextColumns } from "../platform/database/text-columns.ts";

export const decisionMigrations: readonly Migration[] = [
  {
    name: "decisions-1-uses",
    sql: `CREATE TABLE decision_uses (
      decision TEXT PRIMARY KEY, count INTEGER NOT NULL, last INTEGER NOT NULL
    ) WITHOUT ROWID, STRICT`,
  },
];

/** Decisions are named by their ids. */
export const decisionTexts: readonly TextColumns[] = [
  { table: "decision_uses", key: ["decision"], columns: { decision: "none" } },
];

/** How often one decision was used, and when last, in milliseconds since 1970. */
export interface DecisionUse {
  readonly count: number;
  readonly last: number;
}

/** How often each "always" decision has decided an action. The database has {@link decisionMigrations} applied. */
export class DecisionUses {
  readonly #database: Database;
  readonly #clock: Pick<Clock, "now">;

  constructor(database: Database, clock: Pick<Clock, "now">) {
    this.#database = database;
    this.#clock = clock;
  }

  /**
   * Returns statements that count one use of each decision that is named here, however often it is named. They join the
   * transaction that stores the action which the decisions decided, so a count is as durable as the action and costs no
   * write of its own.
   */
  used(origins: readonly { readonly decision?: string }[]): readonly Statement[] {
    const ids = new Set(origins.flatMap(({ decision }) => decision ?? []));
    return Array.from(ids, (id) => ({
      sql: `INSERT INTO decision_uses (decision, count, last) VALUES (?, 1, ?)
            ON CONFLICT (decision) DO UPDATE SET count = count + 1, last = excluded.last`,
      params: [id, this.#clock.now()],
    }));
  }

  /** Returns the uses by decision id; a decision that was never used is missing. */
  async read(): Promise<ReadonlyMap<string, DecisionUse>> {
    const rows = await this.#database.query<DecisionUse & { decision: string }>(
      "SELECT decision, count, last FROM decision_uses",
    );
    return new Map(rows.map(({ decision, ...use }) => [decision, use]));
  }

  /** Deletes the counts of all decisions but these. */
  async keepOnly(decisions: readonly string[]): Promise<void> {
    await this.#database.batch([
      {
        sql: "DELETE FROM decision_uses WHERE decision NOT IN (SELECT value FROM json_each(?))",
        params: [JSON.stringify(decisions)],
      },
    ]);
  }
}
