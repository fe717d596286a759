import { visibleText } from "../../../../kernel/src/base/visible-text.ts";

/** The longest id of an agent or a shared memory, so that ids are never cut. */
export const maxLabelCharacters = 128;

/**
 * Returns a name (of a file, an agent, a job, a tag) for a page, where every text is drawn as text. Every character is
 * visible, including line breaks and blanks at the end. A long name is cut in the middle, because names that differ at
 * the end begin alike; at most `maxLength` characters.
 */
export function pageLabel(text: string, maxLength = maxLabelCharacters): string {
  return isolated(cutInside(text, maxLength));
}

/** Isolated, so that the English text around it keeps its direction. */
export function isolated(text: string): string {
  return rightToLeft.test(text) ? `\u2068${text}\u2069` : text;
}

const rightToLeft = /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u;

/**
 * How many characters at a cut are examined for the beginning of a grapheme, because traces are cut by the thousand.
 */
const maxCharacterLength = 64;
/** Created on first use: it takes milliseconds, and most texts are short enough. */
let segmenter: Intl.Segmenter | undefined;

/** Cuts a text between graphemes and adds an ellipsis; at most `maxLength` characters in total. */
export function cut(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  return `${begin(text, maxLength - 1)}…`;
}

/** As `cut`, for a name that is made visible; keeps the beginning and the end. */
export function cutInside(name: string, maxLength: number): string {
  // Text far from both ends will be cut anyway.
  const isLong = name.length > 4 * maxLength;
  const first = visibleText(isLong ? name.slice(0, 2 * maxLength) : name);
  if (!isLong && first.length <= maxLength) return first;
  const last = isLong ? visibleText(name.slice(-2 * maxLength)) : first;
  const kept = Math.floor((maxLength - 1) / 2);
  return `${begin(first, maxLength - 1 - kept)}…${end(last, kept)}`;
}

function begin(text: string, maxLength: number): string {
  const start = Math.max(0, maxLength - maxCharacterLength);
  const characters = charactersOf(text.slice(start, maxLength + maxCharacterLength));
  return `${text.slice(0, start)}${fitting(characters, maxLength - start).join("")}`;
}

function end(text: string, maxLength: number): string {
  const characters = charactersOf(text.slice(-maxLength - maxCharacterLength));
  return fitting(characters.toReversed(), maxLength).toReversed().join("");
}

function fitting(characters: readonly string[], maxLength: number): readonly string[] {
  let left = maxLength;
  const first = characters.findIndex((character) => (left -= character.length) < 0);
  return first < 0 ? characters : characters.slice(0, first);
}

function charactersOf(text: string): string[] {
  segmenter ??= new Intl.Segmenter();
  return [...segmenter.segment(text)].map(({ segment }) => segment);
}
