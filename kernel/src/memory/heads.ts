import type { Database, Migration } from "../platform/database.ts";
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
];

/** An end that a journal is known to have reached on the disk, and how large it then was. */
export interface Anchor extends ChainEnd {
  /** Bytes of the journal up to and including record `seq`. */
  readonly size: number;
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
    const rows = await database.query<Anchor & { extension: string }>(
      "SELECT extension, seq, hash, size FROM memory_heads",
    );
    return new Heads(
      database,
      new Map(rows.map(({ extension, seq, hash, size }) => [extension, { seq, hash, size }])),
    );
  }

  of(extension: string): Anchor | undefined {
    return this.#known.get(extension);
  }

  /** Only for a head that is on the disk already: the anchor may lag behind its journal, and never lead. */
  async store(extension: string, { seq, hash, size }: Anchor): Promise<void> {
    await this.#database.batch([
      {
        sql: `INSERT INTO memory_heads (extension, seq, hash, size) VALUES (?, ?, ?, ?)
              ON CONFLICT (extension) DO UPDATE SET seq = excluded.seq, hash = excluded.hash, size = excluded.size`,
        params: [extension, seq, hash, size],
      },
    ]);
    this.#known.set(extension, { seq, hash, size });
  }
}
