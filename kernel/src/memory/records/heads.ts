import type { Database, Durability, Migration } from "../../platform/database/database.ts";
import type { TextColumns } from "../../platform/database/text-columns.ts";
import type { Anchor } from "../../journal/anchor.ts";
import type { RecordKind } from "../../memory-contract/records.ts";
import type { Tally } from "../../journal/tally.ts";

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
    // Shared namespaces have memories, too. The column of completed redactions keeps a restored journal from undoing
    // them.
    name: "memory-2-heads-by-key",
    sql: `ALTER TABLE memory_heads RENAME COLUMN extension TO memory;
          UPDATE memory_heads SET memory = 'extension/' || memory;
          ALTER TABLE memory_heads ADD COLUMN carried_out INTEGER NOT NULL DEFAULT 0`,
  },
  {
    // Shows how much is remembered before a memory is opened.
    name: "memory-3-counts",
    sql: `ALTER TABLE memory_heads ADD COLUMN temporal_events INTEGER NOT NULL DEFAULT 0;
          ALTER TABLE memory_heads ADD COLUMN knowledge_items INTEGER NOT NULL DEFAULT 0`,
  },
  {
    // Tells a start whether forgotten data may still be in a file.
    name: "memory-4-purged",
    sql: "ALTER TABLE memory_heads ADD COLUMN purged INTEGER NOT NULL DEFAULT 0",
  },
  {
    // A large memory need not be proven as a whole before it can be used.
    name: "memory-5-checkpoints",
    sql: `CREATE TABLE memory_checkpoints (
            memory TEXT PRIMARY KEY,
            checkpoint TEXT NOT NULL
          ) STRICT, WITHOUT ROWID`,
  },
];

/** A checkpoint is dropped with the journal that it describes. */
export const memoryTexts: readonly TextColumns[] = [
  { table: "memory_heads", key: ["memory"], columns: { memory: "none", hash: "none" } },
  { table: "memory_checkpoints", key: ["memory"], columns: { memory: "none", checkpoint: "own" } },
];

/** The counts of a memory that a person sees. */
export interface StoredCounts {
  readonly temporalEvents: number;
  readonly knowledgeItems: number;
}

export const countsOf = (tally: Tally<RecordKind>): StoredCounts => ({
  temporalEvents: tally.stored("temporal"),
  knowledgeItems: tally.stored("knowledge"),
});

interface HeadRow extends Record<string, string | number> {
  readonly memory: string;
  readonly seq: number;
  readonly hash: string;
  readonly size: number;
  readonly carried_out: number;
  readonly temporal_events: number;
  readonly knowledge_items: number;
  readonly purged: number;
}

/** The heads of the memories' journals, stored apart from them, so that a cut or restored journal is detected. */
export class Heads {
  readonly #database: Database;
  readonly #known: Map<string, Anchor>;
  readonly #counts: Map<string, StoredCounts>;
  readonly #purged: Map<string, number>;

  private constructor(
    database: Database,
    known: Map<string, Anchor>,
    counts: Map<string, StoredCounts>,
    purged: Map<string, number>,
  ) {
    this.#database = database;
    this.#known = known;
    this.#counts = counts;
    this.#purged = purged;
  }

  static async load(database: Database): Promise<Heads> {
    const rows = await database.query<HeadRow>("SELECT * FROM memory_heads");
    return new Heads(
      database,
      new Map(
        rows.map(({ memory, seq, hash, size, carried_out }) => [
          memory,
          { seq, hash, size, carriedOut: carried_out },
        ]),
      ),
      new Map(
        rows.map(({ memory, temporal_events, knowledge_items }) => [
          memory,
          { temporalEvents: temporal_events, knowledgeItems: knowledge_items },
        ]),
      ),
      new Map(rows.map(({ memory, purged }) => [memory, purged])),
    );
  }

  /** Returns the counts that were stored with the last head. Nothing proves them. */
  countsOf(memory: string): StoredCounts {
    return this.#counts.get(memory) ?? { temporalEvents: 0, knowledgeItems: 0 };
  }

  /** What redact records up to this seq name is in none of the files that queries read. */
  purgedOf(memory: string): number {
    return this.#purged.get(memory) ?? 0;
  }

  /** Call it only after a head of the memory was stored. */
  async storePurged(memory: string, seq: number): Promise<void> {
    const sql = "UPDATE memory_heads SET purged = ? WHERE memory = ?";
    await this.#database.batch([{ sql, params: [seq, memory] }], { durability: "process" });
    this.#purged.set(memory, seq);
  }

  /** Returns the newest checkpoint of a memory's journal. */
  async checkpointOf(memory: string): Promise<string | null> {
    const sql = "SELECT checkpoint FROM memory_checkpoints WHERE memory = ?";
    const [row] = await this.#database.query<{ readonly checkpoint: string }>(sql, [memory]);
    return row?.checkpoint ?? null;
  }

  /** Null drops the checkpoint durably, even against a power cut, because it no longer describes the journal. */
  async storeCheckpoint(memory: string, checkpoint: string | null): Promise<void> {
    const statement =
      checkpoint === null
        ? { sql: "DELETE FROM memory_checkpoints WHERE memory = ?", params: [memory] }
        : {
            sql: `INSERT INTO memory_checkpoints (memory, checkpoint) VALUES (?, ?)
                    ON CONFLICT (memory) DO UPDATE SET checkpoint = excluded.checkpoint`,
            params: [memory, checkpoint],
          };
    await this.#database.batch([statement], { durability: checkpoint === null ? "power" : "process" });
  }

  /** Returns the anchor by the memory's key. */
  of(memory: string): Anchor | undefined {
    return this.#known.get(memory);
  }

  /** Only for a head that is on the disk: the anchor may lag behind its journal, but never lead. */
  async store(
    memory: string,
    { seq, hash, size, carriedOut }: Anchor,
    { temporalEvents, knowledgeItems }: StoredCounts,
    durability: Durability,
  ): Promise<void> {
    const statement = {
      sql: `INSERT INTO memory_heads 
                (memory, seq, hash, size, carried_out, temporal_events, knowledge_items) VALUES (?, ?, ?, ?, ?, ?, ?)
              ON CONFLICT (memory) DO UPDATE
                SET seq = excluded.seq, hash = excluded.hash, size = excluded.size, carried_out = excluded.carried_out,
                  temporal_events = excluded.temporal_events, knowledge_items = excluded.knowledge_items`,
      params: [memory, seq, hash, size, carriedOut, temporalEvents, knowledgeItems],
    };
    await this.#database.batch([statement], { durability });
    this.#known.set(memory, { seq, hash, size, carriedOut });
    this.#counts.set(memory, { temporalEvents, knowledgeItems });
  }
}

/** Removes the ledger's rows about a journal that is being removed. No kernel may have it open. */
export async function forgetHeads(database: Database, memory: string): Promise<void> {
  await database.batch(
    [
      { sql: "DELETE FROM memory_heads WHERE memory = ?", params: [memory] },
      { sql: "DELETE FROM memory_checkpoints WHERE memory = ?", params: [memory] },
    ],
    { durability: "power" },
  );
}
