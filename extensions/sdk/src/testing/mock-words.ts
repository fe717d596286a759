import type { JsonValue } from "../../../../kernel/src/base/json.ts";
import { eachText, fieldsAround } from "../../../../kernel/src/store/projection/data-texts.ts";
import {
  differentWords,
  indexedWords,
  searchedWords,
} from "../../../../kernel/src/store/projection/words.ts";

/** Returns true if the data, or the part beneath one of its fields, contains all the words. */
export function hasWords(data: JsonValue, match: string, field?: string): boolean {
  const there = new Set<string>();
  eachText(data, (where, text) => {
    const isThere = field === undefined || (where !== null && [...fieldsAround(where)].includes(field));
    if (isThere) for (const word of differentWords(indexedWords(text))) there.add(word);
  });
  const words = searchedWords(match);
  return words.length > 0 && words.every((word) => there.has(word));
}

/** Returns the texts and numbers of a value in order, by which an item without its own text is searched. */
export function textOf(data: JsonValue): string {
  if (typeof data === "string" || typeof data === "number") return String(data);
  if (typeof data !== "object" || data === null) return "";
  return Object.values(data)
    .map((value) => textOf(value as JsonValue))
    .join(" ")
    .trim();
}

/** Returns the share of the searched words that the text contains, from 0 to 1. */
export function shareOfWords(text: string, searched: readonly string[]): number {
  const there = new Set(differentWords(indexedWords(text)));
  return searched.length === 0 ? 0 : searched.filter((word) => there.has(word)).length / searched.length;
}

/** Large enough that features of short texts hardly ever collide. */
const dimensions = 4096;

/**
 * Turns a text into a vector by its words and their trigrams, so that texts with common words are near each other.
 * It is not the kernel's embedder: similarities differ, but clearly similar texts are similar in both.
 */
export function directionOf(text: string): number[] {
  const direction = Array.from({ length: dimensions }, () => 0);
  const add = (feature: string, weight: number): void => {
    let hash = 0x811c9dc5;
    for (let at = 0; at < feature.length; at++) hash = Math.imul(hash ^ feature.charCodeAt(at), 0x01000193);
    hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
    const place = (hash ^ (hash >>> 12)) & (dimensions - 1);
    direction[place] = (direction[place] ?? 0) + weight;
  };
  for (const word of searchedWords(text)) {
    add(word, 1);
    const framed = `^${word}$`;
    for (let at = 0; at + 3 <= framed.length; at++) add(framed.slice(at, at + 3), 0.3);
  }
  return direction;
}

/** Returns the cosine of two vectors; 0 if one of them has no direction. */
export function cosine(a: readonly number[], b: readonly number[]): number {
  let [dot, aa, bb] = [0, 0, 0];
  a.forEach((x, index) => {
    const y = b[index] ?? 0;
    dot += x * y;
    aa += x * x;
    bb += y * y;
  });
  return aa === 0 || bb === 0 ? 0 : Math.max(-1, Math.min(1, dot / Math.sqrt(aa * bb)));
}
