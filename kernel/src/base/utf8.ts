const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * Decodes UTF-8, keeping a byte order mark. A byte that is not valid UTF-8 becomes the lone surrogate U+DC00 + byte. No
 * valid text contains one, so a reader can tell which byte it was and where, and cannot mistake the replacement for a
 * character of the text.
 */
export function decodeUtf8(bytes: Uint8Array): string {
  try {
    return strict.decode(bytes);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
  }
  const parts: string[] = [];
  let validFrom = 0;
  for (let at = 0; at < bytes.length;) {
    const length = sequenceLength(bytes, at);
    if (length > 0) {
      at += length;
      continue;
    }
    parts.push(strict.decode(bytes.subarray(validFrom, at)), String.fromCharCode(0xdc00 + (bytes[at] ?? 0)));
    validFrom = ++at;
  }
  parts.push(strict.decode(bytes.subarray(validFrom)));
  return parts.join("");
}

/** Returns the length of the UTF-8 sequence that begins at `at`, or 0 if none does. */
function sequenceLength(bytes: Uint8Array, at: number): number {
  const first = bytes[at] ?? 0;
  if (first < 0x80) return 1;
  const length = first >= 0xf0 && first <= 0xf4 ? 4 : first >= 0xe0 ? 3 : first >= 0xc2 ? 2 : 0;
  if (length === 0 || first > 0xf4) return 0;
  const second = bytes[at + 1] ?? 0;
  // Excludes overlong forms, surrogates, and code points beyond U+10FFFF.
  const [least, most] =
    first === 0xe0
      ? [0xa0, 0xbf]
      : first === 0xed
        ? [0x80, 0x9f]
        : first === 0xf0
          ? [0x90, 0xbf]
          : first === 0xf4
            ? [0x80, 0x8f]
            : [0x80, 0xbf];
  if (second < least || second > most) return 0;
  for (let next = at + 2; next < at + length; next++) if (((bytes[next] ?? 0) & 0xc0) !== 0x80) return 0;
  return length;
}
