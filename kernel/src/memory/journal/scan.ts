import { fileSize, joinPath, listFiles } from "../../platform/data-files.ts";
import { forEachLine, readLineBlocks } from "./lines.ts";
import { type ChainEnd, chainStart, type DecodedRecord, decodeRecord, maxLineBytes } from "./record.ts";
import { RedactionProof } from "./redaction.ts";
import type { SeqSet } from "./seq-set.ts";

/** The first record that is not what was written, and why. */
export interface FirstBad {
  readonly seq: number;
  readonly reason: string;
}

export interface Segment {
  readonly path: string;
  /** Bytes that belong to the journal; what is written later is not looked at. */
  readonly size: number;
  /** Where it begins in its file, which is then not the segment alone; default 0. */
  readonly start?: number;
}

/** An end that is known to have been reached. */
export interface KnownEnd extends ChainEnd {
  /** Redact records up to this seq are known to have been carried out; 0 where that is not known of any. */
  readonly carriedOut?: number;
}

/** Where a record lies. */
export interface RecordPlace {
  readonly segment: Segment;
  /** Of the line's first byte, in bytes from the segment's start. */
  readonly offset: number;
}

export interface ScanResult {
  /** The last record that was proven. */
  readonly end: ChainEnd;
  readonly firstBad: FirstBad | null;
  /** Bytes of proven records, over all segments. */
  readonly size: number;
  /**
   * What never reached the disk whole, at the end of the last segment: a line without an end, or, after a power cut,
   * zeros where a page is missing. Bytes to keep of that segment.
   */
  readonly torn: { readonly segment: Segment; readonly keepBytes: number } | null;
  /** Of each segment, the seq that its first record has or would have. */
  readonly firstSeqs: readonly number[];
  readonly redactions: {
    /** Named by a redact record and still with their data: a crash came between the two. */
    readonly pending: SeqSet;
    /** Seq of the last redact record; 0 where there is none. */
    readonly last: number;
    /** Records without their data. */
    readonly count: number;
  };
}

/** Stands in no record, for JSON escapes it. A file system shows it where what was written did not reach the disk. */
const zero = 0x00;
const segmentName = /^[0-9]{6}\.ndjson$/;

/** The journal's segments in order, with their sizes of this moment. */
export async function findSegments(folder: string): Promise<Segment[]> {
  const names = (await listFiles(folder)).filter((name) => segmentName.test(name));
  return await Promise.all(
    names.map(async (name) => {
      const path = joinPath(folder, name);
      return { path, size: (await fileSize(path)) ?? 0 };
    }),
  );
}

/** Gets each proven record with its line, which is only good during the call. */
export type VisitRecord = (record: DecodedRecord, place: RecordPlace, line: Buffer) => void;

/**
 * Proves a journal from its root, record by record, in bounded memory. `anchor` is an end that is known to
 * have been reached, so that a journal cut short or put back is found out, not only one that was edited.
 * A chain that breaks is named where it does, even where records before it lack a redaction: that may be what is
 * missing. Only of a whole chain it is said that a record's data is gone without one.
 */
export async function scanJournal(
  segments: readonly Segment[],
  anchor: KnownEnd,
  visit: VisitRecord,
): Promise<ScanResult> {
  const scan = new Scan(anchor, visit);
  const firstSeqs: number[] = [];
  for (const [index, segment] of segments.entries()) {
    firstSeqs.push(scan.end.seq + 1);
    const isLast = index === segments.length - 1;
    const keepBytes = await scan.read(segment, isLast);
    if (scan.reason === null && keepBytes < segment.size && !isLast) scan.reason = "its line has no end";
    if (scan.reason !== null) break;
    if (keepBytes < segment.size) scan.torn = { segment, keepBytes };
  }
  if (scan.reason === null && scan.end.seq < anchor.seq) {
    scan.reason = `it is missing: the journal ends here, but had reached seq ${anchor.seq}`;
  }
  const { end, size, torn, redactions } = scan;
  const { pending, lastRedact, count } = redactions;
  return {
    end,
    size,
    torn,
    firstSeqs,
    firstBad: firstBadOf(scan),
    redactions: { pending, last: lastRedact, count },
  };
}

function firstBadOf({ reason, end, redactions }: Scan): FirstBad | null {
  const broken = reason === null ? redactions.unnamed : { seq: end.seq + 1, reason };
  const { restored } = redactions;
  return restored !== null && (broken === null || restored.seq < broken.seq) ? restored : broken;
}

class Scan {
  end: ChainEnd = chainStart;
  size = 0;
  torn: ScanResult["torn"] = null;
  /** What is wrong with the record after `end`. */
  reason: string | null = null;
  readonly redactions: RedactionProof;
  readonly #anchor: ChainEnd;
  readonly #visit: VisitRecord;

  constructor(anchor: KnownEnd, visit: VisitRecord) {
    this.#anchor = anchor;
    this.#visit = visit;
    this.redactions = new RedactionProof(anchor.carriedOut ?? 0);
  }

  /** Reads a segment up to its size; resolves to its bytes up to where it is torn. */
  async read(segment: Segment, isLast: boolean): Promise<number> {
    const { start = 0 } = segment;
    let proven = 0;
    // What was anchored was on the disk: there nothing is missing for want of power.
    const isTornPage = (bytes: Buffer): boolean =>
      isLast && this.end.seq >= this.#anchor.seq && bytes.includes(zero);
    for await (const block of readLineBlocks(segment.path, start, start + segment.size)) {
      if (!block.isWhole) {
        if (block.bytes.length > maxLineBytes && !isTornPage(block.bytes))
          this.reason = "its line has no end";
        return proven;
      }
      let isTorn = false;
      forEachLine(block, (line, offset) => {
        this.#line(line, { segment, offset });
        if (this.reason === null) {
          proven = offset - start + line.length + 1;
          return;
        }
        isTorn = isTornPage(line);
        if (isTorn) this.reason = null;
        return "stop";
      });
      if (isTorn || this.reason !== null) return proven;
    }
    return proven;
  }

  #line(line: Buffer, place: RecordPlace): void {
    if (line.length >= maxLineBytes) {
      this.reason = "its line is longer than a record's may be";
      return;
    }
    const record = decodeRecord(line, this.end);
    if (typeof record === "string") {
      this.reason = record;
      return;
    }
    if (record.end.seq === this.#anchor.seq && record.end.hash !== this.#anchor.hash) {
      this.reason = "it is another record than the one that was written";
      return;
    }
    this.reason = this.redactions.follow(record, () =>
      line.toString("utf8", record.dataStart, record.dataEnd),
    );
    if (this.reason !== null) return;
    this.end = record.end;
    this.size += line.length + 1;
    this.#visit(record, place, line);
  }
}
