import { isLaresError } from "../../base/errors.ts";
import type { Database, Migration, SqlValue, Statement } from "../../platform/database/database.ts";
import { bytesOfVector, type Found } from "../../platform/database/similarity.ts";

export const vectorMigrations: readonly Migration[] = [
  {
    // `seq`: every entry up to it has its vectors, made by the embedder `space`. A block has the vectors of several
    // entries, because a row for each would take most of a search's time: `seqs` (Float64) and `entries` (JSON) say whose.
    name: "message-vectors-1",
    sql: `CREATE TABLE progress (
            talk INTEGER PRIMARY KEY,
            conversation TEXT NOT NULL UNIQUE,
            space TEXT NOT NULL,
            seq INTEGER NOT NULL
          ) STRICT;
          CREATE TABLE blocks (
            block INTEGER PRIMARY KEY AUTOINCREMENT,
            talk INTEGER NOT NULL,
            count INTEGER NOT NULL,
            first TEXT NOT NULL,
            last_seq INTEGER NOT NULL,
            entries TEXT NOT NULL,
            seqs BLOB NOT NULL,
            bytes BLOB NOT NULL
          ) STRICT;
          CREATE INDEX blocks_by_talk ON blocks (talk, last_seq)`,
  },
  {
    // The codes stand before the vectors: a search reads all codes and few vectors, and SQLite reads a row from its beginning.
    name: "message-vectors-2-codes",
    sql: `CREATE TABLE coded_blocks (
            block INTEGER PRIMARY KEY AUTOINCREMENT,
            talk INTEGER NOT NULL,
            count INTEGER NOT NULL,
            first TEXT NOT NULL,
            last_seq INTEGER NOT NULL,
            seqs BLOB NOT NULL,
            codes BLOB NOT NULL,
            entries TEXT NOT NULL,
            bytes BLOB NOT NULL
          ) STRICT;
          INSERT INTO coded_blocks (block, talk, count, first, last_seq, seqs, codes, entries, bytes)
            SELECT block, talk, count, first, last_seq, seqs, vector_codes(bytes, count), entries, bytes FROM blocks;
          DROP TABLE blocks;
          ALTER TABLE coded_blocks RENAME TO blocks;
          CREATE INDEX blocks_by_talk ON blocks (talk, last_seq)`,
  },
];

export interface Progress {
  readonly conversation: string;
  readonly space: string;
  readonly seq: number;
}

export interface EntryVectors {
  readonly seq: number;
  readonly entry: string;
  readonly vectors: readonly Float32Array[];
}

export interface NearEntry {
  readonly conversation: string;
  readonly seq: number;
  readonly similarity: number;
}

/** One vector of a block. */
interface Item {
  readonly seq: number;
  readonly entry: string;
  readonly bytes: Uint8Array;
}

interface Block {
  readonly block: number;
  readonly items: readonly Item[];
}

/** A block with fewer vectors is written again with those that follow. More of them would write more in each turn. */
const blockVectors = 32;
/** An entry may be found by several of its chunks. */
const overfetch = 3;
/** Codes only estimate, so more vectors than are wanted are compared in full, and at least so many. */
const [likelyFactor, leastLikely] = [2, 400];
const ofTalk = "talk = (SELECT talk FROM progress WHERE conversation = ?)";

/** The vectors of messages in a database of their own. Everything in it can be made again. All SQL of it. */
export class VectorRows {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async progress(conversations: readonly string[]): Promise<Map<string, Progress>> {
    const rows = await this.#database.query<Progress & Record<string, never>>(
      "SELECT conversation, space, seq FROM progress WHERE conversation IN (SELECT value FROM json_each(?))",
      [JSON.stringify(conversations)],
    );
    return new Map(rows.map((row) => [row.conversation, row]));
  }

  /** Returns conversations that have vectors, in the order of their ids. */
  async conversations(after: string, limit: number): Promise<string[]> {
    const rows = await this.#database.query<{ readonly conversation: string }>(
      "SELECT conversation FROM progress WHERE conversation > ? ORDER BY conversation LIMIT ?",
      [after, limit],
    );
    return rows.map(({ conversation }) => conversation);
  }

  /**
   * Stores the vectors of entries, and how far the conversation has them; removes those of another embedder. Keeps
   * `maxVectors` of the newest entries, whose ids are in the order of time, and what else is in their blocks. Rejects with
   * Conflict if something was removed meanwhile.
   */
  async store(
    { conversation, space, seq }: Progress,
    entries: readonly EntryVectors[],
    maxVectors: number,
  ): Promise<void> {
    const added = entries.flatMap(({ seq: of, entry, vectors }) =>
      vectors.map((vector): Item => ({ seq: of, entry, bytes: bytesOfVector(vector) })),
    );
    const known = (await this.progress([conversation])).get(conversation);
    const last = known?.space === space && added.length > 0 ? await this.#lastBlock(conversation) : null;
    const continues = last !== null && last.items.length < blockVectors;
    const filled = continues ? [...last.items, ...added] : added;
    await this.#database.batch([
      ...(known === undefined || known.space === space
        ? []
        : [{ sql: `DELETE FROM blocks WHERE ${ofTalk}`, params: [conversation] }]),
      ...(continues ? [deletion(last)] : []),
      {
        sql: `INSERT INTO progress (conversation, space, seq) VALUES (?, ?, ?)
                ON CONFLICT (conversation) DO UPDATE SET space = excluded.space, seq = excluded.seq`,
        params: [conversation, space, seq],
      },
      ...(filled.length === 0 ? [] : [insertion(conversation, filled)]),
      ...(added.length === 0
        ? []
        : [
            {
              sql: `DELETE FROM blocks WHERE block IN (SELECT block FROM
                      (SELECT block, sum(count) OVER (ORDER BY first DESC, block DESC) - count AS newer FROM blocks)
                      WHERE newer >= ?)`,
              params: [maxVectors],
            },
          ]),
    ]);
  }

  /** Removes a conversation's vectors behind a seq. */
  async drop(conversation: string, after: number): Promise<void> {
    if (after > 0) {
      await this.#rewrite(conversation, ({ seq }) => seq <= after, after);
      await this.#database.batch([
        {
          sql: "UPDATE progress SET seq = min(seq, ?2) WHERE conversation = ?1",
          params: [conversation, after],
        },
      ]);
      return;
    }
    await this.#removed([
      { sql: `DELETE FROM blocks WHERE ${ofTalk}`, params: [conversation] },
      { sql: "DELETE FROM progress WHERE conversation = ?", params: [conversation] },
    ]);
  }

  /** Removes the vectors of entries. */
  async forget(conversation: string, entries: readonly string[]): Promise<void> {
    const gone = new Set(entries);
    await this.#rewrite(conversation, ({ entry }) => !gone.has(entry), 0);
  }

  /** Returns the most similar entries of these conversations, each with its best chunk. */
  async near(
    stretches: readonly { readonly conversation: string; readonly through: number }[],
    space: string,
    vector: Float32Array,
    { least, limit }: { readonly least: number; readonly limit: number },
  ): Promise<NearEntry[]> {
    const wanted = limit * overfetch;
    const likely = Math.max(leastLikely, wanted * likelyFactor);
    const [row] = await this.#database.query<{ readonly found: string; readonly talks: string }>(
      `WITH searched AS (SELECT p.talk, p.conversation, c.value ->> 'through' AS through FROM json_each(?1) c
           JOIN progress p ON p.conversation = c.value ->> 'conversation' AND p.space = ?2)
       SELECT (SELECT json_group_object(talk, conversation) FROM searched) AS talks,
         (SELECT nearest(b.talk, b.seqs, b.bytes, l.value, ?3, ?4, ?5) FROM json_each(
            (SELECT likely(b.block, b.seqs, b.codes, s.through, ?3, ?6) FROM searched s JOIN blocks b ON b.talk = s.talk)
          ) l JOIN blocks b ON b.block = l.key) AS found`,
      [JSON.stringify(stretches), space, bytesOfVector(vector), wanted, least, likely],
    );
    if (row === undefined) return [];
    const talks = JSON.parse(row.talks) as Record<string, string>;
    const best = new Map<string, NearEntry>();
    for (const [talk, seq, similarity] of JSON.parse(row.found) as Found[]) {
      const key = `${talk} ${seq}`;
      if (!best.has(key)) best.set(key, { conversation: talks[talk] ?? "", seq, similarity });
    }
    return [...best.values()].slice(0, limit);
  }

  /** Keeps only some of a conversation's vectors; of those up to `through`, all. */
  async #rewrite(conversation: string, keeps: (item: Item) => boolean, through: number): Promise<void> {
    for (;;) {
      const rows = await this.#database.query<StoredBlock & Record<string, never>>(
        `SELECT block, entries, seqs, bytes FROM blocks WHERE ${ofTalk} AND last_seq > ?`,
        [conversation, through],
      );
      const changed = rows.map(blockOf).filter(({ items }) => !items.every(keeps));
      try {
        return await this.#removed(
          changed.flatMap((block) => {
            const kept = block.items.filter(keeps);
            return [deletion(block), ...(kept.length === 0 ? [] : [insertion(conversation, kept)])];
          }),
        );
      } catch (error) {
        // Something was added meanwhile.
        if (!isLaresError(error, "Conflict")) throw error;
      }
    }
  }

  async #lastBlock(conversation: string): Promise<Block | null> {
    const [row] = await this.#database.query<StoredBlock & Record<string, never>>(
      `SELECT block, entries, seqs, bytes FROM blocks WHERE ${ofTalk} ORDER BY last_seq DESC LIMIT 1`,
      [conversation],
    );
    return row === undefined ? null : blockOf(row);
  }

  async #removed(statements: readonly Statement[]): Promise<void> {
    const results = await this.#database.batch(statements);
    // The log of the database has what was there before.
    if (results.some(({ changes }) => changes > 0))
      await this.#database.query("PRAGMA wal_checkpoint(TRUNCATE)");
  }
}

interface StoredBlock {
  readonly block: number;
  readonly entries: string;
  readonly seqs: Uint8Array;
  readonly bytes: Uint8Array;
}

function blockOf({ block, entries, seqs, bytes }: StoredBlock): Block {
  const names = JSON.parse(entries) as string[];
  const numbers = new Float64Array(seqs.slice().buffer);
  const width = bytes.length / Math.max(1, names.length);
  const items = names.map((entry, at) => ({
    entry,
    seq: numbers[at] ?? 0,
    bytes: bytes.subarray(at * width, (at + 1) * width),
  }));
  return { block, items };
}

/** Blocks are never changed: a changed one is deleted and inserted, so that nobody writes back what was removed. */
function deletion({ block }: Block): Statement {
  return { sql: "DELETE FROM blocks WHERE block = ?", params: [block], expectChanges: 1 };
}

function insertion(conversation: string, items: readonly Item[]): Statement {
  const params: SqlValue[] = [
    conversation,
    items.length,
    items[0]?.entry ?? "",
    items.at(-1)?.seq ?? 0,
    JSON.stringify(items.map(({ entry }) => entry)),
    new Uint8Array(Float64Array.from(items, ({ seq }) => seq).buffer),
    Buffer.concat(items.map(({ bytes }) => bytes)),
  ];
  return {
    sql: `INSERT INTO blocks (talk, count, first, last_seq, seqs, codes, entries, bytes)
            SELECT talk, ?2, ?3, ?4, ?6, vector_codes(?7, ?2), ?5, ?7 FROM progress WHERE conversation = ?1`,
    params,
  };
}
