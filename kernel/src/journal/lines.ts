import { openDataFile } from "../platform/files/data-files.ts";
import { maxLineBytes } from "../memory-contract/records.ts";

const lineFeed = 0x0a;
/** Bytes of one read; processing them holds the loop for a millisecond or two. */
const pieceBytes = 256 * 1024;

/** A part of a file. The bytes are valid only until the next block is requested. */
interface LineBlock {
  readonly bytes: Buffer;
  /** The position of the first byte in the file. */
  readonly offset: number;
  /** True if the block ends in a line feed. Otherwise it is the last: an unfinished line, or one that is too long. */
  readonly isWhole: boolean;
}

/** Yields the bytes of a file from `start` to `end` as blocks of whole lines, in bounded memory. */
export async function* readLineBlocks(
  path: string,
  start: number,
  end: number,
): AsyncGenerator<LineBlock, void, undefined> {
  await using file = await openDataFile(path, "r");
  const buffer = Buffer.allocUnsafe(maxLineBytes + pieceBytes);
  let offset = start;
  let carried = 0;
  while (offset + carried < end && carried <= maxLineBytes) {
    const wanted = Math.min(pieceBytes, end - offset - carried);
    const count = await file.readInto(buffer.subarray(carried, carried + wanted), offset + carried);
    if (count === 0) break;
    const length = carried + count;
    const whole = buffer.lastIndexOf(lineFeed, length - 1) + 1;
    if (whole > 0) yield { bytes: buffer.subarray(0, whole), offset, isWhole: true };
    buffer.copyWithin(0, whole, length);
    offset += whole;
    carried = length - whole;
  }
  if (carried > 0) yield { bytes: buffer.subarray(0, carried), offset, isWhole: false };
}

/** Visits the lines of a block of whole lines, without their line feeds; `visit` returns "stop" to end early. */
export function forEachLine(
  { bytes, offset }: LineBlock,
  visit: (line: Buffer, offset: number) => void | "stop",
): void {
  for (let start = 0, stop = bytes.indexOf(lineFeed); stop >= 0; stop = bytes.indexOf(lineFeed, start)) {
    if (visit(bytes.subarray(start, stop), offset + start) === "stop") return;
    start = stop + 1;
  }
}

/** Parses JSON, or returns null. A proven journal has what its author wrote, which may be anything. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}
