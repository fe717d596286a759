import { type Clock, isoTime } from "../base/clock.ts";
import { Emitter } from "../base/emitter.ts";
import { invalidParams, isLaresError, type LaresError, notFound } from "../base/errors.ts";
import { newId } from "../base/ids.ts";
import type { Log } from "../base/log.ts";
import { OneAtATime } from "../base/one-at-a-time.ts";
import type { Hash } from "../base/vocabulary/common.ts";
import type { Entry } from "../base/vocabulary/conversation.ts";
import type { DiskTimer } from "../journal/disk-timer.ts";
import type { Verification } from "../journal/verify.ts";
import type { Database } from "../platform/database/database.ts";
import { joinPath, removeFolder } from "../platform/files/data-files.ts";
import { objectReader } from "../platform/files/object-store.ts";
import { ConversationLog } from "./conversation-log.ts";
import { stateOfFork, titled } from "./fork.ts";
import { findMessages, type FoundEntry, type MessageQuestion } from "./message-search.ts";
import { type Appended, type LogOptions, objectsIn } from "./log-journal.ts";
import { type OpenLog, OpenLogs } from "./open-logs.ts";
import { verifyLog } from "./verify-log.ts";
import { type ConversationRow, type EntryQuery, isBusy } from "./indexed.ts";
import { IndexRows } from "./index-rows.ts";
import { Redactions } from "./redactions.ts";
import { isConversationId, isLogName, isMindLog, sharedLogOf } from "./log-names.ts";
import { SourceRows } from "./source-rows.ts";
import { eachOnce, maxSeq, type Stretch, stretchesOf } from "./stretches.ts";
import type { MessageVectors } from "./vectors/message-vectors.ts";

interface ConversationsOptions {
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
  /** The vectors of messages; without them, words alone are searched. Disposed with this. */
  readonly vectors?: MessageVectors;
  /** A log was found not to be what was written. */
  damaged?(id: string, error: LaresError): void;
}

/** The conversations of a workspace: their logs, which of them are open, and the index. */
export class Conversations implements AsyncDisposable {
  /** Emits what was appended to any of the logs, once the operating system has it. */
  readonly appended = new Emitter<Appended>();
  readonly #options: ConversationsOptions;
  readonly #rows: IndexRows;
  readonly #sources: SourceRows;
  readonly #logs = new OpenLogs();
  /** Nothing is forked while it is deleted. */
  readonly #forking = new OneAtATime();
  /** Removes texts for good. */
  readonly redactions: Redactions;
  /** One proof for each open log waits at most. */
  readonly #proofs = new OneAtATime();
  /** Those whose index may lag behind their log, because a kernel died while they worked. */
  readonly #behind: Promise<Set<string>>;
  readonly #catchingUp = new Map<string, Promise<void>>();

  constructor(options: ConversationsOptions) {
    this.#options = options;
    this.#rows = new IndexRows(options.database, options.clock);
    this.#sources = new SourceRows(options.database);
    this.redactions = new Redactions({
      rows: this.#rows,
      clock: options.clock,
      use: (id) => this.#logs.use(id, () => ConversationLog.open(this.#logOptions(id))),
      stretchesOf: (id) => this.stretchesOf(id),
      prefix: (id, process) => this.prefix(id, process),
      isOpen: (id) => this.#logs.has(id),
      vectors: options.vectors,
    });
    this.#behind = this.#rows.busy().then((rows) => new Set(rows.filter(isBusy).map(({ id }) => id)));
    // Each read rejects with it.
    this.#behind.catch(() => undefined);
  }

  /** Begins a conversation; resolves when it is on the disk. */
  async create(agent: string, id = newId()): Promise<OpenLog> {
    return await this.#begin(id, { agent });
  }

  /** Opens a conversation. NotFound, also if only a fork still has it; StorageError if its log is not what was written. */
  async open(id: string): Promise<OpenLog> {
    const opened = await this.#logs.use(id, async () => {
      await this.#rows.check(id);
      return await ConversationLog.open(this.#logOptions(id));
    });
    try {
      // A removal of texts may have opened it, which opens deleted ones too.
      if (!opened.log.isListed) await this.#rows.check(id);
      opened.log.isListed = true;
      return opened;
    } catch (error) {
      opened[Symbol.dispose]();
      throw error;
    }
  }

  /** Opens the log of a mind itself, or begins it. */
  async openMind(agent: string): Promise<OpenLog> {
    if (!isMindLog(agent)) throw invalidParams(`"${agent}" is not an agent's id.`);
    return await this.#openOrBegin(agent);
  }

  /** Opens the log of what minds keep in a shared memory, or begins it. Like a mind's own, it names itself as its agent. */
  async openShared(namespace: string): Promise<OpenLog> {
    return await this.#openOrBegin(sharedLogOf(namespace));
  }

  /** Begins a conversation with the entries that another one has up to a seq; default: all. */
  async fork(id: string, at?: number): Promise<OpenLog> {
    return await this.#forking.run(id, async () => {
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
      const { title } = start;
      const forked = await this.#begin(newId(), {
        agent: log.agent,
        forked: { conversation: id, seq },
        // The first record cannot be redacted, and a title has a person's words.
        start: { ...start, title: "" },
      });
      if (title !== "") await forked.log.append([titled(title, start, isoTime(this.#options.clock.now()))]);
      return forked;
    });
  }

  /**
   * Deletes a conversation. Entries that forks have stay until the last of these is deleted; returns whether it has such.
   */
  async delete(id: string): Promise<{ readonly isKeptForForks: boolean }> {
    return await this.#forking.run(id, async () => {
      await this.#rows.check(id);
      const origin = await this.#rows.originOf(id);
      const isKeptForForks = (await this.#rows.lastForked(id)) > 0;
      if (isKeptForForks) {
        await this.#logs.closedFor(id, () => this.#rows.hide(id));
        await this.#options.vectors?.drop(id, await this.#rows.lastForked(id));
      } else await this.#remove(id);
      if (origin !== null) await this.#removeIfUnused(origin.conversation);
      return { isKeptForForks };
    });
  }

  /**
   * Proves the log of a conversation, or of a mind itself, from its first record, and what a fork has of its origins.
   * NotFound. Rejects with the signal's reason once it is aborted.
   */
  async verify(id: string, signal?: AbortSignal): Promise<Verification> {
    await this.#rows.check(id);
    const stretches = await this.stretchesOf(id);
    let records = 0;
    for (const { conversation } of stretches) {
      const proven = await verifyLog(this.#logs, conversation, this.#logOptions(conversation), signal);
      records += proven.records;
      if (!proven.ok || conversation === id) return { ...proven, records };
    }
    throw notFound("conversation", id);
  }

  /** Newest first. */
  async list(query: Parameters<IndexRows["list"]>[0]): Promise<ConversationRow[]> {
    await this.#allCaughtUp();
    return (await this.#rows.list(query)).filter(({ id }) => isConversationId(id));
  }

  /** Returns what is known of one without opening its log. NotFound. */
  async get(id: string): Promise<ConversationRow> {
    const row = await this.find(id);
    if (row === null) throw notFound("conversation", id);
    return row;
  }

  /** Like `get`; null if there is none. */
  async find(id: string): Promise<ConversationRow | null> {
    const open = this.#logs.rowOf(id);
    if (open !== null) return open;
    await this.#caughtUp(id);
    return await this.#rows.get(id);
  }

  /** Returns the ids of conversations with processes that had not ended, the last used first. */
  async busy(): Promise<readonly string[]> {
    return (await this.#rows.busy()).map(({ id }) => id);
  }

  /** Returns entries in their order, those of the origin of a fork too. Reads no log. */
  async entries(id: string, query: EntryQuery): Promise<Entry[]> {
    const stretches = await this.stretchesOf(id);
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
    for (const { conversation, through } of await this.stretchesOf(id))
      count += await this.#rows.count(conversation, {
        ...query,
        through: Math.min(query.through ?? maxSeq, through),
      });
    return count;
  }

  /** Returns the last entry of this id; null if there is none. */
  async entry(id: string, entry: string): Promise<Entry | null> {
    for (const { conversation, through } of (await this.stretchesOf(id)).toReversed()) {
      const found = await this.#rows.entry(conversation, entry, Math.min(through, maxSeq));
      if (found !== null) return { ...found, conversation: id };
    }
    return null;
  }

  /** Returns a picture of an entry; null if it is gone or is not what was stored. Reads no log. */
  async picture(id: string, hash: Hash): Promise<Uint8Array | null> {
    for (const { conversation } of (await this.stretchesOf(id)).toReversed()) {
      try {
        const pieces: Uint8Array[] = [];
        const objects = objectReader(objectsIn(this.#folderOf(conversation)));
        for await (const piece of objects.stream(hash)) pieces.push(piece);
        return Buffer.concat(pieces);
      } catch (error) {
        // An entry of a fork may have it with its origin.
        if (!isLaresError(error, "StorageError")) throw error;
      }
    }
    return null;
  }

  /** Returns the beginning of a process's context as it was stored last, up to a seq; null if there is none. */
  async prefix(
    id: string,
    process: string,
    last = maxSeq,
  ): Promise<{ readonly seq: number; readonly data: unknown } | null> {
    for (const { conversation, through } of (await this.stretchesOf(id)).toReversed()) {
      const found = await this.#rows.prefix(conversation, process, Math.min(through, last));
      if (found !== null) return found;
    }
    return null;
  }

  /** Returns the entries of these conversations whose words match, the best first. */
  async search(ids: readonly string[], words: string, limit: number): Promise<readonly FoundEntry[]> {
    return await this.#rows.search(await this.#searched(ids), words, limit);
  }

  /** Returns the entries of an agent's conversations that fit a question by their words, or by what they mean. */
  async answering(ids: readonly string[], question: MessageQuestion): Promise<readonly FoundEntry[]> {
    const { vectors = null } = this.#options;
    return await findMessages(this.#rows, this.#sources, vectors, await this.#searched(ids), question);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.allSettled(this.#catchingUp.values());
    await this.#options.vectors?.[Symbol.asyncDispose]();
    await this.#logs[Symbol.asyncDispose]();
    this.#rows[Symbol.dispose]();
  }

  #openOrBegin(id: string): Promise<OpenLog> {
    return this.#logs.use(id, async () =>
      (await this.#rows.get(id)) === null
        ? await ConversationLog.create(this.#logOptions(id), this.#header(id))
        : await ConversationLog.open(this.#logOptions(id)),
    );
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
    return this.#logs.use(id, () =>
      ConversationLog.create(this.#logOptions(id), {
        ...this.#header(agent),
        ...(forked === undefined ? {} : { forked_from: forked }),
        ...(start === undefined ? {} : { start }),
      }),
    );
  }

  async #remove(id: string): Promise<void> {
    await this.#logs.closedFor(id, async () => {
      // The index last: a conversation whose log is half removed is still listed, and is deleted again.
      await removeFolder(this.#folderOf(id));
      await this.#rows.remove(id);
    });
    await this.#options.vectors?.drop(id);
  }

  /** Removes an origin that was deleted before, once no fork has its entries. */
  async #removeIfUnused(id: string): Promise<void> {
    if ((await this.#rows.get(id)) !== null || (await this.#rows.lastForked(id)) > 0) return;
    const origin = await this.#rows.originOf(id);
    await this.#remove(id);
    if (origin !== null) await this.#removeIfUnused(origin.conversation);
  }

  /** Resolves when the index has all that an earlier kernel appended to a conversation at work: its opening sees to that. */
  async #caughtUp(id: string): Promise<void> {
    const behind = await this.#behind;
    if (!behind.has(id)) return;
    const known = this.#catchingUp.get(id);
    const catching = known ?? this.#catchUp(id, behind);
    this.#catchingUp.set(id, catching);
    await catching;
  }

  async #allCaughtUp(): Promise<void> {
    for (const id of await this.#behind) await this.#caughtUp(id);
  }

  async #catchUp(id: string, behind: Set<string>): Promise<void> {
    try {
      (await this.open(id))[Symbol.dispose]();
      this.#options.vectors?.grown(id);
    } catch (error) {
      // A damaged log is named when it is opened; what the index has of it can be read.
      if (!isLaresError(error)) throw error;
    } finally {
      behind.delete(id);
      this.#catchingUp.delete(id);
    }
  }

  /** Returns where the entries of conversations are, each place once: a fork has those of its origin. */
  async #searched(ids: readonly string[]): Promise<Stretch[]> {
    return eachOnce((await Promise.all(ids.map((id) => this.stretchesOf(id)))).flat());
  }

  /** Returns where a conversation's entries are, the first ones first. */
  async stretchesOf(id: string): Promise<readonly Stretch[]> {
    await this.#caughtUp(id);
    return await stretchesOf(id, (each) => this.#rows.originOf(each));
  }

  #folderOf(id: string): string {
    if (!isLogName(id)) throw notFound("conversation", id);
    return joinPath(this.#options.stateFolder, "conversations", id);
  }

  #logOptions(id: string): LogOptions {
    const { clock, log, disk, maxBytes, damaged } = this.#options;
    return {
      id,
      folder: this.#folderOf(id),
      rows: this.#rows,
      clock,
      log,
      disk,
      proofs: this.#proofs,
      maxBytes: () => maxBytes(id),
      appended: (appended) => {
        this.#options.vectors?.grown(id);
        this.appended.emit(appended);
      },
      ...(damaged === undefined ? {} : { damaged: (error) => damaged(id, error) }),
    };
  }
}
