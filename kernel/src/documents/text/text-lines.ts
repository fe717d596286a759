export function lineStart(text: string, offset: number): number {
  return text.lastIndexOf("\n", offset - 1) + 1;
}

/** Returns the end of the line, before its line break. */
export function lineEnd(text: string, offset: number): number {
  const end = text.indexOf("\n", offset);
  if (end < 0) return text.length;
  return end > offset && text.charAt(end - 1) === "\r" ? end - 1 : end;
}

/** Returns the start of the next line, or the text's end on the last line. */
export function nextLine(text: string, offset: number): number {
  const end = text.indexOf("\n", offset);
  return end < 0 ? text.length : end + 1;
}

export function newlineOf(text: string): string {
  return /\r?\n/.exec(text)?.[0] ?? "\n";
}

/** Maximum distance of a comma; beyond it, something else was written between. */
const nearCharacters = 256;

/**
 * Returns the range to remove with a key and its value: whole lines if nothing else is on them, else the entry and
 * one adjacent comma. Returns null if neither is possible.
 */
export function removalOf(text: string, start: number, end: number): { start: number; end: number } | null {
  const from = lineStart(text, start);
  const rest = text.slice(end, Math.min(lineEnd(text, end), end + nearCharacters));
  if (/^[ \t]*$/.test(text.slice(from, start)) && /^[ \t]*(?:#|$)/.test(rest))
    return { start: from, end: nextLine(text, end) };
  const after = /^\s*,\s*/.exec(text.slice(end, end + nearCharacters))?.[0].length;
  if (after !== undefined) return { start, end: end + after };
  const before = text.slice(Math.max(0, start - nearCharacters), start).trimEnd();
  if (!before.endsWith(",")) return null;
  return { start: Math.max(0, start - nearCharacters) + before.length - 1, end };
}
