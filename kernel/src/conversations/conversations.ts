import { type Clock, isoTime } from "../base/clock.ts";
import { invalidParams, type LaresError, notFound } from "../base/errors.ts";
import { newId } from "../base/ids.ts";
import type { Log } from "../base/log.ts";
import { OneAtATime } from "../base/one-at-a-time.ts";
import type { Entry } from "../base/vocabulary/conversation.ts";
import type { DiskTimer } from "../journal/disk-timer.ts";
import type { Database } from "../platform/database/database.ts";
import { joinPath, removeFolder } from "../platform/files/data-files.ts";
import { ConversationLog, type LogOptions } from "./conversation-log.ts";
import { stateOfFork } from "./fork.ts";
import { type ConversationRow, type EntryQuery, IndexRows } from "./index-rows.ts";
import type { Header } from "./records.ts";

export interface ConversationsOptions {
  /** The workspace's state folder, with the logs in `conversations/<id>`. */
  readonly stateFolder: string;
  /** Has `conversationMigrations` applied. */
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Log;
  /** Brings all logs of the kernel to the disk. */
  readonly disk: DiskTimer;
  /** Returns the limit of one log in bytes. */
  maxBytes(id: string): number;
  /** Entries were appended to any of the logs, and the operating system has them. */
  appended?(header: Header, entries: readonly Entry[]): void;
  /** A log was found not to be what was written. */
  damaged?(id: string, error: LaresError): void;
}

/** A log in use. It stays open until it is disposed. */
export interface OpenLog extends Disposable {
  readonly log: ConversationLog;
}

/** A part of the entries that a conversation has: its own, or those of the one it was forked from. */
interface Stretch {
  readonly conversation: string;
  /** The seq of its last entry here; Infinity: it has no end. */
  readonly through: number;
}

interface Opened {
  readonly opening: Promise<ConversationLog>;
  users: number;
}

/** Logs without a user that stay open, because they may soon have one. */
const maxIdle = 16;
/** Forks of forks. */
const maxForks = 64;
const conversationId = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** True for the id of a conversation; a mind's own log has another one, and is none. */
export function isConversationId(id: string): boolean {
  return conversationId.test(id);
}

/** A mind's own log is named by its agent. */
const agentId = /^[a-z0-9]+(?:[.-][a-z0-9-]+)+$/;

/** The conversations of a workspace: their logs, which of them are open, and the index. */
export class Conversations implements AsyncDisposable {
  readonly #options: ConversationsOptions;
  readonly #rows: IndexRows;
  /** In the order of their last use. */
  readonly #open = new Map<string, Opened>();
  readonly #proofs = new OneAtATime();
  /** Closing and deleting; an opening waits for them. */
  readonly #turns = new OneAtATime();

  constructor(options: ConversationsOptions) {
    this.#options = options;
    this.#rows = new IndexRows(options.database, options.clock);
  }

  /** Begins a conversation; resolves when it is on the disk. */
  async create(agent: string, id = newId()): Promise<OpenLog> {
    return await this.#begin(id, { agent });
  }

  /** Opens a conversation. NotFound; StorageError if its log is not what was written. */
  async open(id: string): Promise<OpenLog> {
    if (!this.#open.has(id) && (await this.#rows.get(id)) === null) throw notFound("conversation", id);
    return await this.#use(id, () => ConversationLog.open(this.#logOptions(id)));
  }

  /** Opens the log of a mind itself, or begins it. */
  async openMind(agent: string): Promise<OpenLog> {
    if (!agentId.test(agent)) throw invalidParams(`"${agent}" is not an agent's id.`);
    return await this.#use(agent, async () =>
      (await this.#rows.get(agent)) === null
        ? await ConversationLog.create(this.#logOptions(agent), this.#header(agent))
        : await ConversationLog.open(this.#logOptions(agent)),
    );
  }

  /** Begins a conversation with the entries that another one has up to a seq; default: all. */
  async fork(id: string, at?: number): Promise<OpenLog> {
    using origin = await this.open(id);
    const { log } = origin;
    const seq = at ?? log.state.seq;
    if (seq < 1 || seq > log.state.seq)
      throw invalidParams(`A fork begins behind one of the entries 1 to ${log.state.seq}, not ${seq}.`, {
        path: "at",
      });
    const start = await stateOfFork(log.state, seq, (after) =>
      this.entries(id, { after, through: seq, limit: 1_000 }),
    );
    return await this.#begin(newId(), { agent: log.agent, forked: { conversation: id, seq }, start });
  }

  /**
   * Deletes a conversation. Entries that forks have stay until the last of these is deleted; returns whether it has such.
   */
  async delete(id: string): Promise<{ readonly isKeptForForks: boolean }> {
    if ((await this.#rows.get(id)) === null) throw notFound("conversation", id);
    const origin = await this.#rows.originOf(id);
    await this.#close(id);
    const isKeptForForks = (await this.#rows.lastForked(id)) > 0;
    if (isKeptForForks) await this.#rows.hide(id);
    else await this.#remove(id);
    if (origin !== null) await this.#removeIfUnused(origin.conversation);
    return { isKeptForForks };
  }

  /** Newest first. */
  async list(query: Parameters<IndexRows["list"]>[0]): Promise<ConversationRow[]> {
    return (await this.#rows.list(query)).filter(({ id }) => conversationId.test(id));
  }

  /** Returns what is known of one without opening its log. NotFound. */
  async get(id: string): Promise<ConversationRow> {
    const row = await this.#rows.get(id);
    if (row === null) throw notFound("conversation", id);
    return row;
  }

  /** Like `get`; null if there is none. */
  find(id: string): Promise<ConversationRow | null> {
    return this.#rows.get(id);
  }

  /** Returns the ids of conversations with processes that had not ended, the last used first. */
  busy(): Promise<readonly string[]> {
    return this.#rows.busy();
  }

  /** Returns entries in their order, those of the origin of a fork too. Reads no log. */
  async entries(id: string, query: EntryQuery): Promise<Entry[]> {
    const stretches = await this.#stretchesOf(id);
    const found: Entry[][] = [];
    let left = query.limit;
    for (const { conversation, through } of query.newest === true ? stretches.toReversed() : stretches) {
      if (left === 0) break;
      const entries = await this.#rows.entries(conversation, {
        ...query,
        through: Math.min(query.through ?? maxSeq, through),
        limit: left,
      });
      left -= entries.length;
      found.push(entries.map((entry) => ({ ...entry, conversation: id })));
    }
    return (query.newest === true ? found.toReversed() : found).flat();
  }

  async count(id: string, query: Omit<EntryQuery, "limit" | "newest">): Promise<number> {
    let count = 0;
    for (const { conversation, through } of await this.#stretchesOf(id))
      count += await this.#rows.count(conversation, {
        ...query,
        through: Math.min(query.through ?? maxSeq, through),
      });
    return count;
  }

  /** Returns the last entry of this id; null if there is none. */
  async entry(id: string, entry: string): Promise<Entry | null> {
    for (const { conversation, through } of (await this.#stretchesOf(id)).toReversed()) {
      const found = await this.#rows.entry(conversation, entry, Math.min(through, maxSeq));
      if (found !== null) return { ...found, conversation: id };
    }
    return null;
  }

  /** Returns the beginning of a process's context as it was stored last; null if there is none. */
  async prefix(
    id: string,
    process: string,
  ): Promise<{ readonly seq: number; readonly data: unknown } | null> {
    for (const { conversation, through } of (await this.#stretchesOf(id)).toReversed()) {
      const found = await this.#rows.prefix(conversation, process, Math.min(through, maxSeq));
      if (found !== null) return found;
    }
    return null;
  }

  /** Returns the entries of these conversations whose words match, the best first. */
  async search(
    ids: readonly string[],
    words: string,
    limit: number,
  ): Promise<{ readonly entry: Entry; readonly score: number }[]> {
    const stretches = (await Promise.all(ids.map((id) => this.#stretchesOf(id)))).flat();
    return await this.#rows.search(
      stretches.map(({ conversation, through }) => ({ conversation, through: Math.min(through, maxSeq) })),
      words,
      limit,
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.allSettled([...this.#open.keys()].map((id) => this.#close(id)));
    this.#rows[Symbol.dispose]();
  }

  #header(agent: string) {
    return { version: 1 as const, agent, created: isoTime(this.#options.clock.now()) };
  }

  #begin(
    id: string,
    {
      agent,
      forked,
      start,
    }: {
      readonly agent: string;
      readonly forked?: { readonly conversation: string; readonly seq: number };
      readonly start?: ConversationRow["state"];
    },
  ): Promise<OpenLog> {
    return this.#use(id, () =>
      ConversationLog.create(this.#logOptions(id), {
        ...this.#header(agent),
        ...(forked === undefined ? {} : { forked_from: forked }),
        ...(start === undefined ? {} : { start }),
      }),
    );
  }

  /** Returns the log for one more user. Several that come at once share one opening. */
  async #use(id: string, start: () => Promise<ConversationLog>): Promise<OpenLog> {
    const known = this.#open.get(id);
    if (known?.users === 0 && (await known.opening.catch(() => null))?.isBroken === true)
      await this.#close(id);
    let opened = this.#open.get(id);
    if (opened === undefined) {
      opened = { opening: this.#turns.run(id, start), users: 0 };
      opened.opening.catch(() => {
        if (this.#open.get(id) === opened) this.#open.delete(id);
      });
    } else this.#open.delete(id);
    this.#open.set(id, opened);
    opened.users++;
    const used = opened;
    let isUsed = true;
    const log = await opened.opening;
    return {
      log,
      [Symbol.dispose]: () => {
        if (!isUsed) return;
        isUsed = false;
        used.users--;
        this.#closeIdle();
      },
    };
  }

  #closeIdle(): void {
    const idle = [...this.#open].filter(([, { users }]) => users === 0);
    for (const [id] of idle.slice(0, Math.max(0, idle.length - maxIdle)))
      void this.#close(id).catch(() => {});
  }

  async #close(id: string): Promise<void> {
    const opened = this.#open.get(id);
    if (opened === undefined) return;
    this.#open.delete(id);
    await this.#turns.run(id, async () => {
      const log = await opened.opening.catch(() => null);
      await log?.[Symbol.asyncDispose]();
    });
  }

  async #remove(id: string): Promise<void> {
    // The index last: a conversation whose log is half removed is still listed, and is deleted again.
    await removeFolder(this.#folderOf(id));
    await this.#rows.remove(id);
  }

  /** Removes an origin that was deleted before, once no fork has its entries. */
  async #removeIfUnused(id: string): Promise<void> {
    if ((await this.#rows.get(id)) !== null || (await this.#rows.lastForked(id)) > 0) return;
    const origin = await this.#rows.originOf(id);
    await this.#remove(id);
    if (origin !== null) await this.#removeIfUnused(origin.conversation);
  }

  /** Returns where a conversation's entries are, the first ones first. */
  async #stretchesOf(id: string): Promise<readonly Stretch[]> {
    const stretches: Stretch[] = [{ conversation: id, through: Infinity }];
    for (let forks = 0; forks < maxForks; forks++) {
      const origin = await this.#rows.originOf(stretches[0]?.conversation ?? id);
      if (origin === null) break;
      const through = Math.min(origin.seq, stretches[0]?.through ?? Infinity);
      stretches.unshift({ conversation: origin.conversation, through });
    }
    return stretches;
  }

  #folderOf(id: string): string {
    if (!conversationId.test(id) && !agentId.test(id)) throw notFound("conversation", id);
    return joinPath(this.#options.stateFolder, "conversations", id);
  }

  #logOptions(id: string): LogOptions {
    const { clock, log, disk, maxBytes, appended, damaged } = this.#options;
    return {
      id,
      folder: this.#folderOf(id),
      rows: this.#rows,
      clock,
      log,
      disk,
      proofs: this.#proofs,
      maxBytes: () => maxBytes(id),
      ...(appended === undefined ? {} : { appended }),
      ...(damaged === undefined ? {} : { damaged: (error) => damaged(id, error) }),
    };
  }
}

/** No log gets so long; SQLite knows no infinity. */
const maxSeq = Number.MAX_SAFE_INTEGER;
