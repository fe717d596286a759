import type { Clock } from "../../base/clock.ts";
import { type LaresError, limitExceeded, messageOf, storageError } from "../../base/errors.ts";
import { Fifo } from "../../base/fifo.ts";
import type { Log } from "../../base/log.ts";
import { syncFolder } from "../../platform/atomic-file.ts";
import { type DataFile, joinPath, openDataFile } from "../../platform/data-files.ts";
import type { Durability } from "../../platform/database.ts";
import { failpoint } from "../../platform/failpoint.ts";
import { randomHex } from "../../platform/random.ts";
import type { Anchor } from "./heads.ts";
import { type ChainEnd, encodeRecord, type EncodedRecord, maxLineBytes, type RecordInput } from "./record.ts";
import type { Segment } from "./scan.ts";

/** A segment that has grown beyond this is followed by the next. */
export const defaultSegmentBytes = 64 * 1024 * 1024;
/** What was written is on the disk after this at the latest. */
const maxUnsyncedMs = 50;
const saltBytes = 16;
/** Up to here the system takes what is written in some ten microseconds: less than handing it to a thread costs. */
const maxBytesAtOnce = 64 * 1024;
/** Of what waits, so much is put together in one turn of the loop. */
const maxGroupBytes = 512 * 1024;

export interface TailOptions {
  /** Holds the segments. */
  readonly folder: string;
  /**
   * Keeps an end that is on the disk; "power": so that a power cut does not take it away again. A failure is
   * logged: the anchor then lags behind, which is no harm.
   */
  storeAnchor(anchor: Anchor, durability: Durability): Promise<void>;
  /** Bytes that the whole journal may have. */
  maxBytes(): number;
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

interface Waiting {
  readonly input: RecordInput;
  /** What makes the journal smaller is taken also where it is full. */
  readonly isOverQuota: boolean;
  resolve(record: EncodedRecord): void;
  reject(error: unknown): void;
}

interface Written {
  readonly waiting: Waiting;
  readonly record: EncodedRecord;
  readonly bytes: number;
}

/** Lines that are written in this turn of the loop; of whichever journal, for nothing waits in between. */
const lines = Buffer.allocUnsafeSlow(maxBytesAtOnce);

/** The growing end of a journal: appends in groups, the disk, the next segment, the anchor. */
export class Tail implements AsyncDisposable {
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
  #syncTimer: Disposable | null = null;
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

  /** Bytes over all segments. */
  get size(): number {
    return this.#size;
  }

  /** Something failed after which only reading it anew tells what is there. */
  get broken(): LaresError | null {
    return this.#broken;
  }

  append(input: RecordInput, isOverQuota: boolean): Promise<EncodedRecord> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ input, isOverQuota, resolve, reject });
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
    this.#syncTimer?.[Symbol.dispose]();
    this.#broken ??= storageError("This memory is closed.");
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
    const written: Written[] = [];
    let text = "";
    let bytes = 0;
    let end = this.#end;
    const nowMs = this.#options.clock.now();
    while (bytes < maxGroupBytes) {
      const waiting = this.#waiting.shift();
      if (waiting === undefined) break;
      const record = encodeRecord(waiting.input, end, randomHex(saltBytes), nowMs);
      const lineBytes = Buffer.byteLength(record.line);
      const wantedBytes = this.#size + bytes + lineBytes;
      const refusal = refusalOf(lineBytes, wantedBytes, waiting.isOverQuota ? Infinity : maxBytes);
      if (refusal !== null) {
        waiting.reject(refusal);
        continue;
      }
      text += record.line;
      bytes += lineBytes;
      end = record.end;
      written.push({ waiting, record, bytes: lineBytes });
    }
    if (bytes === 0) return null;
    const before = this.#file.size;
    failpoint("journal.write.begun");
    if (bytes > maxBytesAtOnce) {
      return this.#file.append(Buffer.from(text)).then(
        () => this.#accept(written, bytes, end),
        (error: unknown) => this.#takeBack(written, before, error),
      );
    }
    try {
      this.#file.appendNow(lines.subarray(0, lines.write(text)));
    } catch (error) {
      return this.#takeBack(written, before, error);
    }
    this.#accept(written, bytes, end);
    return null;
  }

  #accept(written: readonly Written[], bytes: number, end: ChainEnd): void {
    failpoint("journal.write.done");
    this.#end = end;
    this.#size += bytes;
    this.#syncTimer ??= this.#options.clock.timer(maxUnsyncedMs, () => this.#syncBehind());
    for (const { waiting, record, bytes } of written) {
      this.#appended(waiting.input, bytes);
      waiting.resolve(record);
    }
    this.#options.grown?.();
  }

  /** A part of it may be there. What is refused must not be found later. */
  async #takeBack(written: readonly Written[], size: number, error: unknown): Promise<void> {
    try {
      await this.#file.truncate(size);
    } catch (cutError) {
      this.#break(storageError(`${messageOf(error)} ${messageOf(cutError)}`, cutError));
    }
    for (const { waiting } of written) waiting.reject(error);
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

  #syncBehind(): void {
    this.#syncAllWritten().catch((error: unknown) => {
      this.#options.log.error("A memory journal could not be brought to the disk.", {
        folder: this.#options.folder,
        reason: messageOf(error),
      });
    });
  }

  async #syncWritten(): Promise<void> {
    // One under way may have begun before the last record was written.
    while (this.#syncedSeq < this.#end.seq) await (this.#syncing ??= this.#synchronize());
  }

  async #synchronize(): Promise<void> {
    this.#syncTimer?.[Symbol.dispose]();
    this.#syncTimer = null;
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
    const sentence = `${messageOf(error)} It is tried again when the memory is next used.`;
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
      this.#options.log.warn("The head of a memory journal could not be anchored.", {
        folder: this.#options.folder,
        reason: messageOf(error),
      });
    }
  }
}

export function segmentFileName(number: number): string {
  return `${String(number).padStart(6, "0")}.ndjson`;
}

function refusalOf(lineBytes: number, wantedBytes: number, maxBytes: number): LaresError | null {
  if (lineBytes > maxLineBytes) {
    const sentence = `This would be a record of ${lineBytes} bytes; one may have at most ${maxLineBytes}. Nothing was written. Keep large data in a file, and its path in memory.`;
    return limitExceeded("memory_record_bytes", lineBytes, sentence);
  }
  if (wantedBytes <= maxBytes) return null;
  const megabytes = Math.floor(maxBytes / (1024 * 1024));
  const sentence = `This would grow the memory to ${wantedBytes} bytes, over its max_storage_mb of ${megabytes}. Nothing was written. Forgetting what is not needed, or a cleanup of old events, makes it smaller; or raise the limit in the manifest.`;
  return limitExceeded("max_storage_mb", wantedBytes, sentence);
}
