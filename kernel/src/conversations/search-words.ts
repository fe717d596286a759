/** Words of a question; more of them would only slow the search. */
const maxWords = 64;

/** Returns the different words of a text, as many as are searched. */
export function wordsOf(text: string): string[] {
  return [...new Set(text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [])].slice(0, maxWords);
}

/**
 * Returns a query of SQLite's full text search for entries with any of these words. Every word is quoted, so that nothing in
 * a text is an operator. Empty if there is no word.
 */
export function anyOf(words: readonly string[]): string {
  return quoted(words).join(" OR ");
}

/** Like `anyOf`, for entries with all words of a text. */
export function allOf(text: string): string {
  return quoted(wordsOf(text)).join(" AND ");
}

const quoted = (words: readonly string[]): string[] => words.map((word) => `"${word}"`);
