/** Words of a question; more of them would only slow the search. */
const maxWords = 64;

/**
 * Returns a query of SQLite's full text search for entries with any of the words, or with all of them. Every word is quoted,
 * so that nothing in a text is an operator. Empty if there is no word.
 */
export function searchWords(text: string, how: "any" | "all" = "any"): string {
  const words = [...new Set(text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [])].slice(0, maxWords);
  return words.map((word) => `"${word}"`).join(how === "any" ? " OR " : " AND ");
}
