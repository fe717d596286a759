const quote = 0x22;
const backslash = 0x5c;

/**
 * True if arrays and objects in this JSON text are nested deeper than `maxDepth`. Makes one pass over the bytes, before
 * anything is parsed.
 */
export function nestsDeeperThan(json: Uint8Array, maxDepth: number): boolean {
  let depth = 0;
  for (let at = 0; at < json.length; at++) {
    const byte = json[at];
    if (byte === quote) {
      at = endOfJsonString(json, at);
      if (at === -1) return false;
    } else if (byte === 0x5b || byte === 0x7b) {
      if (++depth > maxDepth) return true;
    } else if (byte === 0x5d || byte === 0x7d) depth--;
  }
  return false;
}

/** The same for a text in memory. Most texts have so few brackets that their bytes are not needed. */
export function textNestsDeeperThan(json: string, maxDepth: number): boolean {
  return opensMoreThan(json, maxDepth) && nestsDeeperThan(new TextEncoder().encode(json), maxDepth);
}

function opensMoreThan(json: string, most: number): boolean {
  let opened = 0;
  for (const bracket of ["{", "["])
    for (let at = json.indexOf(bracket); at !== -1; at = json.indexOf(bracket, at + 1))
      if (++opened > most) return true;
  return false;
}

/** Returns the index of the quote that closes the string opened at `start`, or -1 if the string is not closed. */
export function endOfJsonString(json: Uint8Array, start: number): number {
  for (let end = json.indexOf(quote, start + 1); end !== -1; end = json.indexOf(quote, end + 1)) {
    let backslashes = 0;
    while (json[end - 1 - backslashes] === backslash) backslashes++;
    if (backslashes % 2 === 0) return end;
  }
  return -1;
}
