/**
 * The beginnings of pictures and HTML. A space after the first character makes them inert in any context: in text, in code,
 * after any number of backslashes, and in an address that a preview links in plain text (which would take an escaping
 * backslash as its own). The exception is the notation of `plainText` for an invisible character, which cannot be HTML.
 */
const openings = /<(?=[a-z/!?])(?!U\+[\dA-F]{4,6}>)|!(?=\[)/gi;
/**
 * Text after which a preview may pair backticks differently: mathematics, comments, references, and addresses or titles of
 * links that are more than one word without backticks.
 */
const unclear = /\$|%%|\[\[|\]\((?![^\s()`<>\\"']*\))|\]\[(?![^[\]`\\]*\])/;

/** Returns the text with all pictures and HTML made inert, in any context. Every character stays readable. */
export function inert(text: string): string {
  return text.replace(openings, "$& ");
}

/**
 * As `inert`, for adjacent lines without an empty one between them. Code within a line stays as it is if there is only one
 * way to read the backticks of all these lines.
 */
export function inertLines(lines: readonly string[]): string[] {
  if (!lines.some((line) => line.search(openings) !== -1)) return [...lines];
  const pieces = lines.map(piecesOf);
  if (pieces.includes(null)) return lines.map(inert);
  return pieces.map((ofLine) =>
    (ofLine ?? []).map((piece, index) => (index % 2 === 0 ? inert(piece) : piece)).join(""),
  );
}

/** Returns the pieces of a line, text and code by turns; null if another reader may find others. */
function piecesOf(line: string): string[] | null {
  const runs = Array.from(line.matchAll(/`+/g), ({ 0: run, index }) => ({
    start: index,
    end: index + run.length,
  }));
  const pieces: string[] = [];
  let from = 0;
  for (let index = 0; index < runs.length; index += 2) {
    const open = runs[index];
    const close = runs[index + 1];
    if (open === undefined || close === undefined) return null;
    if (open.end - open.start !== close.end - close.start) return null;
    const before = line.slice(from, open.start);
    const code = line.slice(open.end, close.start);
    // A cell of a table ends at a bar, also in code.
    if (!isClear(before) || !maySpanBegin(before) || code.includes("|") || code.endsWith("\\")) return null;
    pieces.push(before, line.slice(open.start, close.end));
    from = close.end;
  }
  const rest = line.slice(from);
  return isClear(rest) ? [...pieces, rest] : null;
}

function isClear(text: string): boolean {
  return !unclear.test(text);
}

/** False if the word before a backtick may escape it, or may be an address that has it as a part. */
function maySpanBegin(before: string): boolean {
  const blank = Math.max(before.lastIndexOf(" "), before.lastIndexOf("\t"));
  const word = before.slice(blank + 1);
  return !/[:/.@\\]/.test(word) || !/[\p{L}\p{N}\\]/u.test(word);
}
