import { storageError } from "../base/errors.ts";
import type { Hash } from "../base/vocabulary/common.ts";
import { forEachLine, readLineBlocks } from "./lines.ts";
import type { Segment } from "../memory-contract/segments.ts";
import { type RecordForm, type RecordHead } from "./record.ts";

/** The number of seq ranges that one pass looks for; bounds its memory. */
const maxRangesPerPass = 100_000;

/** Returns true if a record with data is wanted. The line is valid only during the call. */
export type Choose<Kind extends string> = (record: RecordHead<Kind>, line: Buffer) => boolean;

/** A list of seqs in ascending order. */
class Ranges {
  readonly ranges: [first: number, last: number][] = [];
  count = 0;

  push(seq: number): void {
    const last = this.ranges.at(-1);
    if (last?.[1] === seq - 1) last[1] = seq;
    else this.ranges.push([seq, seq]);
    this.count += 1;
  }
}

interface FoundRecords<Kind extends string> {
  readonly byKind: ReadonlyMap<Kind, Ranges>;
  /** False if there may be more records after those that were found. */
  readonly isWhole: boolean;
}

/** Searches a proven journal for records with data that `choose` selects. Never returns redact records. */
export async function findRecords<Kind extends string>(
  segments: readonly Segment[],
  form: RecordForm<Kind>,
  choose: Choose<Kind>,
): Promise<FoundRecords<Kind>> {
  const byKind = new Map<Kind, Ranges>();
  let ranges = 0;
  for await (const visitRecords of recordBlocks(segments, form)) {
    visitRecords((record, line) => {
      if (record.isRedacted || record.operation === "redact" || !choose(record, line)) return;
      let found = byKind.get(record.kind);
      if (found === undefined) byKind.set(record.kind, (found = new Ranges()));
      const before = found.ranges.length;
      found.push(record.seq);
      ranges += found.ranges.length - before;
    });
    if (ranges >= maxRangesPerPass) return { byKind, isWhole: false };
  }
  return { byKind, isWhole: true };
}

/** Returns the parts that a proven journal's records name, each with the seq of the first record that names it. */
export async function findParts(
  segments: readonly Segment[],
  form: RecordForm<string>,
): Promise<ReadonlyMap<Hash, number>> {
  const parts = new Map<Hash, number>();
  for await (const visitRecords of recordBlocks(segments, form)) {
    visitRecords((record) => {
      for (const hash of record.parts) if (!parts.has(hash)) parts.set(hash, record.seq);
    });
  }
  return parts;
}

/** Yields, for each piece of a proven journal, a function that visits its records. */
async function* recordBlocks<Kind extends string>(
  segments: readonly Segment[],
  form: RecordForm<Kind>,
): AsyncGenerator<(visit: (record: RecordHead<Kind>, line: Buffer) => void) => void> {
  for (const { path, size } of segments) {
    for await (const block of readLineBlocks(path, 0, size)) {
      yield (visit) =>
        forEachLine(block, (line, offset) => {
          const record = form.readHead(line);
          if (record === null) {
            throw storageError(
              `"${path}" has no record at byte ${offset}. Verify the journal to see what is wrong.`,
            );
          }
          visit(record, line);
        });
    }
  }
}
