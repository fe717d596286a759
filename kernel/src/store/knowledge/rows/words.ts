import type { JsonValue } from "../../../base/json.ts";

/** Maximum characters of an item that are embedded: more adds little. */
export const maxEmbeddedCharacters = 32_768;

/** Returns the text to embed: the item's text, or else the words and numbers in its data, in order. */
function wordsOf(text: string | null, data: JsonValue): string {
  if (text !== null) return text.slice(0, maxEmbeddedCharacters).toWellFormed().trim();
  const words: string[] = [];
  let room = maxEmbeddedCharacters;
  const waiting: JsonValue[] = [data];
  while (waiting.length > 0 && room > 0) {
    const value = waiting.pop() as JsonValue;
    if (typeof value === "string" || typeof value === "number") {
      const word = String(value).slice(0, room);
      words.push(word);
      room -= word.length + 1;
    } else if (typeof value === "object" && value !== null) {
      const parts = Array.isArray(value) ? (value as readonly JsonValue[]) : Object.values(value);
      for (let index = parts.length - 1; index >= 0; index -= 1) {
        const part = parts[index];
        if (part !== undefined) waiting.push(part);
      }
    }
  }
  return words.join(" ").toWellFormed().trim();
}

/** The same for a row of the tables. An item without text gets no embedding. */
export const textToEmbed = ({ words, data }: { words: string | null; data: string }): string =>
  wordsOf(words, JSON.parse(data) as JsonValue);
