import type { SharedTypeDefinition } from "../base/vocabulary/shared-type.ts";
import type { Database, Statement } from "../platform/database/database.ts";
import { sharedTypeBounds } from "./bounds.ts";

/** A type as the ledger has it. */
export interface StoredType {
  /** `<extension id>/<name>`. */
  readonly type: string;
  /** The version of its schema. */
  readonly version: number;
  readonly key: string;
  /** JSON text. */
  readonly schema: string;
  /** The number of values, and their characters. */
  readonly count: number;
  readonly characters: number;
  /** The highest version that a removed value had. */
  readonly floor: number;
}

export interface ValueRow {
  readonly key: string;
  readonly version: number;
  /** JSON text. */
  readonly value: string;
}

/** The SQL of shared types. */
export class TypeRows {
  readonly #database: Database;

  /** Requires a database with `sharedTypesMigrations` applied. */
  constructor(database: Database) {
    this.#database = database;
  }

  async type(type: string): Promise<StoredType | null> {
    const [row] = await this.#database.query<StoredType>(
      "SELECT type, version, key, schema, count, characters, floor FROM shared_types WHERE type = ?",
      [type],
    );
    return row ?? null;
  }

  /** Returns all types, by name. */
  async types(): Promise<readonly StoredType[]> {
    return await this.#database.query<StoredType>(
      "SELECT type, version, key, schema, count, characters, floor FROM shared_types ORDER BY type",
      [],
    );
  }

  async value(type: string, key: string): Promise<ValueRow | null> {
    const [row] = await this.#database.query<{ key: string; version: number; value: string }>(
      "SELECT key, version, value FROM shared_values WHERE type = ? AND key = ?",
      [type, key],
    );
    return row ?? null;
  }

  /** Returns the values after this key, in the order of their keys, a bounded number and size of them. */
  async after(type: string, key: string | null): Promise<readonly ValueRow[]> {
    const { readAtOnce, batchCharacters } = sharedTypeBounds;
    return await this.#database.query<{ key: string; version: number; value: string }>(
      `SELECT key, version, value FROM (
         SELECT key, version, value, sum(characters) OVER (ORDER BY key) - characters AS before FROM (
           SELECT key, version, value, characters FROM shared_values WHERE type = ? AND key > ? ORDER BY key LIMIT ?
         )
       ) WHERE before < ? ORDER BY key`,
      [type, key ?? "", readAtOnce, batchCharacters],
    );
  }

  /** Sets what a type's values have to fit, and replaces these values without another version. All or nothing. */
  async adopt(
    type: string,
    { version, key, schema }: SharedTypeDefinition,
    changed: readonly Pick<ValueRow, "key" | "value">[] = [],
  ): Promise<void> {
    const rows = changed.map(({ key: of, value }) => [value, value.length, type, of]);
    await this.#database.batch([
      {
        sql: `INSERT INTO shared_types (type, version, key, schema, count, characters, floor)
              VALUES (?, ?, ?, ?, 0, 0, 0)
              ON CONFLICT (type) DO UPDATE
              SET version = excluded.version, key = excluded.key, schema = excluded.schema`,
        params: [type, version, key, JSON.stringify(schema)],
      },
      ...(rows.length === 0
        ? []
        : [
            {
              sql: "UPDATE shared_values SET value = ?, characters = ? WHERE type = ? AND key = ?",
              rows: JSON.stringify(rows),
            },
            {
              sql: `UPDATE shared_types
                    SET characters = (SELECT coalesce(sum(characters), 0) FROM shared_values WHERE type = ?)
                    WHERE type = ?`,
              params: [type, type],
            },
          ]),
    ]);
  }

  /** Rejects with Conflict if the key has a value. */
  async create(type: string, { key, version, value }: ValueRow): Promise<void> {
    await this.#database.batch([
      {
        sql: "INSERT INTO shared_values (type, key, version, value, characters) VALUES (?, ?, ?, ?, ?)",
        params: [type, key, version, value, value.length],
      },
      counted(type, 1, value.length),
    ]);
  }

  /** Writes the next version in the place of `before`. Rejects with Conflict if the key is at another version. */
  async update(type: string, before: ValueRow, value: string): Promise<void> {
    await this.#database.batch([
      {
        sql: "UPDATE shared_values SET version = version + 1, value = ?, characters = ? WHERE type = ? AND key = ? AND version = ?",
        params: [value, value.length, type, before.key, before.version],
        expectChanges: 1,
      },
      counted(type, 0, value.length - before.value.length),
    ]);
  }

  /** Rejects with Conflict if the key is at another version. */
  async remove(type: string, { key, version, value }: ValueRow): Promise<void> {
    await this.#database.batch([
      {
        sql: "DELETE FROM shared_values WHERE type = ? AND key = ? AND version = ?",
        params: [type, key, version],
        expectChanges: 1,
      },
      counted(type, -1, -value.length),
      {
        sql: "UPDATE shared_types SET floor = max(floor, ?) WHERE type = ?",
        params: [version, type],
      },
    ]);
  }
}

const counted = (type: string, values: number, characters: number): Statement => ({
  sql: "UPDATE shared_types SET count = count + ?, characters = characters + ? WHERE type = ?",
  params: [values, characters, type],
  expectChanges: 1,
});
