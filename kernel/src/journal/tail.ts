import type { Clock } from "../base/clock.ts";
import { type LaresError, messageOf, storageError } from "../base/errors.ts";
import { Fifo } from "../base/fifo.ts";
import type { Log } from "../base/log.ts";
import { syncFolder } from "../platform/files/atomic-file.ts";
import { type DataFile, joinPath, openDataFile } from "../platform/files/data-files.ts";
import type { Durability } from "../platform/database/database.ts";
import { failpoint } from "../platform/failpoint.ts";
import type { Anchor } from "./anchor.ts";
import {
  addToGroup,
  type AppendGroup,
  type AppendOptions,
  type EncodedAs,
  type Refusals,
  type WaitingAppend,
} from "./append-group.ts";
import type { DiskTimer, UnsyncedLog } from "./disk-timer.ts";
import type { ChainEnd } from "../memory-contract/records.ts";
import { type Segment, segmentFileName } from "../memory-contract/segments.ts";
import type { RecordInput } from "./record.ts";

/** The size after which a segment is followed by the next. */
const defaultSegmentBytes = 64 * 1024 * 1024;
/** Up to this size a write takes about ten microseconds, less than a hand-over to another thread. */
const maxBytesAtOnce = 64 * 1024;
/** Bytes of waiting records that are encoded in one turn of the loop. */
const maxGroupBytes = 512 * 1024;

export interface TailOptions {
  /** The owner of the journal in messages, such as "memory". */
  readonly name: string;
  /** Holds the segments. */
  readonly folder: string;
  /**
   * Stores an end that is on the disk; with "power", so that it survives a power cut. A failure is logged and
   * harmless: the anchor then lags behind.
   */
  storeAnchor(anchor: Anchor, durability: Durability): Promise<void>;
  /** Returns the limit of the whole journal in bytes. */
  maxBytes(): number;
  /** Returns the bytes of its parts, which count against that limit too. */
  partsBytes(): number;
  readonly refusals: Refusals;
  /** Synchronizes this journal together with other logs. */
  readonly disk: DiskTimer;
  /** Called once for each group of records. */
  grown?(): void;
  readonly clock: Clock;
  readonly log: Log;
  readonly segmentBytes?: number;
}

/** The state of a journal after it was proven. */
export interface TailStart {
  /** At least one segment; the last belongs to the open file. */
  readonly segments: OpenSegment[];
  readonly file: DataFile;
  readonly end: ChainEnd;
  /** Bytes of all segments. */
  readonly size: number;
  readonly anchor: Anchor | undefined;
}

export interface OpenSegment extends Segment {
  /** The seq that its first record has or will have. */
  readonly firstSeq: number;
}

/** Shared by all journals: it is filled and written without a pause in between. */
const lines = Buffer.allocUnsafeSlow(maxBytesAtOnce);

/** The growing end of a journal: appends in groups, synchronization, the next segment, the anchor. */
export class Tail implements AsyncDisposable, UnsyncedLog {
  /** Redact records up to this seq are carried out; stored with each anchor. */
  carriedOut: number;
  readonly #options: TailOptions;
  readonly #appended: (input: RecordInput, bytes: number) => void;
  readonly #segments: OpenSegment[];
  #file: DataFile;
  #end: ChainEnd;
  #size: number;
  readonly #waiting = new Fifo<WaitingAppend>();
  #writing: Promise<void> | null = null;
  #syncing: Promise<void> | null = null;
  #syncedSeq: number;
  /** The last record that a caller of `sync` waits for: the anchor that covers it must survive a power cut. */
  #awaitedSeq: number;
  /** The last record that such an anchor covers. */
  #settledSeq: number;
  /** The newest anchor, if a power cut could still lose it. */
  #unsettledAnchor: Anchor | null = null;
  /** Once set, nothing more is written, because memory and disk may differ. */
  #broken: LaresError | null = null;

  constructor(
    options: TailOptions,
    { segments, file, end, size, anchor }: TailStart,
    appended: (input: RecordInput, bytes: number) => void,
  ) {
    this.#options = options;
    this.#appended = appended;
    this.#segments = segments;
    this.#file = file;
    this.#end = end;
    this.#size = size;
    this.#syncedSeq = this.#awaitedSeq = this.#settledSeq = anchor?.seq ?? 0;
    this.carriedOut = anchor?.carriedOut ?? 0;
  }

  get end(): ChainEnd {
    return this.#end;
  }

  /** Refuses further appends, because the disk does not have what was written. */
  fail(error: LaresError): void {
    this.#broken ??= error;
  }

  /** Bytes of all segments. */
  get size(): number {
    return this.#size;
  }

  /** The failure that leaves the content of the disk unknown until it is read again; null if there was none. */
  get broken(): LaresError | null {
    return this.#broken;
  }

  append<Inputs extends readonly RecordInput[]>(
    inputs: readonly [...Inputs],
    options: AppendOptions,
  ): Promise<EncodedAs<Inputs>> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({
        ...options,
        inputs,
        // There is one record for each input, in the same order.
        resolve: (records) => resolve(records as unknown as EncodedAs<Inputs>),
        reject,
      });
      // Appends of the same turn of the loop are written together.
      this.#writing ??= Promise.resolve().then(() => this.#writeWaiting());
    });
  }

  /** Resolves when everything appended before is on the disk, together with the anchor that names it. */
  async sync(): Promise<void> {
    await this.#waitForWrites();
    const { seq } = this.#end;
    this.#awaitedSeq = seq;
    await this.#syncWritten();
    const anchor = this.#unsettledAnchor;
    if (anchor === null || this.#settledSeq >= seq) return;
    await this.#anchor(anchor, "power");
    this.#settled(anchor);
  }

  /** Like `sync`, also for what is appended while it waits. */
  async syncAll(): Promise<void> {
    do await this.sync();
    while (this.#syncedSeq < this.#end.seq);
  }

  /** Synchronizes the written records. Reports a failure; later appends reject with it. */
  async bringToDisk(): Promise<void> {
    try {
      await this.#waitForWrites();
      await this.#syncWritten();
    } catch (error) {
      this.#options.log.error(`A ${this.#options.name} journal could not be synchronized to disk.`, {
        folder: this.#options.folder,
        reason: messageOf(error),
      });
    }
  }

  /** Returns the segments with their sizes, and the journal's end. */
  async snapshot(): Promise<{ readonly segments: OpenSegment[]; readonly end: ChainEnd }> {
    while (this.#writing !== null) await this.#writing;
    const last = this.#segments.at(-1);
    const segments = this.#segments.slice(0, -1);
    if (last !== undefined) segments.push({ ...last, size: this.#file.size });
    return { segments, end: this.#end };
  }

  /**
   * Runs `work` while nothing is written, synchronized or anchored, after all records are on the disk. Appends
   * wait. Rejects if the journal is broken.
   */
  async whileQuiet(work: () => Promise<void>): Promise<void> {
    while (this.#writing !== null) await this.#writing;
    const working = (async () => {
      if (this.#broken !== null) throw this.#broken;
      await this.#syncWritten();
      while (this.#syncing !== null) await this.#syncing;
      await work();
    })();
    const settled = working.catch((error: unknown) => error);
    this.#writing = settled.then(() => this.#writeWaiting());
    await working;
  }

  sizeOf(segment: OpenSegment): number {
    const index = this.#indexOf(segment);
    return index === this.#segments.length - 1 ? this.#file.size : (this.#segments[index]?.size ?? 0);
  }

  /**
   * Called within `whileQuiet`. `replace` durably replaces a segment by a file with the same records, some without
   * their data. After a failure, only reading again shows which of the two files is there.
   */
  async replaced(segment: OpenSegment, size: number, replace: () => Promise<void>): Promise<void> {
    const savedBytes = this.sizeOf(segment) - size;
    const index = this.#indexOf(segment);
    try {
      await replace();
      if (index === this.#segments.length - 1) {
        const old = this.#file;
        this.#file = await openDataFile(segment.path, "a");
        await old[Symbol.asyncDispose]();
      }
    } catch (error) {
      throw this.#break(error);
    }
    this.#segments[index] = { ...segment, size };
    this.#size -= savedBytes;
  }

  /** Called within `whileQuiet`. Stores an anchor with the current `carriedOut`. */
  async anchorNow(): Promise<void> {
    const anchor: Anchor = { ...this.#end, size: this.#size, carriedOut: this.carriedOut };
    await this.#anchor(anchor, "power");
    // An older one does not say what has been carried out since.
    this.#unsettledAnchor = null;
    this.#settled(anchor);
  }

  /** Call `syncAll` first. Later appends are refused. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#options.disk.remove(this);
    this.#broken ??= storageError(`This ${this.#options.name} is closed.`);
    await this.#file[Symbol.asyncDispose]();
  }

  async #writeWaiting(): Promise<void> {
    while (this.#waiting.length > 0) {
      let maxBytes: number;
      try {
        if (this.#broken !== null) throw this.#broken;
        maxBytes = this.#options.maxBytes();
        if (this.#file.size >= (this.#options.segmentBytes ?? defaultSegmentBytes)) await this.#rollOver();
      } catch (error) {
        for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
          next.reject(error);
        }
        break;
      }
      const later = this.#writeGroup(maxBytes);
      // Small appends are acknowledged in the turn in which they arrive.
      if (later !== null) await later;
    }
    this.#writing = null;
  }

  /** Writes waiting records up to a bound; null if that is already done. */
  #writeGroup(maxBytes: number): Promise<void> | null {
    const group: AppendGroup = { written: [], conflicts: [], text: "", bytes: 0, end: this.#end };
    const { name, refusals, clock } = this.#options;
    const size = this.#size + this.#options.partsBytes();
    const context = { name, refusals, nowMs: clock.now(), size, maxBytes };
    while (group.bytes < maxGroupBytes) {
      const waiting = this.#waiting.shift();
      if (waiting === undefined) break;
      addToGroup(group, waiting, context);
    }
    if (group.bytes === 0) {
      for (const { waiting, error } of group.conflicts) waiting.reject(error);
      for (const { waiting } of group.written) waiting.resolve([]);
      return null;
    }
    const before = this.#file.size;
    failpoint("journal.write.begun");
    if (group.bytes > maxBytesAtOnce) {
      return this.#file.append(Buffer.from(group.text)).then(
        () => this.#accept(group),
        (error: unknown) => this.#takeBack(group, before, error),
      );
    }
    try {
      this.#file.appendNow(lines.subarray(0, lines.write(group.text)));
    } catch (error) {
      return this.#takeBack(group, before, error);
    }
    this.#accept(group);
    return null;
  }

  #accept({ written, conflicts, bytes, end }: AppendGroup): void {
    failpoint("journal.write.done");
    this.#end = end;
    this.#size += bytes;
    this.#options.disk.add(this);
    for (const { waiting, records } of written) {
      waiting.inputs.forEach((input, index) => this.#appended(input, records[index]?.bytes ?? 0));
      waiting.resolve(records);
    }
    for (const { waiting, error } of conflicts) waiting.reject(error);
    this.#options.grown?.();
  }

  /** Truncates a partial write. Refused records must not be found later. */
  async #takeBack({ written, conflicts }: AppendGroup, size: number, error: unknown): Promise<void> {
    try {
      await this.#file.truncate(size);
    } catch (cutError) {
      this.#break(storageError(`${messageOf(error)} ${messageOf(cutError)}`, cutError));
    }
    // The head that a conflict names may be one of the records that were not written.
    for (const { waiting } of [...written, ...conflicts]) waiting.reject(error);
  }

  async #rollOver(): Promise<void> {
    // No record of the next segment may reach the disk before those of this one.
    await this.#syncWritten();
    const path = joinPath(this.#options.folder, segmentFileName(this.#segments.length + 1));
    const next = await openDataFile(path, "a");
    await syncFolder(this.#options.folder);
    failpoint("journal.segment.created");
    const last = this.#file;
    const { firstSeq } = this.#segments.at(-1) ?? { firstSeq: 1 };
    this.#segments.splice(
      -1,
      1,
      { path: last.path, size: last.size, firstSeq },
      { path, size: 0, firstSeq: this.#end.seq + 1 },
    );
    this.#file = next;
    await last[Symbol.asyncDispose]();
  }

  /** Waits for the appends that were called before, in a journal that is never at rest too. Throws if it is broken. */
  async #waitForWrites(): Promise<void> {
    // The callers of those appends learn about failures.
    if (this.#writing !== null) await this.append([], {}).catch(() => undefined);
    if (this.#broken !== null) throw this.#broken;
  }

  async #syncWritten(): Promise<void> {
    // Those that are written meanwhile are not waited for: in a busy log there are always some.
    const { seq } = this.#end;
    // A running synchronization may have begun before the last record was written.
    while (this.#syncedSeq < seq) await (this.#syncing ??= this.#synchronize());
  }

  async #synchronize(): Promise<void> {
    this.#options.disk.remove(this);
    const anchor: Anchor = { ...this.#end, size: this.#size, carriedOut: this.carriedOut };
    try {
      await this.#file.synchronize();
      failpoint("journal.synced");
      const isAwaited = this.#awaitedSeq > this.#settledSeq && this.#awaitedSeq <= anchor.seq;
      await this.#anchor(anchor, isAwaited ? "power" : "process");
      this.#syncedSeq = anchor.seq;
      this.#unsettledAnchor = anchor;
      if (isAwaited) this.#settled(anchor);
    } catch (error) {
      // After a failed fdatasync the system may have dropped the pages, so only reading again shows what is there.
      throw this.#break(error);
    } finally {
      this.#syncing = null;
    }
  }

  #settled(anchor: Anchor): void {
    this.#settledSeq = Math.max(this.#settledSeq, anchor.seq);
    if (this.#unsettledAnchor === anchor) this.#unsettledAnchor = null;
  }

  #break(error: unknown): LaresError {
    const sentence = `${messageOf(error)} It is tried again when the ${this.#options.name} is next used.`;
    return (this.#broken = storageError(sentence, error));
  }

  #indexOf({ path }: OpenSegment): number {
    return this.#segments.findIndex((segment) => segment.path === path);
  }

  async #anchor(anchor: Anchor, durability: Durability): Promise<void> {
    try {
      await this.#options.storeAnchor(anchor, durability);
      failpoint("journal.anchored");
    } catch (error) {
      this.#options.log.warn(`The head of a ${this.#options.name} journal could not be anchored.`, {
        folder: this.#options.folder,
        reason: messageOf(error),
      });
    }
  }
}
