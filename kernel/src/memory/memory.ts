import type { Clock } from "../base/clock.ts";
import { invalidParams } from "../base/errors.ts";
import type { JsonValue } from "../base/json.ts";
import type { Log } from "../base/log.ts";
import { joinPath } from "../platform/data-files.ts";
import type { Database } from "../platform/database.ts";
import { Heads } from "./heads.ts";
import { Journal, type Verification, verifyJournal } from "./journal.ts";
import { chainStart } from "./record.ts";
import { type NewestWorkingRecord, WorkingMemory, type WorkingState } from "./working.ts";

export interface MemoryStats {
  /** Records in the journal. */
  readonly records: number;
  /** Bytes of the journal, over all its segments. */
  readonly sizeBytes: number;
  /** Hash of the last record, 64 hexadecimal digits; zeros where there is none. */
  readonly head: string;
}

/** One agent's memory. */
export interface AgentMemory extends AsyncDisposable {
  read(): WorkingState;
  /** Rejects with Conflict { revision }, LimitExceeded { limit, value } or StorageError; nothing is then written. */
  swap(revision: number, state: JsonValue): Promise<{ readonly revision: number }>;
  /** Resolves when the outcome of every swap called before is on the disk. */
  sync(): Promise<void>;
  stats(): MemoryStats;
  verify(): Promise<Verification>;
}

export interface Memory extends AsyncDisposable {
  /**
   * Opens an agent's memory, or gives the one that is open. The journal is proven first; where it is not as
   * it was written, it is left so and StorageError names the first bad record. The next call tries again.
   */
  open(extension: string): Promise<AgentMemory>;
  /** Proves the journal on the disk, whether the memory is open, can be opened, or neither. */
  verify(extension: string): Promise<Verification>;
  /** Of the open memory; of the last known head where it is not open. */
  stats(extension: string): MemoryStats;
}

export interface MemoryOptions {
  /** The workspace's state folder; memories lie in `extensions/<id>/memory` beneath it. */
  readonly stateFolder: string;
  /** Has `memoryMigrations` applied; keeps the journals' heads. */
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Log;
  /** Bytes an extension's journal may have (max_storage_mb); asked at each write, so a change counts at once. */
  storageLimitBytes(extension: string): number;
  readonly segmentBytes?: number;
}

export async function openMemory(options: MemoryOptions): Promise<Memory> {
  return new Memories(options, await Heads.load(options.database));
}

const extensionId = /^[a-z0-9]+([.-][a-z0-9-]+)+$/;

class Memories implements Memory {
  readonly #options: MemoryOptions;
  readonly #heads: Heads;
  readonly #opening = new Map<string, Promise<AgentMemory>>();
  readonly #open = new Map<string, AgentMemory>();
  readonly #closing = new Map<string, Promise<void>>();

  constructor(options: MemoryOptions, heads: Heads) {
    this.#options = options;
    this.#heads = heads;
  }

  open(extension: string): Promise<AgentMemory> {
    const known = this.#opening.get(extension);
    if (known !== undefined) return known;
    const opening = this.#start(extension);
    this.#opening.set(extension, opening);
    opening.catch(() => this.#opening.delete(extension));
    return opening;
  }

  async verify(extension: string): Promise<Verification> {
    const open = this.#open.get(extension);
    if (open !== undefined) return await open.verify();
    return await verifyJournal(this.#journalFolder(extension), this.#heads.of(extension) ?? chainStart);
  }

  stats(extension: string): MemoryStats {
    const open = this.#open.get(extension);
    if (open !== undefined) return open.stats();
    const { seq, hash, size } = this.#heads.of(extension) ?? { ...chainStart, size: 0 };
    return { records: seq, sizeBytes: size, head: hash };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.allSettled(this.#opening.values());
    const outcomes = await Promise.allSettled(
      [...this.#open.values()].map((memory) => memory[Symbol.asyncDispose]()),
    );
    const failed = outcomes.find((outcome) => outcome.status === "rejected");
    if (failed !== undefined) throw failed.reason;
  }

  async #start(extension: string): Promise<AgentMemory> {
    const folder = this.#memoryFolder(extension);
    await this.#closing.get(extension);
    const { clock, log, segmentBytes } = this.#options;
    let newest: NewestWorkingRecord | null = null;
    const journal = await Journal.open(
      {
        folder: this.#journalFolder(extension),
        anchor: this.#heads.of(extension),
        storeAnchor: (anchor) => this.#heads.store(extension, anchor),
        maxBytes: () => this.#options.storageLimitBytes(extension),
        clock,
        log,
        ...(segmentBytes === undefined ? {} : { segmentBytes }),
      },
      (record, place) => {
        if (record.kind === "working") newest = { record, place };
      },
    );
    try {
      const working = await WorkingMemory.open(folder, journal, newest, log);
      const memory = this.#agentMemory(extension, journal, working);
      this.#open.set(extension, memory);
      return memory;
    } catch (error) {
      await journal[Symbol.asyncDispose]();
      throw error;
    }
  }

  #agentMemory(extension: string, journal: Journal, working: WorkingMemory): AgentMemory {
    return {
      read: () => working.read(),
      swap: (revision, state) => working.swap(revision, state),
      sync: async () => {
        await working.settled();
        await journal.sync();
      },
      stats: () => ({ records: journal.end.seq, sizeBytes: journal.size, head: journal.end.hash }),
      verify: () => journal.verify(),
      [Symbol.asyncDispose]: () => this.#close(extension, journal, working),
    };
  }

  /** Whoever opens it again meanwhile waits until it is closed. */
  #close(extension: string, journal: Journal, working: WorkingMemory): Promise<void> {
    const known = this.#closing.get(extension);
    if (known !== undefined) return known;
    if (!this.#open.has(extension)) return Promise.resolve();
    this.#open.delete(extension);
    this.#opening.delete(extension);
    const closing = (async () => {
      try {
        await working[Symbol.asyncDispose]();
      } finally {
        await journal[Symbol.asyncDispose]();
        this.#closing.delete(extension);
      }
    })();
    this.#closing.set(extension, closing);
    return closing;
  }

  #memoryFolder(extension: string): string {
    if (!extensionId.test(extension)) throw invalidParams(`"${extension}" is not the id of an extension.`);
    return joinPath(this.#options.stateFolder, "extensions", extension, "memory");
  }

  #journalFolder(extension: string): string {
    return joinPath(this.#memoryFolder(extension), "journal");
  }
}
