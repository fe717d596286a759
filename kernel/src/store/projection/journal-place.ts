import { type DataFile, openDataFile } from "../../platform/files/data-files.ts";
import { type ChainEnd, chainStart, maxLineBytes } from "../../memory-contract/records.ts";
import { findSegments } from "../../memory-contract/segments.ts";
import { type Link, readLink } from "./journal-line.ts";

/** The place in a journal after a record. */
export interface JournalPlace {
  readonly after: ChainEnd;
  /** The segment that contains the record. */
  readonly path: string;
  /** Offset of the first byte after the record's line. */
  readonly offset: number;
}

/** A binary search for lines reads pieces of this size, and ends with a scan of as many bytes. */
const stepBytes = 64 * 1024;
const lineFeed = 0x0a;

/**
 * Finds a record by its number in the segments of a folder, in a time that hardly grows with them. Returns null if the
 * journal has no such record, or another one with that number.
 */
export async function findPlace(folder: string, after: ChainEnd): Promise<JournalPlace | null> {
  const segments = await findSegments(folder);
  const [first] = segments;
  if (after.seq === 0) {
    if (after.hash !== chainStart.hash) return null;
    // Without any segment, the reader reports the error.
    return { after, path: first?.path ?? "", offset: 0 };
  }
  // The last segment that begins at or before the record.
  let [low, high] = [0, segments.length];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    const segment = segments[middle];
    const begin = segment === undefined ? null : await firstLinkOf(segment.path);
    if (begin !== null && begin.link.seq <= after.seq) low = middle;
    else high = middle;
  }
  const segment = segments[low];
  return segment === undefined ? null : await findInSegment(segment.path, after);
}

/** A record's line in a segment. */
interface Found {
  readonly link: Link;
  readonly start: number;
  /** Offset of the next line. */
  readonly next: number;
}

async function firstLinkOf(path: string): Promise<Found | null> {
  await using file = await openDataFile(path, "r");
  return await linkAt(file, 0);
}

async function findInSegment(path: string, after: ChainEnd): Promise<JournalPlace | null> {
  await using file = await openDataFile(path, "r");
  // Invariant: a line begins at `low`; the wanted line does not begin at or after `high`.
  let [low, high] = [0, file.size];
  while (high - low > stepBytes) {
    const middle = low + Math.floor((high - low) / 2);
    const start = await lineStartAfter(file, middle, high);
    const found = start === null ? null : await linkAt(file, start);
    if (found !== null && found.link.seq <= after.seq) low = found.start;
    else high = middle;
  }
  for (let offset = low; ;) {
    const found = await linkAt(file, offset);
    if (found === null || found.link.seq > after.seq) return null;
    if (found.link.seq === after.seq) {
      return found.link.hash === after.hash ? { after, path, offset: found.next } : null;
    }
    offset = found.next;
  }
}

/** Returns the offset of the first line that begins after `offset` and before `end`. */
async function lineStartAfter(file: DataFile, offset: number, end: number): Promise<number | null> {
  const piece = Buffer.allocUnsafe(stepBytes);
  for (let position = offset; position < end; position += stepBytes) {
    const count = await file.readInto(piece, position);
    const stop = piece.subarray(0, count).indexOf(lineFeed);
    if (stop >= 0) return position + stop + 1 < end ? position + stop + 1 : null;
    if (count < stepBytes) return null;
  }
  return null;
}

/** Returns the record whose line begins at `offset`; null if there is none, or if the line has no end. */
export async function linkAt(file: DataFile, offset: number): Promise<Found | null> {
  for (let size = 4096; ; size = Math.min(size * 16, maxLineBytes)) {
    const piece = Buffer.allocUnsafe(size);
    const count = await file.readInto(piece, offset);
    const stop = piece.subarray(0, count).indexOf(lineFeed);
    if (stop >= 0) {
      const link = readLink(piece.toString("utf8", 0, stop));
      return link === null ? null : { link, start: offset, next: offset + stop + 1 };
    }
    if (count < size || size >= maxLineBytes) return null;
  }
}
