import { storageError } from "../base/errors.ts";
import { forEachLine, readLineBlocks } from "./lines.ts";
import type { Segment } from "../memory-contract/segments.ts";
import { type RecordForm, type RecordHead } from "./record.ts";

/** Ranges of seqs that are looked for at once: bounds the memory of it, whatever is found. */
const maxRangesPerPass = 100_000;

/** Says of a record that has its data whether it is meant. The line is only good during the call. */
export type Choose<Kind extends string> = (record: RecordHead<Kind>, line: Buffer) => boolean;

/** Seqs in ascending order. */
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
  /** False: there may be more behind what was found. */
  readonly isWhole: boolean;
}

/**
 * Looks through a journal that was proven, for records that have their data and that `choose` wants. Not among them:
 * what names redacted records.
 */
export async function findRecords<Kind extends string>(
  segments: readonly Segment[],
  form: RecordForm<Kind>,
  choose: Choose<Kind>,
): Promise<FoundRecords<Kind>> {
  const byKind = new Map<Kind, Ranges>();
  let ranges = 0;
  for (const segment of segments) {
    for await (const block of readLineBlocks(segment.path, 0, segment.size)) {
      forEachLine(block, (line, offset) => {
        const record = form.readHead(line);
        if (record === null) {
          throw storageError(
            `What stands in "${segment.path}" at byte ${offset} is no record. Verify the journal to see what is wrong.`,
          );
        }
        if (record.isRedacted || record.operation === "redact" || !choose(record, line)) return;
        let found = byKind.get(record.kind);
        if (found === undefined) byKind.set(record.kind, (found = new Ranges()));
        const before = found.ranges.length;
        found.push(record.seq);
        ranges += found.ranges.length - before;
      });
      if (ranges >= maxRangesPerPass) return { byKind, isWhole: false };
    }
  }
  return { byKind, isWhole: true };
}
