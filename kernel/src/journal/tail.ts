import type { Clock } from "../base/clock.ts";
import { type LaresError, messageOf, storageError } from "../base/errors.ts";
import { Fifo } from "../base/fifo.ts";
import type { Log } from "../base/log.ts";
import { syncFolder } from "../platform/files/atomic-file.ts";
import { type DataFile, joinPath, openDataFile } from "../platform/files/data-files.ts";
import type { Durability } from "../platform/database/database.ts";
import { failpoint } from "../platform/failpoint.ts";
import { randomHex } from "../platform/random.ts";
import type { Anchor } from "./anchor.ts";
import type { DiskTimer, UnsyncedLog } from "./disk-timer.ts";
import { HeadConflict } from "./head-conflict.ts";
import { type ChainEnd, maxLineBytes } from "../memory-contract/records.ts";
import type { Segment } from "../memory-contract/segments.ts";
import { encodeRecord, type EncodedRecord, type RecordInput } from "./record.ts";

/** A segment that has grown beyond this is followed by the next. */
const defaultSegmentBytes = 64 * 1024 * 1024;
const saltBytes = 16;
/** Up to here the system takes what is written in some ten microseconds: less than handing it to a thread costs. */
const maxBytesAtOnce = 64 * 1024;
/** Of what waits, so much is put together in one turn of the loop. */
const maxGroupBytes = 512 * 1024;

/** What is said to a caller whose record is not taken. */
export interface Refusals {
  /** The record's line would have so many bytes, more than `maxLineBytes`. */
  tooLong(lineBytes: number): LaresError;
  /** The journal would have so many bytes, more than `maxBytes`. */
  full(wantedBytes: number, maxBytes: number): LaresError;
}

export interface TailOptions {
  /** What the journal belongs to, in messages: "memory". */
  readonly name: string;
  /** Holds the segments. */
  readonly folder: string;
  /**
   * Keeps an end that is on the disk; "power": so that a power cut does not take it away again. A failure is
   * logged: the anchor then lags behind, which is no harm.
   */
  storeAnchor(anchor: Anchor, durability: Durability): Promise<void>;
  /** Bytes that the whole journal may have. */
  maxBytes(): number;
  readonly refusals: Refusals;
  /** Brings what was written to the disk, together with other logs. */
  readonly disk: DiskTimer;
  /** Called once for what was written together. */
  grown?(): void;
  readonly clock: Clock;
  readonly log: Log;
  readonly segmentBytes?: number;
}

/** Where a journal is when it has been proven. */
export interface TailStart {
  /** At least one; the last is the file's. */
  readonly segments: OpenSegment[];
  readonly file: DataFile;
  readonly end: ChainEnd;
  /** Bytes over all segments. */
  readonly size: number;
  readonly anchor: Anchor | undefined;
}

export interface OpenSegment extends Segment {
  /** Seq that its first record has or will have. */
  readonly firstSeq: number;
}

export interface AppendOptions {
  /** The head that the records are to follow; rejects with HeadConflict where the journal has another. */
  readonly expectedHead?: ChainEnd;
  /** Takes the records also where the journal is full: they make it smaller. */
  readonly isOverQuota?: boolean;
}

/** The records as they were written, in the order of the inputs. */
export type EncodedAs<Inputs extends readonly RecordInput[]> = {
  readonly [Index in keyof Inputs]: EncodedRecord;
};

/** Records that are written together or not at all. */
interface Waiting extends AppendOptions {
  readonly inputs: readonly RecordInput[];
  resolve(records: readonly EncodedRecord[]): void;
  reject(error: unknown): void;
}

interface Written {
  readonly waiting: Waiting;
  /** With the bytes of each line. */
  readonly records: readonly (EncodedRecord & { readonly bytes: number })[];
}

/** What is put together in one turn of the loop. */
interface Group {
  readonly written: Written[];
  /** They expected another head than what is written before them; told when that is written. */
  readonly conflicts: { readonly waiting: Waiting; readonly error: HeadConflict }[];
  text: string;
  bytes: number;
  end: ChainEnd;
}

/** Lines that are written in this turn of the loop; of whichever journal, for nothing waits in between. */
const lines = Buffer.allocUnsafeSlow(maxBytesAtOnce);

/** The growing end of a journal: appends in groups, the disk, the next segment, the anchor. */
export class Tail implements AsyncDisposable, UnsyncedLog {
  /** Redact records up to this seq are carried out: kept with each anchor. */
  carriedOut: number;
  readonly #options: TailOptions;
  readonly #appended: (input: RecordInput, bytes: number) => void;
  readonly #segments: OpenSegment[];
  #file: DataFile;
  #end: ChainEnd;
  #size: number;
  readonly #waiting = new Fifo<Waiting>();
  #writing: Promise<void> | null = null;
  #syncing: Promise<void> | null = null;
  #syncedSeq: number;
  /** Somebody waits for the disk: the next anchor may not be lost to a power cut either. */
  #isSyncWaiting = false;
  /** The newest anchor, where a power cut might still take it away. */
  #unsettledAnchor: Anchor | null = null;
  /** Once set, nothing more is written: what is in memory and what is on the disk may differ. */
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
    this.#syncedSeq = anchor?.seq ?? 0;
    this.carriedOut = anchor?.carriedOut ?? 0;
  }

  get end(): ChainEnd {
    return this.#end;
  }

  /** Takes nothing more: what is on the disk is not what was written. */
  fail(error: LaresError): void {
    this.#broken ??= error;
  }

  /** Bytes over all segments. */
  get size(): number {
    return this.#size;
  }

  /** Something failed after which only reading it anew tells what is there. */
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
        // One for each of the inputs, in their order.
        resolve: (records) => resolve(records as unknown as EncodedAs<Inputs>),
        reject,
      });
      // Appends of this turn of the loop go out together.
      this.#writing ??= Promise.resolve().then(() => this.#writeWaiting());
    });
  }

  /** Resolves when everything appended before is on the disk, and so is the anchor that names it. */
  async sync(): Promise<void> {
    this.#isSyncWaiting = true;
    await this.#syncAllWritten();
    const anchor = this.#unsettledAnchor;
    if (anchor === null) return;
    await this.#anchor(anchor, "power");
    if (this.#unsettledAnchor === anchor) this.#unsettledAnchor = null;
  }

  /** Synchronizes what was written; reports a failure, which later appends reject with. */
  async bringToDisk(): Promise<void> {
    try {
      await this.#syncAllWritten();
    } catch (error) {
      this.#options.log.error(`A ${this.#options.name} journal could not be brought to the disk.`, {
        folder: this.#options.folder,
        reason: messageOf(error),
      });
    }
  }

  /** The segments with their sizes, and the end they have. */
  async snapshot(): Promise<{ readonly segments: OpenSegment[]; readonly end: ChainEnd }> {
    while (this.#writing !== null) await this.#writing;
    const last = this.#segments.at(-1);
    const segments = this.#segments.slice(0, -1);
    if (last !== undefined) segments.push({ ...last, size: this.#file.size });
    return { segments, end: this.#end };
  }

  /**
   * Runs `work` while nothing is written, synchronized or anchored, and all that was written is on the disk; appends
   * wait. Rejects where it is broken.
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

  /** Bytes of a segment now. */
  sizeOf(segment: OpenSegment): number {
    const index = this.#indexOf(segment);
    return index === this.#segments.length - 1 ? this.#file.size : (this.#segments[index]?.size ?? 0);
  }

  /**
   * While it is quiet: `replace` puts another file, with the same records but some without their data, in a segment's
   * place for good. Where that fails, only reading anew tells which of the two is there.
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

  /** While it is quiet: anchors what `carriedOut` now says. */
  async anchorNow(): Promise<void> {
    await this.#anchor({ ...this.#end, size: this.#size, carriedOut: this.carriedOut }, "power");
  }

  /** After `sync`. What still comes is refused. */
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
      // What is small is acknowledged in the turn in which it came.
      if (later !== null) await later;
    }
    this.#writing = null;
  }

  /** Writes what waits, up to a bound; null where that is done already. */
  #writeGroup(maxBytes: number): Promise<void> | null {
    const group: Group = { written: [], conflicts: [], text: "", bytes: 0, end: this.#end };
    const nowMs = this.#options.clock.now();
    while (group.bytes < maxGroupBytes) {
      const waiting = this.#waiting.shift();
      if (waiting === undefined) break;
      this.#encode(waiting, group, nowMs, maxBytes);
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

  /** Adds the lines of all records of one append to the group, or none. */
  #encode(waiting: Waiting, group: Group, nowMs: number, maxBytes: number): void {
    const { inputs, expectedHead, isOverQuota = false } = waiting;
    if (expectedHead !== undefined && expectedHead.hash !== group.end.hash) {
      const error = new HeadConflict(`${this.#options.name} journal`, expectedHead, group.end);
      group.conflicts.push({ waiting, error });
      return;
    }
    const records: (EncodedRecord & { bytes: number })[] = [];
    let { end, bytes } = group;
    for (const input of inputs) {
      const record = encodeRecord(input, end, randomHex(saltBytes), nowMs);
      const lineBytes = Buffer.byteLength(record.line);
      bytes += lineBytes;
      const refusal = this.#refusal(lineBytes, this.#size + bytes, isOverQuota ? Infinity : maxBytes);
      if (refusal !== null) {
        waiting.reject(refusal);
        return;
      }
      end = record.end;
      records.push({ ...record, bytes: lineBytes });
    }
    for (const { line } of records) group.text += line;
    group.bytes = bytes;
    group.end = end;
    group.written.push({ waiting, records });
  }

  #refusal(lineBytes: number, wantedBytes: number, maxBytes: number): LaresError | null {
    const { refusals } = this.#options;
    if (lineBytes > maxLineBytes) return refusals.tooLong(lineBytes);
    return wantedBytes > maxBytes ? refusals.full(wantedBytes, maxBytes) : null;
  }

  #accept({ written, conflicts, bytes, end }: Group): void {
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

  /** A part of it may be there. What is refused must not be found later. */
  async #takeBack({ written, conflicts }: Group, size: number, error: unknown): Promise<void> {
    try {
      await this.#file.truncate(size);
    } catch (cutError) {
      this.#break(storageError(`${messageOf(error)} ${messageOf(cutError)}`, cutError));
    }
    // The head that a conflict names may be one that was not written.
    for (const { waiting } of [...written, ...conflicts]) waiting.reject(error);
  }

  async #rollOver(): Promise<void> {
    // No record of the next segment may reach the disk before this one's.
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

  async #syncAllWritten(): Promise<void> {
    while (this.#writing !== null) await this.#writing;
    if (this.#broken !== null) throw this.#broken;
    await this.#syncWritten();
  }

  async #syncWritten(): Promise<void> {
    // One under way may have begun before the last record was written.
    while (this.#syncedSeq < this.#end.seq) await (this.#syncing ??= this.#synchronize());
  }

  async #synchronize(): Promise<void> {
    this.#options.disk.remove(this);
    const anchor: Anchor = { ...this.#end, size: this.#size, carriedOut: this.carriedOut };
    try {
      await this.#file.synchronize();
      failpoint("journal.synced");
      this.#syncedSeq = anchor.seq;
      const durability: Durability = this.#isSyncWaiting ? "power" : "process";
      this.#isSyncWaiting = false;
      this.#unsettledAnchor = durability === "power" ? null : anchor;
      await this.#anchor(anchor, durability);
    } catch (error) {
      // After a failed fdatasync the system may have dropped the pages: only reading again tells what is there.
      throw this.#break(error);
    } finally {
      this.#syncing = null;
    }
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

export function segmentFileName(number: number): string {
  return `${String(number).padStart(6, "0")}.ndjson`;
}
