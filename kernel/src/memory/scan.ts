import { fileSize, joinPath, listFiles, readPieces } from "../platform/data-files.ts";
import { type ChainEnd, chainStart, type DecodedRecord, decodeRecord, maxLineBytes } from "./record.ts";

/** The first record that is not what was written, and why. */
export interface FirstBad {
  readonly seq: number;
  readonly reason: string;
}

export interface Segment {
  readonly path: string;
  /** Bytes that belong to the journal; what is written later is not looked at. */
  readonly size: number;
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
  /** What a death in the middle of a write left at the end of the last segment: bytes to keep of that segment. */
  readonly torn: { readonly segment: Segment; readonly keepBytes: number } | null;
}

const lineFeed = 0x0a;
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

/**
 * Proves a journal from its root, record by record, in bounded memory. `anchor` is an end that is known to
 * have been reached, so that a journal cut short or put back is found out, not only one that was edited.
 */
export async function scanJournal(
  segments: readonly Segment[],
  anchor: ChainEnd,
  visit: (record: DecodedRecord, place: RecordPlace) => void,
): Promise<ScanResult> {
  const scan = new Scan(anchor, visit);
  for (const [index, segment] of segments.entries()) {
    const restBytes = await scan.read(segment);
    if (scan.reason === null && restBytes > 0 && index < segments.length - 1)
      scan.reason = "its line has no end";
    if (scan.reason !== null) break;
    if (restBytes > 0) scan.torn = { segment, keepBytes: segment.size - restBytes };
  }
  if (scan.reason === null && scan.end.seq < anchor.seq) {
    scan.reason = `it is missing: the journal ends here, but had reached seq ${anchor.seq}`;
  }
  const { end, size, torn, reason } = scan;
  return { end, size, torn, firstBad: reason === null ? null : { seq: end.seq + 1, reason } };
}

class Scan {
  end: ChainEnd = chainStart;
  size = 0;
  torn: ScanResult["torn"] = null;
  /** What is wrong with the record after `end`. */
  reason: string | null = null;
  readonly #anchor: ChainEnd;
  readonly #visit: (record: DecodedRecord, place: RecordPlace) => void;

  constructor(anchor: ChainEnd, visit: (record: DecodedRecord, place: RecordPlace) => void) {
    this.#anchor = anchor;
    this.#visit = visit;
  }

  /** Reads a segment up to its size; resolves to the bytes of an unfinished last line. */
  async read(segment: Segment): Promise<number> {
    let offset = 0;
    let carried: Buffer = Buffer.alloc(0);
    for await (const piece of readPieces(segment.path, segment.size)) {
      const bytes =
        carried.length === 0
          ? Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength)
          : Buffer.concat([carried, piece]);
      let start = 0;
      for (let stop = bytes.indexOf(lineFeed); stop >= 0; stop = bytes.indexOf(lineFeed, start)) {
        this.#line(bytes.subarray(start, stop), { segment, offset });
        if (this.reason !== null) return 0;
        offset += stop + 1 - start;
        start = stop + 1;
      }
      carried = Buffer.from(bytes.subarray(start));
      if (carried.length > maxLineBytes) {
        this.reason = "its line has no end";
        return 0;
      }
    }
    return carried.length;
  }

  #line(line: Buffer, place: RecordPlace): void {
    const record = decodeRecord(line, this.end);
    if (typeof record === "string") {
      this.reason = record;
    } else if (record.end.seq === this.#anchor.seq && record.end.hash !== this.#anchor.hash) {
      this.reason = "it is another record than the one that was written";
    } else {
      this.end = record.end;
      this.size += line.length + 1;
      this.#visit(record, place);
    }
  }
}
