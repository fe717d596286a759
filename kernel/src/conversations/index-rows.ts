import type { Clock } from "../base/clock.ts";
import { notFound, storageError } from "../base/errors.ts";
import { isJsonObject } from "../base/json.ts";
import { nextTurn } from "../base/next-turn.ts";
import type { Entry } from "../base/vocabulary/conversation.ts";
import type { Anchor } from "../journal/anchor.ts";
import type { Database, Durability } from "../platform/database/database.ts";
import { type ConversationState, stateIn } from "./fold.ts";
import { type ConversationRow, type EntryQuery, type IndexedRecord, isBusy } from "./indexed.ts";
import { conditions, insertions, rowStatement, textRemoval } from "./index-statements.ts";
import { type LaterRecords, LaterRows } from "./later-rows.ts";
import { decodeEntry } from "./records.ts";

interface EntryRow {
  readonly seq: number;
  readonly data: string;
}

/** Attempts to empty the database's log, each in a turn of its own. */
const maxCheckpoints = 100;
/** Origins that are kept in memory. */
const maxOrigins = 1_000;

/**
 * The entries of all conversations in the ledger, so that a page, a search or a list reads no log. Everything here can be
 * made again from the logs, except their heads.
 */
export class IndexRows implements Disposable {
  readonly #database: Database;
  readonly #later: LaterRows<ConversationRow, IndexedRecord>;
  /** Origins never change. */
  readonly #origins = new Map<string, ConversationRow["forkedFrom"]>();

  constructor(database: Database, clock: Pick<Clock, "timer">) {
    this.#database = database;
    this.#later = new LaterRows(clock, (row, records) => this.#insert(row, records));
  }

  /** Adds the records of a conversation, and what they come to. Call it in the order of the log. */
  async add(row: ConversationRow, records: readonly IndexedRecord[]): Promise<void> {
    this.#later.flush();
    await this.#insert(row, records);
  }

  /**
   * Like `add`, but while a process works, together with what follows: some milliseconds later at the latest, and before
   * anything is read. That a conversation begins to work is stored at once: the next kernel opens the logs of those that
   * the index knows to be at work.
   */
  addLater(row: ConversationRow, records: readonly IndexedRecord[]): LaterRecords {
    return this.#later.add(row, records, isBusy(row));
  }

  [Symbol.dispose](): void {
    this.#later.flush();
  }

  async #insert(row: ConversationRow, records: readonly IndexedRecord[]): Promise<void> {
    await this.#database.batch([
      ...records.flatMap((record) => insertions(row.id, record)),
      rowStatement(row),
    ]);
  }

  /** The database takes calls in their order. */
  get #current(): Database {
    this.#later.flush();
    return this.#database;
  }

  /** Returns the seq of the last indexed record; 0 if there is none. */
  async lastSeq(conversation: string): Promise<number> {
    const [row] = await this.#current.query<{ readonly seq: number | null }>(
      "SELECT max(seq) AS seq FROM conversation_entries WHERE conversation = ?",
      [conversation],
    );
    return row?.seq ?? 0;
  }

  /** Removes what the index has of a conversation behind a seq; its head stays. */
  async clear(conversation: string, after = 0): Promise<void> {
    const behind = "conversation = ? AND seq > ?";
    await this.#current.batch([
      textRemoval(behind, conversation, after),
      { sql: `DELETE FROM conversation_entries WHERE ${behind}`, params: [conversation, after] },
    ]);
  }

  /** Removes a conversation with its head. */
  async remove(conversation: string): Promise<void> {
    this.#origins.delete(conversation);
    await this.clear(conversation);
    await this.#current.batch(
      [
        { sql: "DELETE FROM conversations WHERE id = ?", params: [conversation] },
        { sql: "DELETE FROM conversation_heads WHERE conversation = ?", params: [conversation] },
      ],
      { durability: "power" },
    );
  }

  async entries(conversation: string, query: EntryQuery): Promise<Entry[]> {
    const { where, params } = conditions(conversation, query);
    const rows = await this.#current.query<EntryRow>(
      `SELECT seq, data FROM conversation_entries WHERE ${where}
         ORDER BY seq ${query.newest === true ? "DESC" : "ASC"} LIMIT ?`,
      [...params, query.limit],
    );
    const found = rows.flatMap(({ seq, data }) => decodeEntry(JSON.parse(data), conversation, seq) ?? []);
    return query.newest === true ? found.toReversed() : found;
  }

  async count(conversation: string, query: Omit<EntryQuery, "limit">): Promise<number> {
    const { where, params } = conditions(conversation, query);
    const [row] = await this.#current.query<{ readonly count: number }>(
      `SELECT count(*) AS count FROM conversation_entries WHERE ${where}`,
      params,
    );
    return row?.count ?? 0;
  }

  /** Returns the last entry with this id that is not behind the seq. */
  async entry(conversation: string, id: string, through: number): Promise<Entry | null> {
    const [row] = await this.#current.query<EntryRow>(
      `SELECT seq, data FROM conversation_entries
         WHERE conversation = ? AND id = ? AND kind <> 'prefix' AND seq <= ? ORDER BY seq DESC LIMIT 1`,
      [conversation, id, through],
    );
    return row === undefined ? null : decodeEntry(JSON.parse(row.data), conversation, row.seq);
  }

  /** Returns the newest beginning of a process's context that is not behind the seq; null if there is none. */
  async prefix(
    conversation: string,
    process: string,
    through: number,
  ): Promise<{ readonly seq: number; readonly data: unknown } | null> {
    const [row] = await this.#current.query<EntryRow>(
      `SELECT seq, data FROM conversation_entries
         WHERE conversation = ? AND audience = ? AND kind = 'prefix' AND seq <= ? ORDER BY seq DESC LIMIT 1`,
      [conversation, process, through],
    );
    return row === undefined ? null : { seq: row.seq, data: JSON.parse(row.data) };
  }

  /** Returns the entries whose words match, the best first; null for words that cannot be searched for. */
  async search(
    conversations: readonly { readonly conversation: string; readonly through: number }[],
    words: string,
    limit: number,
  ): Promise<{ readonly entry: Entry; readonly score: number }[]> {
    if (conversations.length === 0 || words === "") return [];
    const rows = await this.#current.query<
      EntryRow & { readonly conversation: string; readonly score: number }
    >(
      `SELECT e.conversation, e.seq, e.data, -t.rank AS score
         FROM conversation_texts t JOIN conversation_entries e ON e.rowid = t.rowid
         JOIN json_each(?) c ON e.conversation = c.value ->> 'conversation' AND e.seq <= c.value ->> 'through'
         WHERE conversation_texts MATCH ? ORDER BY t.rank, e.seq DESC LIMIT ?`,
      [JSON.stringify(conversations), words, limit],
    );
    return rows.flatMap(({ conversation, seq, data, score }) => {
      const entry = decodeEntry(JSON.parse(data), conversation, seq);
      return entry === null ? [] : { entry, score };
    });
  }

  /** Newest first; `before` continues behind the last one of a page. */
  async list(query: {
    readonly agent?: string;
    readonly state?: string;
    readonly before?: { readonly updated: string; readonly id: string };
    readonly limit: number;
  }): Promise<ConversationRow[]> {
    const { agent, state, before, limit } = query;
    const rows = await this.#current.query<StoredRow>(
      `SELECT id, agent, record, forked_from FROM conversations
         WHERE state <> 'deleted' AND (?1 IS NULL OR agent = ?1) AND (?2 IS NULL OR state = ?2)
           AND (?3 IS NULL OR (updated, id) < (?3, ?4))
         ORDER BY updated DESC, id DESC LIMIT ?5`,
      [agent ?? null, state ?? null, before?.updated ?? null, before?.id ?? null, limit],
    );
    return rows.map(rowOf);
  }

  /** Returns the logs of each agent: its conversations, without deleted ones, and the log of its mind. */
  async byAgent(): Promise<ReadonlyMap<string, readonly string[]>> {
    const rows = await this.#current.query<{ readonly agent: string; readonly ids: string }>(
      "SELECT agent, json_group_array(id) AS ids FROM conversations WHERE state <> 'deleted' GROUP BY agent",
    );
    return new Map(rows.map(({ agent, ids }) => [agent, JSON.parse(ids) as string[]]));
  }

  /** Throws NotFound for one that is not there, or was deleted. */
  async check(id: string): Promise<void> {
    if ((await this.get(id)) === null) throw notFound("conversation", id);
  }

  /** Returns null for one that is not there, or was deleted. */
  async get(id: string): Promise<ConversationRow | null> {
    const [row] = await this.#current.query<StoredRow>(
      "SELECT id, agent, record, forked_from FROM conversations WHERE id = ? AND state <> 'deleted'",
      [id],
    );
    return row === undefined ? null : rowOf(row);
  }

  /** Returns where a conversation was forked from, one that was deleted too; null if it was not forked. */
  async originOf(id: string): Promise<ConversationRow["forkedFrom"]> {
    const known = this.#origins.get(id);
    if (known !== undefined) return known;
    const [row] = await this.#current.query<{ readonly forked_from: string | null }>(
      "SELECT forked_from FROM conversations WHERE id = ?",
      [id],
    );
    const origin = originIn(row?.forked_from ?? null);
    if (this.#origins.size >= maxOrigins) this.#origins.clear();
    if (row !== undefined) this.#origins.set(id, origin);
    return origin;
  }

  /** Returns the conversations in which a process works or waits for a follow-up, something waits for a person, or is not read. */
  async busy(): Promise<readonly ConversationRow[]> {
    const rows = await this.#current.query<StoredRow>(
      "SELECT id, agent, record, forked_from FROM conversations WHERE is_busy = 1 AND state <> 'deleted' ORDER BY updated DESC, id DESC",
    );
    return rows.map(rowOf);
  }

  /** Returns the last seq of an origin that forks have; 0 if it has no fork. */
  async lastForked(conversation: string): Promise<number> {
    const [row] = await this.#current.query<{ readonly seq: number | null }>(
      "SELECT max(forked_from ->> 'seq') AS seq FROM conversations WHERE forked_from ->> 'conversation' = ?",
      [conversation],
    );
    return row?.seq ?? 0;
  }

  /** Returns the conversations that were forked from one, those that were deleted since too. */
  async forksOf(conversation: string): Promise<readonly string[]> {
    const rows = await this.#current.query<{ readonly id: string }>(
      "SELECT id FROM conversations WHERE forked_from ->> 'conversation' = ? ORDER BY id",
      [conversation],
    );
    return rows.map(({ id }) => id);
  }

  /** Returns the seqs of the stored beginnings of contexts, of all processes. */
  async contexts(conversation: string): Promise<readonly number[]> {
    const rows = await this.#current.query<{ readonly seq: number }>(
      "SELECT seq FROM conversation_entries WHERE conversation = ? AND kind = 'prefix' ORDER BY seq",
      [conversation],
    );
    return rows.map(({ seq }) => seq);
  }

  /** Returns a stored beginning of a context; null if there is none with this seq. */
  async context(conversation: string, seq: number): Promise<unknown> {
    const [row] = await this.#current.query<EntryRow>(
      "SELECT seq, data FROM conversation_entries WHERE conversation = ? AND kind = 'prefix' AND seq = ?",
      [conversation, seq],
    );
    return row === undefined ? null : JSON.parse(row.data);
  }

  /**
   * Removes what replaced records held from the files of the database too. Resolves when that is on the disk. Deleted
   * content is overwritten, except for words in the search, which are only marked as deleted, and for the log.
   */
  async scrub(): Promise<void> {
    await this.#current.batch(
      [{ sql: "INSERT INTO conversation_texts (conversation_texts) VALUES ('optimize')", params: [] }],
      { durability: "power" },
    );
    for (let attempt = 1; ; attempt++) {
      try {
        const [row] = await this.#database.query<{ readonly busy: number }>(
          "PRAGMA wal_checkpoint(TRUNCATE)",
        );
        if (row?.busy === 0) return;
      } catch (error) {
        // Another transaction may be open in this turn.
        if (attempt === maxCheckpoints) throw error;
      }
      if (attempt === maxCheckpoints)
        throw storageError("The ledger's log could not be emptied because the ledger is in use. Try again.");
      await nextTurn();
    }
  }

  /** Hides a conversation whose entries forks still have. */
  async hide(id: string): Promise<void> {
    await this.#current.batch(
      [{ sql: "UPDATE conversations SET state = 'deleted', is_busy = 0 WHERE id = ?", params: [id] }],
      { durability: "power" },
    );
  }

  async head(
    conversation: string,
  ): Promise<{ readonly anchor: Anchor; readonly checkpoint: string | null } | null> {
    const [row] = await this.#current.query<{
      readonly seq: number;
      readonly hash: string;
      readonly size: number;
      readonly carried_out: number;
      readonly checkpoint: string | null;
    }>("SELECT * FROM conversation_heads WHERE conversation = ?", [conversation]);
    if (row === undefined) return null;
    const { seq, hash, size, carried_out: carriedOut, checkpoint } = row;
    return { anchor: { seq, hash, size, carriedOut }, checkpoint };
  }

  /**
   * Only for a head that is on the disk: the anchor may lag behind its log, but never lead. It says nothing of the index, which
   * may lag behind both while a process works.
   */
  async storeHead(
    conversation: string,
    { seq, hash, size, carriedOut }: Anchor,
    durability: Durability,
  ): Promise<void> {
    await this.#database.batch(
      [
        {
          sql: `INSERT INTO conversation_heads (conversation, seq, hash, size, carried_out) VALUES (?, ?, ?, ?, ?)
                  ON CONFLICT (conversation) DO UPDATE SET seq = excluded.seq, hash = excluded.hash,
                    size = excluded.size, carried_out = excluded.carried_out`,
          params: [conversation, seq, hash, size, carriedOut],
        },
      ],
      { durability },
    );
  }

  /** Null drops the checkpoint durably, because it no longer describes the log. */
  async storeCheckpoint(conversation: string, checkpoint: string | null): Promise<void> {
    await this.#current.batch(
      [
        {
          sql: "UPDATE conversation_heads SET checkpoint = ? WHERE conversation = ?",
          params: [checkpoint, conversation],
        },
      ],
      { durability: checkpoint === null ? "power" : "process" },
    );
  }
}

interface StoredRow {
  readonly id: string;
  readonly agent: string;
  readonly record: string;
  readonly forked_from: string | null;
}

function rowOf({ id, agent, record, forked_from: forkedFrom }: StoredRow): ConversationRow {
  return {
    id,
    agent,
    forkedFrom: originIn(forkedFrom),
    state: stateIn(JSON.parse(record) as Partial<ConversationState>),
  };
}

function originIn(text: string | null): ConversationRow["forkedFrom"] {
  const origin: unknown = text === null ? null : JSON.parse(text);
  return isJsonObject(origin) ? (origin as unknown as ConversationRow["forkedFrom"]) : null;
}
