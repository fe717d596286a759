import type { DataFile } from "../platform/files/data-files.ts";

const blockBytes = 64 * 1024;
const lineFeed = 0x0a;
/** This log writes no longer lines, and reading one as a whole would only cost memory. */
const maxLineBytes = 256 * 1024;

/** Yields the lines of a file, last first, without loading it as a whole. Skips lines that are too long. */
export async function* readLinesBackwards(file: DataFile): AsyncGenerator<string, void, undefined> {
  const block = Buffer.alloc(blockBytes);
  /** The earliest line read so far, whose beginning is in the block before. */
  let rest: Buffer = Buffer.alloc(0);
  let isTooLong = false;
  for (let stop = file.size; stop > 0;) {
    const start = Math.max(0, stop - blockBytes);
    const count = await file.readInto(block.subarray(0, stop - start), start);
    const bytes = Buffer.concat([block.subarray(0, count), rest]);
    let end = bytes.length;
    for (
      let at = bytes.lastIndexOf(lineFeed);
      at >= 0;
      at = at === 0 ? -1 : bytes.lastIndexOf(lineFeed, at - 1)
    ) {
      if (end > at + 1 && !isTooLong) yield bytes.toString("utf8", at + 1, end);
      isTooLong = false;
      end = at;
    }
    rest = Buffer.from(bytes.subarray(0, end));
    if (rest.length > maxLineBytes) {
      rest = Buffer.alloc(0);
      isTooLong = true;
    }
    stop = start;
  }
  if (rest.length > 0 && !isTooLong) yield rest.toString("utf8");
}
