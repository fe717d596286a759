import type { Clock } from "../base/clock.ts";
import { LaresError, limitExceeded, messageOf, storageError } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import { syncFolder } from "../platform/atomic-file.ts";
import { type DataFile, joinPath, makeFolder, openDataFile } from "../platform/data-files.ts";
import { failpoint } from "../platform/failpoint.ts";
import { randomHex } from "../platform/random.ts";
import type { Anchor } from "./heads.ts";
import {
  type ChainEnd,
  chainStart,
  type DecodedRecord,
  encodeRecord,
  type EncodedRecord,
  type RecordInput,
} from "./record.ts";
import { type FirstBad, findSegments, type RecordPlace, scanJournal, type Segment } from "./scan.ts";

/** A segment that has grown beyond this is followed by the next. */
export const defaultSegmentBytes = 64 * 1024 * 1024;
/** What was written is on the disk after this at the latest. */
const maxUnsyncedMs = 50;
const saltBytes = 16;

export interface Verification {
  readonly ok: boolean;
  /** Proven records. */
  readonly records: number;
  /** Hash of the last proven record, 64 hexadecimal digits. */
  readonly head: string;
  readonly firstBad?: FirstBad;
}

export interface JournalOptions {
  /** Holds the segments `000001.ndjson`, …; made where it is missing. */
  readonly folder: string;
  /** What the journal had reached when it was last anchored. */
  readonly anchor: Anchor | undefined;
  /** Keeps an end that is on the disk. A failure is logged: the anchor then lags behind, which is no harm. */
  storeAnchor(anchor: Anchor): Promise<void>;
  /** Bytes that the whole journal may have. */
  maxBytes(): number;
  readonly clock: Clock;
  readonly log: Log;
  readonly segmentBytes?: number;
}

interface Waiting {
  readonly input: RecordInput;
  resolve(record: EncodedRecord): void;
  reject(error: unknown): void;
}

/** The append-only, hash-chained truth of one memory. Proven from its root when it is opened. */
export class Journal implements AsyncDisposable {
  readonly #options: JournalOptions;
  readonly #segments: Segment[];
  #file: DataFile;
  #end: ChainEnd;
  #size: number;
  #waiting: Waiting[] = [];
  #writing: Promise<void> | null = null;
  #syncing: Promise<void> | null = null;
  #syncedSeq: number;
  #syncTimer: Disposable | null = null;
  /** Once set, nothing more is written: what is in memory and what is on the disk may differ. */
  #broken: LaresError | null = null;

  private constructor(
    options: JournalOptions,
    segments: Segment[],
    file: DataFile,
    end: ChainEnd,
    size: number,
  ) {
    this.#options = options;
    this.#segments = segments;
    this.#file = file;
    this.#end = end;
    this.#size = size;
    this.#syncedSeq = options.anchor?.seq ?? 0;
  }

  /** Throws StorageError, naming the first bad record, where the journal is not as it was written. */
  static async open(
    options: JournalOptions,
    visit: (record: DecodedRecord, place: RecordPlace) => void,
  ): Promise<Journal> {
    const { folder, log } = options;
    await makeFolder(folder);
    const segments = await findSegments(folder);
    const { end, size, firstBad, torn } = await scanJournal(segments, options.anchor ?? chainStart, visit);
    if (firstBad !== null) {
      throw new LaresError(
        "StorageError",
        `The memory journal in "${folder}" is damaged at seq ${firstBad.seq}: ${firstBad.reason}. It was left as it is; put the folder back from a backup.`,
        { firstBad },
      );
    }
    const path = segments.at(-1)?.path ?? joinPath(folder, segmentFileName(1));
    const file = await openDataFile(path, "a");
    if (torn !== null) {
      log.warn(
        "The memory journal ended in the middle of a record that was never acknowledged; it was cut off.",
        {
          path,
          bytes: torn.segment.size - torn.keepBytes,
        },
      );
      await file.truncate(torn.keepBytes);
    }
    if (segments.length === 0) await syncFolder(folder);
    segments.splice(-1, 1, { path, size: file.size });
    return new Journal(options, segments, file, end, size);
  }

  get end(): ChainEnd {
    return this.#end;
  }

  /** Bytes over all segments. */
  get size(): number {
    return this.#size;
  }

  /**
   * Resolves when the operating system has the record: it then survives the death of any process.
   * Rejects with LimitExceeded where it would not fit, StorageError where it cannot be written; it is then not there.
   */
  append(input: RecordInput): Promise<EncodedRecord> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ input, resolve, reject });
      this.#writing ??= this.#writeAll();
    });
  }

  /** Resolves when everything appended before is on the disk, and anchored. */
  async sync(): Promise<void> {
    while (this.#writing !== null) await this.#writing;
    if (this.#broken !== null) throw this.#broken;
    await this.#syncWritten();
  }

  /** Proves the whole journal as it is on the disk now, against the end it has in memory. */
  async verify(): Promise<Verification> {
    while (this.#writing !== null) await this.#writing;
    const segments = [...this.#segments.slice(0, -1), { path: this.#file.path, size: this.#file.size }];
    return await verifySegments(segments, this.#end);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    try {
      if (this.#broken === null) await this.sync();
    } finally {
      this.#syncTimer?.[Symbol.dispose]();
      this.#broken ??= storageError("This memory is closed.");
      await this.#file[Symbol.asyncDispose]();
    }
  }

  async #writeAll(): Promise<void> {
    // Appends of this turn of the loop go out together.
    await Promise.resolve();
    while (this.#waiting.length > 0) {
      const group = this.#waiting;
      this.#waiting = [];
      await this.#writeGroup(group);
    }
    this.#writing = null;
  }

  async #writeGroup(group: readonly Waiting[]): Promise<void> {
    const { clock } = this.#options;
    const written: { waiting: Waiting; record: EncodedRecord }[] = [];
    let end = this.#end;
    let text = "";
    let bytes = 0;
    try {
      if (this.#broken !== null) throw this.#broken;
      await this.#rollOver();
      for (const waiting of group) {
        const record = encodeRecord(waiting.input, end, randomHex(saltBytes), clock.now());
        const lineBytes = Buffer.byteLength(record.line);
        const wantedBytes = this.#size + bytes + lineBytes;
        if (wantedBytes > this.#options.maxBytes()) {
          waiting.reject(overQuota(wantedBytes, this.#options.maxBytes()));
          continue;
        }
        text += record.line;
        bytes += lineBytes;
        end = record.end;
        written.push({ waiting, record });
      }
      if (bytes === 0) return;
      failpoint("journal.write.begun");
      await this.#append(Buffer.from(text));
      failpoint("journal.write.done");
    } catch (error) {
      for (const waiting of group) waiting.reject(error);
      return;
    }
    this.#end = end;
    this.#size += bytes;
    this.#syncTimer ??= clock.timer(maxUnsyncedMs, () => this.#syncBehind());
    for (const { waiting, record } of written) waiting.resolve(record);
  }

  async #append(bytes: Uint8Array): Promise<void> {
    const before = this.#file.size;
    try {
      await this.#file.append(bytes);
    } catch (error) {
      try {
        // A part of it may be there. What was refused must not be found later.
        await this.#file.truncate(before);
      } catch (cutError) {
        this.#broken = storageError(
          `${messageOf(error)} ${messageOf(cutError)} This memory is closed until it is opened again.`,
          cutError,
        );
      }
      throw error;
    }
  }

  async #rollOver(): Promise<void> {
    if (this.#file.size < (this.#options.segmentBytes ?? defaultSegmentBytes)) return;
    // No record of the next segment may reach the disk before this one's.
    await this.#syncWritten();
    const path = joinPath(this.#options.folder, segmentFileName(this.#segments.length + 1));
    const next = await openDataFile(path, "a");
    await syncFolder(this.#options.folder);
    failpoint("journal.segment.created");
    const last = this.#file;
    this.#segments.splice(-1, 1, { path: last.path, size: last.size }, { path, size: 0 });
    this.#file = next;
    await last[Symbol.asyncDispose]();
  }

  #syncBehind(): void {
    this.sync().catch((error: unknown) => {
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
    const anchor: Anchor = { ...this.#end, size: this.#size };
    try {
      await this.#file.synchronize();
      failpoint("journal.synced");
      this.#syncedSeq = anchor.seq;
      await this.#anchor(anchor);
    } catch (error) {
      // After a failed fdatasync the system may have dropped the pages: only reading again tells what is there.
      this.#broken = storageError(
        `${messageOf(error)} This memory is closed until it is opened again.`,
        error,
      );
      throw this.#broken;
    } finally {
      this.#syncing = null;
    }
  }

  async #anchor(anchor: Anchor): Promise<void> {
    try {
      await this.#options.storeAnchor(anchor);
      failpoint("journal.anchored");
    } catch (error) {
      this.#options.log.warn("The head of a memory journal could not be anchored.", {
        folder: this.#options.folder,
        reason: messageOf(error),
      });
    }
  }
}

/** Proves a journal that is not open. */
export async function verifyJournal(folder: string, anchor: ChainEnd): Promise<Verification> {
  return await verifySegments(await findSegments(folder), anchor);
}

async function verifySegments(segments: readonly Segment[], anchor: ChainEnd): Promise<Verification> {
  const { end, firstBad } = await scanJournal(segments, anchor, () => undefined);
  return {
    ok: firstBad === null,
    records: end.seq,
    head: end.hash,
    ...(firstBad === null ? {} : { firstBad }),
  };
}

function segmentFileName(number: number): string {
  return `${String(number).padStart(6, "0")}.ndjson`;
}

function overQuota(wantedBytes: number, maxBytes: number): LaresError {
  const megabytes = Math.floor(maxBytes / (1024 * 1024));
  return limitExceeded(
    "max_storage_mb",
    wantedBytes,
    `This would grow the memory to ${wantedBytes} bytes, over its max_storage_mb of ${megabytes}. Nothing was written. Raise the limit in the manifest, or clear the memory.`,
  );
}
