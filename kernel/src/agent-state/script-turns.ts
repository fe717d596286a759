import type { Database } from "../platform/database/database.ts";

/** Which turns of scripted providers were given, so that no restart gives one again. A changed turn is another one. */
export class ScriptTurns {
  readonly #database: Database;
  readonly #spent: Set<string>;

  private constructor(database: Database, spent: Set<string>) {
    this.#database = database;
    this.#spent = spent;
  }

  static async open(database: Database): Promise<ScriptTurns> {
    const rows = await database.query<{ provider: string; turn: number; digest: string }>(
      "SELECT provider, turn, digest FROM script_turns",
    );
    return new ScriptTurns(database, new Set(rows.map((row) => keyOf(row.provider, row.turn, row.digest))));
  }

  /** `digest`: of the turn's content. */
  isSpent(provider: string, turn: number, digest: string): boolean {
    return this.#spent.has(keyOf(provider, turn, digest));
  }

  /** Resolves once it is stored. */
  async spend(provider: string, turn: number, digest: string): Promise<void> {
    // At once: the next request may come before the row is stored.
    this.#spent.add(keyOf(provider, turn, digest));
    await this.#database.batch([
      {
        sql: "INSERT OR IGNORE INTO script_turns (provider, turn, digest) VALUES (?, ?, ?)",
        params: [provider, turn, digest],
      },
    ]);
  }
}

const keyOf = (provider: string, turn: number, digest: string): string =>
  JSON.stringify([provider, turn, digest]);
