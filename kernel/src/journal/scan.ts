import { type Checkpoint, journalStart, type Mark } from "./checkpoint.ts";
import { forEachLine, readLineBlocks } from "./lines.ts";
import type { DecodedRecord, RecordForm, RecordHead } from "./record.ts";
import { RedactionProof } from "./redaction.ts";
import { type ChainEnd, maxLineBytes } from "../memory-contract/records.ts";
import type { Segment } from "../memory-contract/segments.ts";
import { SeqSet } from "./seq-set.ts";

/** The first record that is not what was written, and the reason. */
export interface FirstBad {
  readonly seq: number;
  readonly reason: string;
}

/** An end that the journal is known to have reached. */
export interface KnownEnd extends ChainEnd {
  /** Redact records up to this seq are known to have been carried out; 0 if unknown. */
  readonly carriedOut?: number;
}

export interface RecordPlace {
  readonly segment: Segment;
  /** The line's first byte, in bytes from the segment's start. */
  readonly offset: number;
}

export interface ScanResult {
  /** The last record that was proven. */
  readonly end: ChainEnd;
  /** The end of its line. */
  readonly at: Mark;
  /** A mark at least `provenAgain` records before that, or the beginning. */
  readonly again: Mark;
  readonly firstBad: FirstBad | null;
  /** Bytes of the proven records in all segments. */
  readonly size: number;
  /**
   * The end of the last segment that never reached the disk completely: an unfinished line, or, after a power cut,
   * zeros in place of a missing page. `keepBytes` is the intact size of that segment.
   */
  readonly torn: { readonly segment: Segment; readonly keepBytes: number } | null;
  /** For each segment, the seq that its first record has or would have. */
  readonly firstSeqs: readonly number[];
  readonly redactions: {
    /** Named records that still have their data, because of a crash in between. */
    readonly pending: SeqSet;
    /** Seq of the last redact record; 0 if there is none. */
    readonly last: number;
    /** The number of records without data. */
    readonly count: number;
  };
}

/** Never occurs in a record, because JSON escapes it. File systems return it for data that did not reach the disk. */
const zero = 0x00;
/** Records before a checkpoint that every opening proves again. */
export const provenAgain = 2000;
/** A mark is kept for every such number of records. */
const recordsPerMark = 1000;

/** Receives each proven record with its line, which is valid only during the call. */
export type VisitRecord<Kind extends string> = (
  record: DecodedRecord<Kind>,
  place: RecordPlace,
  line: Buffer,
) => void;

export interface ScanOptions {
  /**
   * Continues from the checkpoint: proves the records between its marks `again` and `at` once more, then those
   * after it, and visits only the latter. Reports any of them that is redacted or a redact record as bad, because
   * only a scan from the root can judge those.
   */
  readonly from?: Checkpoint;
  /** Called between pieces of some hundred records; its rejection ends the scan. */
  pause?(): Promise<void>;
}

/**
 * Proves a journal from its root, record by record, in bounded memory. `anchor` is an end that the journal is known
 * to have reached, so a truncated or restored journal is detected, not only an edited one. A broken chain is
 * reported at the break, even if earlier records lack a redaction, which may be among the missing ones. Missing
 * redactions are reported only for a complete chain.
 */
export async function scanJournal<Kind extends string>(
  segments: readonly Segment[],
  anchor: KnownEnd,
  form: RecordForm<Kind>,
  visit: VisitRecord<Kind> = () => undefined,
  { from, pause }: ScanOptions = {},
): Promise<ScanResult> {
  const scan = new Scan(anchor, form, visit, from);
  const start = from?.again ?? journalStart;
  const firstSeqs = (from?.segments ?? []).slice(0, start.segment + 1).map(({ firstSeq }) => firstSeq);
  for (const [index, segment] of segments.entries()) {
    if (index < start.segment) continue;
    if (index >= firstSeqs.length) firstSeqs.push(scan.end.seq + 1);
    const isLast = index === segments.length - 1;
    const skip = index === start.segment ? start.offset : 0;
    const keepBytes = await scan.read(segment, index, skip, isLast, pause);
    if (scan.reason === null && keepBytes < segment.size && !isLast) scan.reason = "its line has no end";
    if (scan.reason !== null) break;
    if (keepBytes < segment.size) scan.torn = { segment, keepBytes };
  }
  if (scan.reason === null && scan.end.seq < anchor.seq) {
    scan.reason = `it is missing: the journal ends here, but had reached seq ${anchor.seq}`;
  }
  const { end, size, torn, at, redactions } = scan;
  const { pending, lastRedact, count } = redactions;
  return {
    end,
    at,
    again: scan.again,
    size,
    torn,
    firstSeqs,
    firstBad: firstBadOf(scan),
    redactions:
      from === undefined
        ? { pending, last: lastRedact, count }
        : { pending: new SeqSet(), last: from.lastRedact, count: from.redacted },
  };
}

function firstBadOf({
  reason,
  end,
  redactions,
}: Pick<Scan<string>, "reason" | "end" | "redactions">): FirstBad | null {
  const broken = reason === null ? redactions.unnamed : { seq: end.seq + 1, reason };
  const { restored } = redactions;
  return restored !== null && (broken === null || restored.seq < broken.seq) ? restored : broken;
}

class Scan<Kind extends string> {
  at: Mark = journalStart;
  /** The last marks, in order. */
  #marks: Mark[] = [journalStart];
  torn: ScanResult["torn"] = null;
  /** What is wrong with the record after `end`. */
  reason: string | null = null;
  readonly redactions: RedactionProof;
  readonly #anchor: ChainEnd;
  readonly #from: Checkpoint | undefined;
  readonly #form: RecordForm<Kind>;
  readonly #visit: VisitRecord<Kind>;

  constructor(
    anchor: KnownEnd,
    form: RecordForm<Kind>,
    visit: VisitRecord<Kind>,
    from: Checkpoint | undefined,
  ) {
    this.#from = from;
    if (from !== undefined) {
      this.at = from.again;
      this.#marks = [from.again];
    }
    this.#anchor = anchor;
    this.#form = form;
    this.#visit = visit;
    this.redactions = new RedactionProof(anchor.carriedOut ?? 0);
  }

  get end(): ChainEnd {
    return this.at.end;
  }

  get size(): number {
    return this.at.size;
  }

  get again(): Mark {
    const { seq } = this.end;
    return this.#marks.findLast(({ end }) => seq - end.seq >= provenAgain) ?? this.#marks[0] ?? journalStart;
  }

  /** Reads a segment from the offset `skip` to its end. Resolves to the size of its intact part. */
  async read(
    segment: Segment,
    index: number,
    skip: number,
    isLast: boolean,
    pause: (() => Promise<void>) | undefined,
  ): Promise<number> {
    const { start = 0 } = segment;
    let proven = skip;
    // Anchored records were on the disk, so a power cut cannot explain that they are missing.
    const isTornPage = (bytes: Buffer): boolean =>
      isLast && this.end.seq >= this.#anchor.seq && bytes.includes(zero);
    for await (const block of readLineBlocks(segment.path, start + skip, start + segment.size)) {
      if (pause !== undefined) await pause();
      if (!block.isWhole) {
        if (block.bytes.length > maxLineBytes && !isTornPage(block.bytes))
          this.reason = "its line has no end";
        return proven;
      }
      let isTorn = false;
      forEachLine(block, (line, offset) => {
        this.#line(line, { segment, offset }, index);
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

  #line(line: Buffer, place: RecordPlace, segment: number): void {
    if (line.length >= maxLineBytes) {
      this.reason = "its line is longer than a record's may be";
      return;
    }
    const record = this.#form.decode(line, this.end);
    if (typeof record === "string") {
      this.reason = record;
      return;
    }
    if (record.end.seq === this.#anchor.seq && record.end.hash !== this.#anchor.hash) {
      this.reason = "it is not the record that was written";
      return;
    }
    const length = line.length + 1;
    const offset = place.offset - (place.segment.start ?? 0) + length;
    const at: Mark = { end: record.end, segment, offset, size: this.at.size + length };
    const from = this.#from;
    this.reason =
      from === undefined
        ? this.redactions.follow(record, () => line.toString("utf8", record.dataStart, record.dataEnd))
        : againstCheckpoint(record, at, from);
    if (this.reason !== null) return;
    this.at = at;
    if (record.end.seq % recordsPerMark === 0) this.#mark(at);
    if (from === undefined || record.end.seq > from.at.end.seq) this.#visit(record, place, line);
  }

  #mark(mark: Mark): void {
    this.#marks.push(mark);
    // These suffice for a mark that is `provenAgain` records back.
    if (this.#marks.length > provenAgain / recordsPerMark + 2) this.#marks.shift();
  }
}

/** Returns what is wrong with a record that a scan reads before its checkpoint. */
function againstCheckpoint(record: RecordHead, at: Mark, { at: known }: Checkpoint): string | null {
  if (at.end.seq > known.end.seq)
    return record.isRedacted || record.operation === "redact" ? "it is redacted, or a redact record" : null;
  const isOther =
    at.end.seq === known.end.seq &&
    (at.end.hash !== known.end.hash || at.segment !== known.segment || at.offset !== known.offset);
  return isOther ? "it is not the checkpoint's record" : null;
}
