import { LaresError } from "../../base/errors.ts";
import { canonicalJson } from "../../base/json.ts";
import { OneAtATime } from "../../base/one-at-a-time.ts";
import { removeLeftoverTemporaries, syncFolder } from "../../platform/atomic-file.ts";
import { joinPath, makeFolder, openDataFile } from "../../platform/data-files.ts";
import type { Durability } from "../../platform/database.ts";
import { failpoint } from "../../platform/failpoint.ts";
import { storageFailure } from "../../platform/storage-failure.ts";
import { type Choose, findRecords } from "./find.ts";
import type { Anchor } from "./heads.ts";
import {
  type ChainEnd,
  chainStart,
  type EncodedRecord,
  type RecordInput,
  type RecordKind,
} from "./record.ts";
import { maxRangesPerRecord } from "./redaction.ts";
import { SegmentRewrite } from "./rewrite.ts";
import {
  type FirstBad,
  findSegments,
  type KnownEnd,
  scanJournal,
  type ScanResult,
  type Segment,
  type VisitRecord,
} from "./scan.ts";
import type { SeqSet } from "./seq-set.ts";
import { type OpenSegment, segmentFileName, Tail, type TailOptions, type TailStart } from "./tail.ts";
import { type StoredCounts, Tally } from "./tally.ts";

export interface Verification {
  readonly ok: boolean;
  /** Records that stand in the chain as they were written. */
  readonly records: number;
  /** Hash of the last of them, 64 hexadecimal digits. */
  readonly head: string;
  readonly firstBad?: FirstBad;
}

export interface JournalOptions extends Omit<TailOptions, "storeAnchor"> {
  /** `counts`: what is stored by then, or a little later. */
  storeAnchor(anchor: Anchor, durability: Durability, counts: StoredCounts): Promise<void>;
  /** What the journal had reached when it was last anchored. */
  readonly anchor: Anchor | undefined;
  /** So many bytes at the end never reached the disk whole, and were cut off. */
  cutOff?(bytes: number): void;
}

export interface RedactionResult {
  /** Of the redact records. */
  readonly seqs: readonly number[];
  /** That have lost their data. */
  readonly records: number;
}

/** Who uses segments as wholes, one after the other: none of them meets one that is being replaced. */
const segmentsTurn = "segments";

/** The append-only, hash-chained truth of one memory. Proven from its root when it is opened. */
export class Journal implements AsyncDisposable {
  /** Records that still have their data. */
  readonly tally: Tally;
  readonly #folder: string;
  readonly #tail: Tail;
  readonly #turns = new OneAtATime();
  /** Named by a redact record and still with their data. */
  readonly #pending: SeqSet;
  #lastRedact: number;
  #redactedRecords: number;

  private constructor(options: JournalOptions, start: TailStart, scan: ScanResult, tally: Tally) {
    this.#folder = options.folder;
    const storeAnchor: TailOptions["storeAnchor"] = (anchor, durability) =>
      options.storeAnchor(anchor, durability, tally.counts);
    this.#tail = new Tail({ ...options, storeAnchor }, start, (input, bytes) => tally.add(input, bytes));
    this.#pending = scan.redactions.pending;
    this.#lastRedact = scan.redactions.last;
    this.#redactedRecords = scan.redactions.count;
    this.tally = tally;
  }

  /** Throws StorageError, naming the first bad record, where the journal is not as it was written. */
  static async open(options: JournalOptions, visit: VisitRecord): Promise<Journal> {
    const { folder, log, anchor } = options;
    await makeFolder(folder);
    const segments = await findSegments(folder);
    const tally = new Tally();
    const scan = await scanJournal(segments, anchor ?? chainStart, (record, place, line) => {
      if (!record.isRedacted) tally.add(record, line.length + 1);
      visit(record, place, line);
    });
    const { end, size, firstBad, torn, firstSeqs } = scan;
    if (firstBad !== null) {
      throw new LaresError(
        "StorageError",
        `The memory journal in "${folder}" is damaged at seq ${firstBad.seq}: ${firstBad.reason}. It was left as it is; put the folder back from a backup.`,
        { firstBad },
      );
    }
    await removeLeftoverTemporaries(folder);
    const path = segments.at(-1)?.path ?? joinPath(folder, segmentFileName(1));
    const file = await openDataFile(path, "a");
    if (torn !== null) {
      const bytes = torn.segment.size - torn.keepBytes;
      log.warn("The end of a memory journal never reached the disk whole; it was cut off.", { path, bytes });
      options.cutOff?.(bytes);
      await file.truncate(torn.keepBytes);
    }
    if (segments.length === 0) await syncFolder(folder);
    segments.splice(-1, 1, { path, size: file.size });
    const open = segments.map((segment, index) => ({ ...segment, firstSeq: firstSeqs[index] ?? 1 }));
    return new Journal(options, { segments: open, file, end, size, anchor }, scan, tally);
  }

  get end(): ChainEnd {
    return this.#tail.end;
  }

  /** Something failed after which only reading it anew tells what is there. */
  get isBroken(): boolean {
    return this.#tail.broken !== null;
  }

  /** Bytes over all segments. */
  get size(): number {
    return this.#tail.size;
  }

  /** Redact records up to this seq have been carried out. */
  get carriedOut(): number {
    return this.#tail.carriedOut;
  }

  /** Records without their data. Other than before: a segment was written anew, and places in it differ. */
  get redactedRecords(): number {
    return this.#redactedRecords;
  }

  /**
   * Resolves when the operating system has the record: it then survives the death of any process.
   * Rejects with LimitExceeded where it would not fit, StorageError where it cannot be written; it is then not there.
   */
  append(input: RecordInput): Promise<EncodedRecord> {
    return this.#tail.append(input, false);
  }

  /** Resolves when everything appended before is on the disk, and so is the anchor that names it. */
  sync(): Promise<void> {
    return this.#tail.sync();
  }

  /** Proves the whole journal as it is on the disk now, against the end it has in memory. */
  verify(): Promise<Verification> {
    return this.#turns.run(segmentsTurn, async () => {
      const { segments, end } = await this.#tail.snapshot();
      return await verifySegments(segments, { ...end, carriedOut: this.#tail.carriedOut });
    });
  }

  /**
   * Takes away what the chosen records said: redact records name them, then the segments are written anew without.
   * Resolves when that is on the disk for good. Where it rejects after a redact record was written, the rest is done
   * by the next redaction, or when the journal is next opened.
   */
  redact(choose: Choose, id: string, reason: string): Promise<RedactionResult> {
    return this.#turns.run(segmentsTurn, async () => {
      const seqs: number[] = [];
      let records = 0;
      for (let isWhole = false; !isWhole;) {
        // What is named already must not be named again.
        await this.#carryOut();
        const { segments } = await this.#tail.snapshot();
        const found = await findRecords(segments, choose);
        isWhole = found.isWhole;
        for (const [kind, { ranges, count }] of found.byKind) {
          for (let at = 0; at < ranges.length; at += maxRangesPerRecord) {
            seqs.push(await this.#name(ranges.slice(at, at + maxRangesPerRecord), kind, id, reason));
          }
          records += count;
        }
      }
      await this.#carryOut();
      return { seqs, records };
    });
  }

  /** Does what redact records say that were written before a crash, or before the disk was full. */
  finishRedactions(): Promise<void> {
    return this.#turns.run(segmentsTurn, () => this.#carryOut());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    try {
      if (!this.isBroken) await this.#tail.sync();
    } finally {
      await this.#tail[Symbol.asyncDispose]();
    }
  }

  /** Appends a redact record, also where the journal is full: it makes it smaller. */
  async #name(
    ranges: readonly (readonly [first: number, last: number])[],
    kind: RecordKind,
    id: string,
    reason: string,
  ): Promise<number> {
    failpoint("journal.redaction.begun");
    const data = canonicalJson({ reason, seqs: ranges });
    const { end } = await this.#tail.append({ operation: "redact", kind, id, data }, true);
    this.#lastRedact = end.seq;
    for (const [first, last] of ranges) {
      for (let seq = first; seq <= last; seq++) this.#pending.add(seq);
    }
    failpoint("journal.redaction.appended");
    return end.seq;
  }

  async #carryOut(): Promise<void> {
    if (this.#tail.carriedOut === this.#lastRedact) return;
    // A line may only lose its data once what names it cannot be lost.
    await this.#tail.sync();
    failpoint("journal.redaction.synced");
    const { segments } = await this.#tail.snapshot();
    for (const [index, segment] of segments.entries()) {
      const affected = this.#pending.next(segment.firstSeq);
      const nextFirstSeq = segments[index + 1]?.firstSeq ?? Infinity;
      if (affected !== null && affected < nextFirstSeq) await this.#rewrite(segment);
    }
    await this.#tail.whileQuiet(async () => {
      // Also for a segment that was replaced before a crash: its name may not be on the disk yet.
      await this.#syncFolder();
      this.#tail.carriedOut = this.#lastRedact;
      await this.#tail.anchorNow();
      failpoint("journal.redaction.anchored");
    });
  }

  /** The greater part goes beside the appends; these wait only for what came meanwhile, and for the new name. */
  async #rewrite(segment: OpenSegment): Promise<void> {
    const isRedacted = (seq: number): boolean => this.#pending.has(seq);
    await using rewrite = await SegmentRewrite.begin(segment.path, segment.firstSeq, isRedacted);
    await rewrite.copyUpTo(segment.size);
    failpoint("journal.redaction.copied");
    await rewrite.synchronize();
    failpoint("journal.redaction.copy-synced");
    await this.#tail.whileQuiet(async () => {
      await rewrite.copyUpTo(this.#tail.sizeOf(segment));
      await rewrite.synchronize();
      await this.#tail.replaced(segment, rewrite.size, async () => {
        await rewrite.rename();
        failpoint("journal.redaction.renamed");
        await this.#syncFolder();
        failpoint("journal.redaction.folder-synced");
      });
      this.tally.subtract(rewrite.dropped);
      this.#redactedRecords += rewrite.droppedRecords;
      const end = rewrite.nextSeq;
      let seq = this.#pending.next(segment.firstSeq);
      while (seq !== null && seq < end) {
        this.#pending.delete(seq);
        seq = this.#pending.next(seq + 1);
      }
    });
  }

  async #syncFolder(): Promise<void> {
    try {
      await syncFolder(this.#folder);
    } catch (error) {
      throw storageFailure(`Could not bring the folder "${this.#folder}" to the disk`, error);
    }
  }
}

/** Proves a journal that is not open. */
export async function verifyJournal(folder: string, anchor: KnownEnd): Promise<Verification> {
  return await verifySegments(await findSegments(folder), anchor);
}

async function verifySegments(segments: readonly Segment[], anchor: KnownEnd): Promise<Verification> {
  const { end, firstBad } = await scanJournal(segments, anchor, () => undefined);
  return {
    ok: firstBad === null,
    records: end.seq,
    head: end.hash,
    ...(firstBad === null ? {} : { firstBad }),
  };
}
