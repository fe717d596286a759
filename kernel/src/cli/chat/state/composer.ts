import { maxMessageCharacters } from "../../../base/vocabulary/bounds.ts";
import type { Key } from "../../keyboard/key.ts";

const maxHistory = 200;
const graphemes = new Intl.Segmenter(undefined, { granularity: "grapheme" });

/** The text that the person is writing. */
export interface Composer {
  readonly text: string;
  /** The place of the cursor, in UTF-16 units. */
  readonly cursor: number;
  /** Sent messages, oldest first. */
  readonly history: readonly string[];
  /** The place in the history that is shown; null: what is being written. */
  readonly recalled: number | null;
  /** The draft at the time the history was opened. */
  readonly draft: string;
}

export const emptyComposer: Composer = { text: "", cursor: 0, history: [], recalled: null, draft: "" };

export function withText(composer: Composer, text: string, cursor = text.length): Composer {
  return {
    ...composer,
    text: text.slice(0, maxMessageCharacters),
    cursor: Math.min(cursor, maxMessageCharacters),
  };
}

export function insert(composer: Composer, text: string): Composer {
  const { text: before, cursor } = composer;
  const inserted = before.slice(0, cursor) + text + before.slice(cursor);
  return { ...withText(composer, inserted, cursor + text.length), recalled: null };
}

/** Returns the composer after its text was sent. */
export function sent(composer: Composer): Composer {
  const text = composer.text.trim();
  const history =
    text === "" || composer.history.at(-1) === text
      ? composer.history
      : [...composer.history, text].slice(-maxHistory);
  return { ...emptyComposer, history };
}

/** Returns the composer after a text was sent that is not kept. */
export function sentUnkept({ history }: Composer): Composer {
  return { ...emptyComposer, history };
}

/** Returns the composer without the sent messages that have a text. */
export function without(composer: Composer, text: string): Composer {
  return { ...composer, history: composer.history.filter((each) => !each.includes(text)), recalled: null };
}

/** Returns the composer after a key; null for a key that it does not know. */
export function typed(composer: Composer, key: Key): Composer | null {
  const { text, cursor } = composer;
  if (key.text !== "") return insert(composer, key.text);
  const at = (place: number): Composer => ({ ...composer, cursor: place });
  const without = (from: number, to: number): Composer => ({
    ...withText(composer, text.slice(0, from) + text.slice(to), from),
    recalled: null,
  });
  const isWord = key.isMeta === true || key.isControl;
  switch (key.name) {
    case "left":
      return at(isWord ? wordBefore(text, cursor) : before(text, cursor));
    case "right":
      return at(isWord ? wordBehind(text, cursor) : behind(text, cursor));
    case "home":
      return at(lineStart(text, cursor));
    case "end":
      return at(lineEnd(text, cursor));
    case "backspace":
      return without(key.isMeta === true ? wordBefore(text, cursor) : before(text, cursor), cursor);
    case "delete":
      return without(cursor, behind(text, cursor));
    case "up":
      return upOrDown(composer, -1);
    case "down":
      return upOrDown(composer, 1);
  }
  if (key.isControl)
    switch (key.name) {
      case "a":
        return at(lineStart(text, cursor));
      case "e":
        return at(lineEnd(text, cursor));
      case "u":
        return without(lineStart(text, cursor), cursor);
      case "k":
        return without(cursor, lineEnd(text, cursor));
      case "w":
        return without(wordBefore(text, cursor), cursor);
      case "h":
        return without(before(text, cursor), cursor);
      case "j":
        return insert(composer, "\n");
    }
  if (key.isMeta === true)
    switch (key.name) {
      case "b":
        return at(wordBefore(text, cursor));
      case "f":
        return at(wordBehind(text, cursor));
    }
  return null;
}

/** Moves between the lines of the text, and beyond its first and last one through the history. */
function upOrDown(composer: Composer, step: -1 | 1): Composer {
  const { text, cursor } = composer;
  const start = lineStart(text, cursor);
  const end = lineEnd(text, cursor);
  const column = cursor - start;
  if (step < 0 && start > 0) {
    const above = lineStart(text, start - 1);
    return { ...composer, cursor: Math.min(above + column, start - 1) };
  }
  if (step > 0 && end < text.length)
    return { ...composer, cursor: Math.min(end + 1 + column, lineEnd(text, end + 1)) };
  return recalled(composer, step);
}

function recalled(composer: Composer, step: -1 | 1): Composer {
  const { history, recalled: place, text, draft } = composer;
  const next = (place ?? history.length) + step;
  if (next < 0 || (place === null && step > 0)) return composer;
  if (next >= history.length) return { ...withText(composer, draft), recalled: null, draft: "" };
  return {
    ...withText(composer, history[next] ?? ""),
    recalled: next,
    draft: place === null ? text : draft,
  };
}

function before(text: string, place: number): number {
  // One grapheme is never longer than this in practice.
  const from = Math.max(0, place - 64);
  return place - (Array.from(graphemes.segment(text.slice(from, place))).at(-1)?.segment.length ?? 0);
}

function behind(text: string, place: number): number {
  const [first] = graphemes.segment(text.slice(place, place + 64));
  return place + (first?.segment.length ?? 0);
}

function wordBefore(text: string, place: number): number {
  return text
    .slice(0, place)
    .trimEnd()
    .search(/(?<!\S)\S*$/);
}

function wordBehind(text: string, place: number): number {
  return place + (/^\s*\S*/.exec(text.slice(place))?.[0].length ?? 0);
}

function lineStart(text: string, place: number): number {
  return text.lastIndexOf("\n", place - 1) + 1;
}

function lineEnd(text: string, place: number): number {
  const end = text.indexOf("\n", place);
  return end === -1 ? text.length : end;
}
