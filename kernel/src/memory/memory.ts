import type { Clock } from "../base/clock.ts";
import { isLaresError, LaresError, messageOf } from "../base/errors.ts";
import type { JsonValue } from "../base/json.ts";
import type { Log } from "../base/log.ts";
import { OneAtATime } from "../base/one-at-a-time.ts";
import { joinPath, listFiles } from "../platform/files/data-files.ts";
import type { Database } from "../platform/database/database.ts";
import { type AgentMemory, createAgentMemory, type MemoryStats } from "./agent-memory.ts";
import { JournalSummary } from "./journal-summary.ts";
import { countsOf, Heads } from "./records/heads.ts";
import { DiskTimer } from "../journal/disk-timer.ts";
import { Journal } from "../journal/journal.ts";
import { damageError, type Verification, verifyJournal } from "../journal/verify.ts";
import type { StartFold } from "../journal/proof.ts";
import { folderOfMemory, type MemoryKey } from "./memory-key.ts";
import { memoryRecords, memoryRefusals } from "./records/kinds.ts";
import { askerOf, storeViewOf } from "./store-view.ts";
import type { PrunePolicy, Store, StoreMemory } from "../memory-contract/store-port.ts";
import type { StoreSettings } from "../memory-contract/store-settings.ts";
import { type Exported, exportMemory } from "./transfer/export.ts";
import {
  describeExport,
  type ExportDescription,
  importMemory,
  removeUnfinishedImport,
} from "./transfer/import.ts";
import type { RecordMarks } from "./records/marks.ts";
import type { VectorItem } from "./transfer/vectors.ts";
import { chainStart, type RecordKind } from "../memory-contract/records.ts";
import { WorkingMemory } from "./working.ts";

export interface Memory extends AsyncDisposable {
  /**
   * Opens a memory, or returns the open one. Proves the journal first. If it is not what was written, leaves it
   * unchanged and throws StorageError, which names the first bad record; the next call tries again.
   */
  open(key: MemoryKey): Promise<AgentMemory>;
  /** Proves the journal on the disk, whether or not the memory is open or can be opened. */
  verify(key: MemoryKey, signal?: AbortSignal): Promise<Verification>;
  /** Returns whether anything was ever stored in it, also by a kernel that was killed before it stored the head. */
  exists(key: MemoryKey): Promise<boolean>;
  /**
   * Returns the figures of the open memory, or of its last known head if it is closed. After a kill that head lies behind
   * the journal until the memory is opened.
   */
  stats(key: MemoryKey): MemoryStats;
  /** Writes the current content of the memory into one file while it stays in use; see `exportMemory`. */
  export(
    key: MemoryKey,
    path: string,
    options: { readonly overwrite: boolean; readonly signal?: AbortSignal },
  ): Promise<Exported>;
  /** Returns what an import of this file would add; Conflict if this memory is not empty. See `describeExport`. */
  describe(key: MemoryKey, path: string, expectedHead?: string): Promise<ExportDescription>;
  /** Replaces an empty journal by the file's; other users of the memory wait meanwhile. See `importMemory`. */
  import(key: MemoryKey, path: string, expectedHead?: string): Promise<ExportDescription>;
}

export interface MemoryOptions {
  /** The workspace's state folder, with the memories in `extensions/<id>/memory` and `namespaces/<name>/memory`. */
  readonly stateFolder: string;
  /** Stores the journals' heads; `memoryMigrations` must have been applied. */
  readonly database: Database;
  /** Projects the journals and answers queries. It is not closed with the memories. */
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  /** Brings the journals to the disk together with other logs of the kernel; default: on their own. */
  readonly disk?: DiskTimer;
  /** Receives the marks of an imported memory's records, before it can be read. */
  storeMarks?(key: MemoryKey, marks: RecordMarks): Promise<void>;
  /** Returns the settings of a memory's projections; called each time. */
  storeSettings(key: MemoryKey): StoreSettings;
  /**
   * Returns the limit of a memory's journal in bytes (max_storage_mb). Called at each write, so changes apply at
   * once.
   */
  storageLimitBytes(key: MemoryKey): number;
  /** Returns the days that events are kept (memory_retention_days), null: forever. Called when opening and daily. */
  retentionDays(key: MemoryKey): number | null;
  /** Returns which knowledge may be pruned automatically; null: none. Called at each maintenance. */
  prunePolicy(key: MemoryKey): PrunePolicy | null;
  /** Reports how many bytes were cut off at the end of a journal because they never reached the disk completely. */
  cutOff?(key: MemoryKey, bytes: number): void;
  /** Reports a journal that is not what was written, found in the background or by `verify`. */
  damaged?(key: MemoryKey, error: LaresError): void;
  readonly segmentBytes?: number;
}

export async function openMemory(options: MemoryOptions): Promise<Memory> {
  return new Memories(options, await Heads.load(options.database));
}

class Memories implements Memory {
  readonly #options: MemoryOptions;
  /** Shared by the journals of all memories. */
  readonly #disk: DiskTimer;
  /** One journal at a time is proven in the background; one proof for each open memory waits at most. */
  readonly #proofs = new OneAtATime();
  readonly #heads: Heads;
  readonly #opening = new Map<MemoryKey, Promise<AgentMemory>>();
  readonly #open = new Map<MemoryKey, AgentMemory>();
  readonly #closing = new Map<MemoryKey, Promise<void>>();
  /** Memories whose content is being replaced; opening one waits for that. */
  readonly #replacing = new Map<MemoryKey, Promise<unknown>>();

  constructor(options: MemoryOptions, heads: Heads) {
    this.#options = options;
    this.#disk = options.disk ?? new DiskTimer(options.clock);
    this.#heads = heads;
  }

  open(key: MemoryKey): Promise<AgentMemory> {
    const open = this.#open.get(key);
    if (open?.isBroken === true) {
      // Marks it as closing, so that opening it again waits for that.
      this.#closeBroken(key, open);
    }
    const known = this.#opening.get(key);
    if (known !== undefined) return known;
    const opening = this.#start(key);
    this.#opening.set(key, opening);
    opening.catch(() => this.#opening.delete(key));
    return opening;
  }

  async verify(key: MemoryKey, signal?: AbortSignal): Promise<Verification> {
    const open = this.#open.get(key);
    if (open !== undefined) return await open.verify(signal);
    const folder = joinPath(folderOfMemory(this.#options.stateFolder, key), "journal");
    const options = signal === undefined ? {} : { signal };
    const verification = await verifyJournal(folder, this.#heads.of(key), memoryRecords, options);
    const { firstBad } = verification;
    if (firstBad !== undefined) this.#options.damaged?.(key, damageError("memory", folder, firstBad));
    return verification;
  }

  async exists(key: MemoryKey): Promise<boolean> {
    if (this.stats(key).records > 0) return true;
    const journal = joinPath(folderOfMemory(this.#options.stateFolder, key), "journal");
    return (await listFiles(journal)).length > 0;
  }

  stats(key: MemoryKey): MemoryStats {
    const open = this.#open.get(key);
    if (open !== undefined) return open.stats();
    const { seq, hash, size } = this.#heads.of(key) ?? { ...chainStart, size: 0 };
    return { records: seq, sizeBytes: size, head: hash, ...this.#heads.countsOf(key) };
  }

  async export(
    key: MemoryKey,
    path: string,
    options: { readonly overwrite: boolean; readonly signal?: AbortSignal },
  ): Promise<Exported> {
    const source = await (await this.open(key)).exportSource();
    return await exportMemory(source, { path, ...options, clock: this.#options.clock });
  }

  async describe(key: MemoryKey, path: string, expectedHead?: string): Promise<ExportDescription> {
    if (this.stats(key).records > 0) throw notEmpty(key);
    return await describeExport(path, expectedHead);
  }

  async import(key: MemoryKey, path: string, expectedHead?: string): Promise<ExportDescription> {
    const { stateFolder } = this.#options;
    return await this.#replace(key, () =>
      importMemory(path, {
        memoryFolder: folderOfMemory(stateFolder, key),
        anchor: this.#heads.of(key),
        ...(expectedHead === undefined ? {} : { expectedHead }),
        maxBytes: this.#options.storageLimitBytes(key),
        storeMarks: async (marks) => await this.#options.storeMarks?.(key, marks),
        storeAnchor: (anchor, counts) => this.#heads.store(key, anchor, counts, "power"),
        takeVectors: (vectors, pages) => this.#giveVectors(key, vectors.embedder, pages),
      }),
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.allSettled(this.#replacing.values());
    await Promise.allSettled(this.#opening.values());
    const outcomes = await Promise.allSettled(
      [...this.#open.values()].map((memory) => memory[Symbol.asyncDispose]()),
    );
    const failed = outcomes.find((outcome) => outcome.status === "rejected");
    if (failed !== undefined) throw failed.reason;
  }

  async #start(key: MemoryKey): Promise<AgentMemory> {
    const { clock, log, segmentBytes, store, ...options } = this.#options;
    const folder = folderOfMemory(options.stateFolder, key);
    const journalFolder = joinPath(folder, "journal");
    await this.#replacing.get(key)?.catch(() => undefined);
    await this.#closing.get(key)?.catch(() => undefined);
    await removeUnfinishedImport(folder);
    const maxBytes = (): number => options.storageLimitBytes(key);
    let view: StoreMemory | undefined;
    const startLook = (saved: JsonValue): JournalSummary | null =>
      saved === null ? new JournalSummary(journalFolder) : JournalSummary.from(journalFolder, saved);
    const { journal, found: summary } = await Journal.open(
      {
        name: "memory",
        form: memoryRecords,
        refusals: memoryRefusals,
        disk: this.#disk,
        folder: journalFolder,
        anchor: this.#heads.of(key),
        storeAnchor: (anchor, durability, tally) =>
          this.#heads.store(key, anchor, countsOf(tally), durability),
        checkpoints: {
          stored: await this.#heads.checkpointOf(key),
          store: (text) => this.#heads.storeCheckpoint(key, text),
          turns: this.#proofs,
        },
        cutOff: (bytes) => options.cutOff?.(key, bytes),
        damaged: (error) => options.damaged?.(key, error),
        maxBytes,
        grown: () => {
          if (view !== undefined) store.grown(view);
          this.#open.get(key)?.grown();
        },
        clock,
        log,
        ...(segmentBytes === undefined ? {} : { segmentBytes }),
      },
      startLook as StartFold<RecordKind, JournalSummary>,
    );
    try {
      const working = await WorkingMemory.open(folder, journal, summary.working, { clock, log });
      const policyText = await summary.readPolicy();
      // Last, because redactions move the records in the journal.
      await this.#finishRedactions(key, journal);
      view = storeViewOf(journal, { key, folder, journalFolder, settings: () => options.storeSettings(key) });
      const memory = createAgentMemory({
        journal,
        working,
        ask: askerOf(store, view),
        store: view,
        oldestEvent: summary.oldestEvent,
        forgetting: {
          forgotten: summary.lastForgotten,
          purged: this.#heads.purgedOf(key),
          storePurged: (seq) => this.#heads.storePurged(key, seq),
        },
        policyText,
        clock,
        log,
        retentionDays: () => options.retentionDays(key),
        prunePolicy: () => options.prunePolicy(key),
        maxBytes,
        close: (closeParts) => this.#close(key, closeParts),
      });
      this.#open.set(key, memory);
      return memory;
    } catch (error) {
      await journal[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** Reuses imported vectors, so that their texts need not be embedded again. If that fails, they are. */
  async #giveVectors(
    key: MemoryKey,
    embedder: string,
    pages: AsyncIterable<readonly VectorItem[]>,
  ): Promise<void> {
    const { store, log, stateFolder, storeSettings } = this.#options;
    const { seq, hash } = this.#heads.of(key) ?? chainStart;
    const folder = folderOfMemory(stateFolder, key);
    const memory: StoreMemory = {
      key,
      folder,
      journalFolder: joinPath(folder, "journal"),
      end: { seq, hash },
      rewrites: 0,
      settings: { ...storeSettings(key), isGivenVectors: true },
    };
    try {
      for await (const items of pages) {
        const { isWanted } = await store.request("vectors.give", memory, { embedder, items });
        if (!isWanted) break;
      }
    } catch (error) {
      if (!isLaresError(error)) throw error;
      log.warn("Imported vectors could not be used and are computed again.", {
        memory: key,
        reason: error.message,
      });
    }
  }

  /** Closes the memory and does the work before it can be opened again. One at a time for each memory. */
  async #replace<Result>(key: MemoryKey, work: () => Promise<Result>): Promise<Result> {
    const before = this.#replacing.get(key);
    const opening = this.#opening.get(key);
    const replaced = (async () => {
      await before?.catch(() => undefined);
      const memory = await opening?.catch(() => undefined);
      await memory?.[Symbol.asyncDispose]();
      return await work();
    })();
    this.#replacing.set(key, replaced);
    try {
      return await replaced;
    } finally {
      if (this.#replacing.get(key) === replaced) this.#replacing.delete(key);
    }
  }

  /** A full disk must not make the memory unusable; the next cleanup retries. */
  async #finishRedactions(key: MemoryKey, journal: Journal<RecordKind>): Promise<void> {
    try {
      await journal.finishRedactions();
    } catch (error) {
      if (journal.isBroken) throw error;
      const reason = messageOf(error);
      this.#options.log.warn("Forgotten data is still in the journal of a memory.", {
        memory: key,
        reason,
      });
    }
  }

  #closeBroken(key: MemoryKey, memory: AgentMemory): void {
    Promise.resolve(memory[Symbol.asyncDispose]()).catch((error: unknown) => {
      const reason = messageOf(error);
      this.#options.log.warn("A broken memory could not be closed cleanly.", { memory: key, reason });
    });
  }

  /** A caller that opens it again meanwhile waits until it is closed. */
  #close(key: MemoryKey, closeParts: () => Promise<void>): Promise<void> {
    const known = this.#closing.get(key);
    if (known !== undefined) return known;
    if (!this.#open.has(key)) return Promise.resolve();
    this.#open.delete(key);
    this.#opening.delete(key);
    const closing = closeParts().finally(() => this.#closing.delete(key));
    this.#closing.set(key, closing);
    return closing;
  }
}

function notEmpty(key: MemoryKey): LaresError {
  return new LaresError(
    "Conflict",
    "This memory is not empty, and an import does not mix memories. Import into another agent's, or into another workspace.",
    { memory: key },
  );
}
