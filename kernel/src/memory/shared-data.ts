import { LaresError, limitExceeded } from "../base/errors.ts";
import type { JsonValue } from "../base/json.ts";
import { OneAtATime } from "../base/one-at-a-time.ts";
import type { Database, Migration } from "../platform/database/database.ts";
import type { TextColumns } from "../platform/database/text-columns.ts";

export const sharedDataMigrations: readonly Migration[] = [
  {
    name: "shared-data-1",
    // The index contains everything that the limits need, so that they are checked without reading values.
    sql: `CREATE TABLE shared_data (
            key TEXT PRIMARY KEY,
            version INTEGER NOT NULL,
            value TEXT NOT NULL,
            characters INTEGER NOT NULL
          ) STRICT;
          CREATE INDEX shared_data_sizes ON shared_data (key, characters);`,
  },
  {
    name: "shared-data-2",
    // Values from before this migration count for no agent until they are written again.
    sql: `ALTER TABLE shared_data ADD COLUMN writer TEXT NOT NULL DEFAULT '';
          DROP INDEX shared_data_sizes;
          CREATE INDEX shared_data_sizes ON shared_data (writer, key, characters);`,
  },
];

/** The columns that a redaction cleans in shared values. */
export const sharedDataTexts: readonly TextColumns[] = [
  { table: "shared_data", key: ["key"], columns: { key: "none", value: "json", writer: "none" } },
];

/**
 * The limits on what one agent shares by keys. Each value counts for the agent that wrote it last, so the values of
 * others neither use its quota nor can be inferred from a refusal. Sizes in characters of JSON.
 */
export const sharedDataLimits = { keys: 4096, valueCharacters: 256 * 1024, allCharacters: 64 << 20 } as const;

interface SharedValue {
  /** Counts the writes; the first is 1. */
  readonly version: number;
  readonly value: JsonValue;
}

/**
 * Small values that agents of one workspace exchange by key. Permissions are checked before. An acknowledged write
 * survives the death of any process.
 */
export class SharedData {
  readonly #database: Database;
  /** One write at a time, because each is checked against the result of the others; each belongs to an open call of an agent. */
  readonly #writes = new OneAtATime();

  /** Requires a database with {@link sharedDataMigrations} applied. */
  constructor(database: Database) {
    this.#database = database;
  }

  /** Returns null if the key was never written. */
  async read(key: string): Promise<SharedValue | null> {
    const [row] = await this.#database.query<{ version: number; value: string }>(
      "SELECT version, value FROM shared_data WHERE key = ?",
      [key],
    );
    return row === undefined ? null : { version: row.version, value: JSON.parse(row.value) as JsonValue };
  }

  /**
   * Resolves with the value's new version. With `version`, writes only if that is the key's current one (0: never
   * written); otherwise rejects with Conflict { revision }. Rejects with LimitExceeded if the value, or the total
   * that `writer` shares, would be too large.
   */
  write(writer: string, key: string, value: JsonValue, version?: number): Promise<number> {
    return this.#writes.run("write", async () => {
      const current = (await this.read(key))?.version ?? 0;
      if (version !== undefined && version !== current)
        throw new LaresError(
          "Conflict",
          `"${key}" is now at version ${current}, not ${version}. Read it and try again.`,
          { revision: current },
        );
      const text = JSON.stringify(value);
      await this.#refuseTooMuch(writer, key, text.length);
      await this.#database.batch([
        {
          sql: `INSERT INTO shared_data (key, version, value, characters, writer) VALUES (?, ?, ?, ?, ?)
                ON CONFLICT (key) DO UPDATE
                SET version = excluded.version, value = excluded.value, characters = excluded.characters,
                    writer = excluded.writer`,
          params: [key, current + 1, text, text.length, writer],
        },
      ]);
      return current + 1;
    });
  }

  async #refuseTooMuch(writer: string, key: string, characters: number): Promise<void> {
    const { keys, valueCharacters, allCharacters } = sharedDataLimits;
    if (characters > valueCharacters)
      throw limitExceeded(
        "shared_value",
        characters,
        `The value for "${key}" has ${characters} characters; at most ${valueCharacters} are shared by a key. Put what is larger into a shared memory or a file.`,
      );
    const [others] = await this.#database.query<{ keys: number; characters: number }>(
      "SELECT count(*) AS keys, coalesce(sum(characters), 0) AS characters FROM shared_data WHERE writer = ? AND key <> ?",
      [writer, key],
    );
    const total = (others?.characters ?? 0) + characters;
    if ((others?.keys ?? 0) >= keys || total > allCharacters)
      throw limitExceeded(
        "shared_data",
        total,
        `${writer} has reached its limit of shared values: ${keys} keys and ${allCharacters} characters. Write less, or to fewer keys.`,
      );
  }
}
