import type { Database, Durability, Migration } from "../../platform/database.ts";
import type { ChainEnd } from "./record.ts";

export const memoryMigrations: readonly Migration[] = [
  {
    name: "memory-1-heads",
    sql: `CREATE TABLE memory_heads (
            extension TEXT PRIMARY KEY,
            seq INTEGER NOT NULL,
            hash TEXT NOT NULL,
            size INTEGER NOT NULL
          ) STRICT, WITHOUT ROWID`,
  },
  {
    // Shared namespaces have memories too, and a redaction that was carried out is not to be taken back.
    name: "memory-2-heads-by-key",
    sql: `ALTER TABLE memory_heads RENAME COLUMN extension TO memory;
          UPDATE memory_heads SET memory = 'extension/' || memory;
          ALTER TABLE memory_heads ADD COLUMN carried_out INTEGER NOT NULL DEFAULT 0`,
  },
];

/** An end that a journal is known to have reached on the disk, and how large it then was. */
export interface Anchor extends ChainEnd {
  /** Bytes of the journal up to and including record `seq`. */
  readonly size: number;
  /** Redact records up to this seq have been carried out: what they name has no data any more. */
  readonly carriedOut: number;
}

/** The journals' heads, kept apart from the journals: what shows that one was cut short or put back. */
export class Heads {
  readonly #database: Database;
  readonly #known: Map<string, Anchor>;

  private constructor(database: Database, known: Map<string, Anchor>) {
    this.#database = database;
    this.#known = known;
  }

  static async load(database: Database): Promise<Heads> {
    const rows = await database.query<Omit<Anchor, "carriedOut"> & { memory: string; carried_out: number }>(
      "SELECT memory, seq, hash, size, carried_out FROM memory_heads",
    );
    return new Heads(
      database,
      new Map(
        rows.map(({ memory, seq, hash, size, carried_out }) => [
          memory,
          { seq, hash, size, carriedOut: carried_out },
        ]),
      ),
    );
  }

  /** By the memory's key. */
  of(memory: string): Anchor | undefined {
    return this.#known.get(memory);
  }

  /** Only for a head that is on the disk already: the anchor may lag behind its journal, and never lead. */
  async store(
    memory: string,
    { seq, hash, size, carriedOut }: Anchor,
    durability: Durability,
  ): Promise<void> {
    const statement = {
      sql: `INSERT INTO memory_heads (memory, seq, hash, size, carried_out) VALUES (?, ?, ?, ?, ?)
              ON CONFLICT (memory) DO UPDATE
                SET seq = excluded.seq, hash = excluded.hash, size = excluded.size, carried_out = excluded.carried_out`,
      params: [memory, seq, hash, size, carriedOut],
    };
    await this.#database.batch([statement], { durability });
    this.#known.set(memory, { seq, hash, size, carriedOut });
  }
}
