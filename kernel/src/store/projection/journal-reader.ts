import { LaresError, storageError } from "../../base/errors.ts";
import { type DataFile, fileSize, openDataFile } from "../../platform/files/data-files.ts";
import { type ChainEnd, maxLineBytes } from "../../memory-contract/records.ts";
import { findSegments } from "../../memory-contract/segments.ts";
import { projectionBounds as bounds } from "../bounds.ts";
import type { StoreMemory } from "../../memory-contract/store-port.ts";
import { readLink, readRecord } from "./journal-line.ts";
import { findPlace, type JournalPlace, linkAt } from "./journal-place.ts";
import type { JournalRecord } from "./port.ts";

export interface JournalBatch {
  /** The records that projections use: those of working memory and policy are left out. */
  readonly records: readonly JournalRecord[];
  /** The last record that was read, also if it is not in `records`. */
  readonly end: ChainEnd;
}

/** Thrown if the journal does not contain the record that was reached before: it is another journal, or was changed. */
export class JournalMismatch extends Error {
  constructor(after: ChainEnd) {
    super(`the journal on the disk does not continue from seq ${after.seq}, which was reached before`);
    this.name = "JournalMismatch";
  }
}

const lineFeed = 0x0a;

/**
 * Reads one memory's journal from the place that was reached before. Hashes were proven by the kernel and are not
 * checked again; it is checked that each record follows the one before, and that the journal ends as the kernel says.
 */
export class JournalReader {
  #place: JournalPlace | null = null;
  #rewrites = -1;

  /** Returns true if the journal contains this record. */
  async holds(end: ChainEnd, memory: StoreMemory): Promise<boolean> {
    const known = this.#known(end, memory);
    // The segment may have been cut since; reading on from here will show it.
    if (known !== null && ((await fileSize(known.path)) ?? 0) >= known.offset) return true;
    return (await this.#find(end, memory)) !== null;
  }

  /**
   * Returns the records after `after`, up to `memory.end`. Throws JournalMismatch if `after` is not in the journal, and
   * StorageError if the journal is not the one that the kernel proved.
   */
  async *read(after: ChainEnd, memory: StoreMemory): AsyncGenerator<JournalBatch, void, undefined> {
    const known = this.#known(after, memory);
    if (known !== null) {
      if (await continuesAfter(known)) return yield* this.#readFrom(known, memory);
      this.#place = null;
    }
    const place = await this.#find(after, memory);
    if (place === null) throw new JournalMismatch(after);
    yield* this.#readFrom(place, memory);
  }

  #known({ seq, hash }: ChainEnd, { rewrites }: StoreMemory): JournalPlace | null {
    const place = this.#place;
    const isKnown = place?.after.seq === seq && place.after.hash === hash && this.#rewrites === rewrites;
    return isKnown ? place : null;
  }

  async #find(after: ChainEnd, { journalFolder, rewrites }: StoreMemory): Promise<JournalPlace | null> {
    const place = await findPlace(journalFolder, after);
    if (place !== null) this.#remember(place, rewrites);
    return place;
  }

  #remember(place: JournalPlace, rewrites: number): void {
    this.#place = place;
    this.#rewrites = rewrites;
  }

  async *#readFrom(from: JournalPlace, memory: StoreMemory): AsyncGenerator<JournalBatch, void, undefined> {
    try {
      yield* this.#batches(from, memory);
    } catch (error) {
      this.#place = null;
      throw error;
    }
  }

  async *#batches(from: JournalPlace, memory: StoreMemory): AsyncGenerator<JournalBatch, void, undefined> {
    const { end, journalFolder, rewrites } = memory;
    const batch = new Batch(from.after, end);
    const segments = await findSegments(journalFolder);
    // An empty path means the beginning of a journal that had no segment yet.
    const first = Math.max(
      0,
      segments.findIndex(({ path }) => path === from.path),
    );
    for (const [index, { path }] of segments.entries()) {
      if (index < first || batch.last.seq >= end.seq) continue;
      await using file = await openDataFile(path, "r");
      for await (const { offset } of batch.take(file, path === from.path ? from.offset : 0)) {
        // Stored before the batch is yielded, because the consumer may stop.
        this.#remember({ after: batch.last, path, offset }, rewrites);
        yield batch.cut();
      }
    }
    const { last } = batch;
    if (last.seq < end.seq) {
      throw journalFault(memory, `it ends at seq ${last.seq}, but had reached seq ${end.seq}`);
    }
  }
}

/** Records that have been read and not yet yielded. */
class Batch {
  last: ChainEnd;
  readonly #end: ChainEnd;
  #records: JournalRecord[] = [];
  #bytes = 0;

  constructor(after: ChainEnd, end: ChainEnd) {
    this.last = after;
    this.#end = end;
  }

  cut(): JournalBatch {
    const batch = { records: this.#records, end: this.last };
    this.#records = [];
    this.#bytes = 0;
    return batch;
  }

  /**
   * Reads a segment from `offset` on; stops after each full batch, at the journal's end, and at the end of the segment.
   */
  async *take(file: DataFile, offset: number): AsyncGenerator<{ offset: number }, void, undefined> {
    const piece = Buffer.allocUnsafe(bounds.pieceBytes + maxLineBytes);
    let position = offset;
    let carried = 0;
    while (this.last.seq < this.#end.seq) {
      const wanted = piece.subarray(carried, carried + bounds.pieceBytes);
      const count = await file.readInto(wanted, position + carried);
      const bytes = piece.subarray(0, carried + count);
      let start = 0;
      for (let stop = bytes.indexOf(lineFeed); stop >= 0; stop = bytes.indexOf(lineFeed, start)) {
        this.#line(bytes.toString("utf8", start, stop), file.path);
        this.#bytes += stop + 1 - start;
        start = stop + 1;
        const isEnd = this.last.seq >= this.#end.seq;
        if (isEnd) this.#checkEnd(file.path);
        if (isEnd || this.#isFull) yield { offset: position + start };
        if (isEnd) return;
      }
      position += start;
      carried = bytes.length - start;
      if (carried > maxLineBytes) throw unreadable(file.path, this.last.seq + 1);
      piece.copyWithin(0, start, bytes.length);
      if (count === 0) break;
    }
    if (this.#bytes > 0) yield { offset: position };
  }

  get #isFull(): boolean {
    return this.#records.length >= bounds.maxBatchRecords || this.#bytes >= bounds.maxBatchBytes;
  }

  #line(line: string, path: string): void {
    const link = readLink(line);
    const { seq, hash } = this.last;
    if (link === null || link.seq !== seq + 1 || link.previousHash !== hash) throw unreadable(path, seq + 1);
    this.last = { seq: link.seq, hash: link.hash };
    const isProjected = link.kind === "temporal" || link.kind === "knowledge" || link.operation === "redact";
    if (!isProjected) return;
    const record = readRecord(line, link);
    if (record === null) throw unreadable(path, link.seq);
    this.#records.push(record);
  }

  #checkEnd(path: string): void {
    if (this.last.hash !== this.#end.hash) {
      throw storageError(
        `The memory journal "${path}" is not the one that was opened: the record at seq ${this.#end.seq} is not the one that was written. Verify the memory.`,
      );
    }
  }
}

/** Returns true if the first line at a remembered place follows the record there, or if the segment ends there. */
async function continuesAfter({ path, offset, after }: JournalPlace): Promise<boolean> {
  const size = path === "" ? offset : await fileSize(path);
  if (size === offset) return true;
  if (size === null) return false;
  await using file = await openDataFile(path, "r");
  const next = (await linkAt(file, offset))?.link;
  return next?.seq === after.seq + 1 && next.previousHash === after.hash;
}

const journalFault = ({ journalFolder }: StoreMemory, reason: string): LaresError =>
  storageError(
    `The memory journal in "${journalFolder}" is not the one that was opened: ${reason}. Verify the memory.`,
  );

const unreadable = (path: string, seq: number): LaresError =>
  storageError(
    `The memory journal "${path}" cannot be read at seq ${seq}: it is not the record that was written. Verify the memory.`,
  );
