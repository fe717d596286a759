const prefix = "content-length:";
const longestValue = 64;
/** Bytes of the longest line that counts. */
export const longestMark = prefix.length + longestValue + 2;
const carriageReturn = 0x0d;
const lineFeed = 0x0a;

const isPlainValue = /^[^\r"\\]*$/;

/**
 * Returns the first line `Content-Length: …\r
 * ` whose line feed is at or after `from`; -1 if there is no such line.
 *
 * Valid JSON cannot contain one: outside a string its letters are a syntax error, and inside a string a raw
 * carriage return is. So inside a body it proves that the body was shorter than announced, and in garbage it marks
 * the next frame.
 */
export function findSyncMark(bytes: Uint8Array, from = 0): number {
  let lineStart = Math.max(0, from - longestMark);
  for (let end = bytes.indexOf(lineFeed, from); end !== -1; end = bytes.indexOf(lineFeed, end + 1)) {
    if (end - lineStart > prefix.length && bytes[end - 1] === carriageReturn) {
      const start = Math.max(lineStart, end + 1 - longestMark);
      const line = latin1(bytes.subarray(start, end - 1)).toLowerCase();
      const name = line.lastIndexOf(prefix);
      if (name !== -1 && isPlainValue.test(line.slice(name + prefix.length))) return start + name;
    }
    lineStart = end + 1;
  }
  return -1;
}

/** Returns the last such line that does not begin at the first byte; -1 if there is no such line. */
export function findLastSyncMark(bytes: Uint8Array): number {
  let last = -1;
  for (let mark = findSyncMark(bytes, 1); mark !== -1;) {
    const end = bytes.indexOf(lineFeed, mark);
    if (mark > 0) last = mark;
    mark = findSyncMark(bytes, end + 1);
  }
  return last;
}

/** Returns how many of the last bytes may be the beginning of such a line and must be kept. */
export function partialSyncMarkLength(bytes: Uint8Array): number {
  const tail = latin1(bytes.subarray(Math.max(0, bytes.length - longestMark))).toLowerCase();
  for (let start = tail.indexOf("c"); start !== -1; start = tail.indexOf("c", start + 1)) {
    const candidate = tail.slice(start);
    const begins =
      candidate.length < prefix.length ? prefix.startsWith(candidate) : candidate.startsWith(prefix);
    if (begins && /^[^\r\n"\\]*\r?$/.test(candidate)) return candidate.length;
  }
  return 0;
}

function latin1(bytes: Uint8Array): string {
  return String.fromCharCode(...bytes);
}
