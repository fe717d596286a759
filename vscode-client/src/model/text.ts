import { plainLine } from "../../../kernel/src/base/plain-text.ts";
import { visibleText } from "../../../kernel/src/base/visible-text.ts";

/**
 * Makes foreign text safe for everything that the editor draws: labels, lists, lenses, messages. Some of them draw
 * `$(name)` as an icon, others turn `[text](command:…)` into a link and thereby a command. The bracket is shown by its
 * code instead, which the text cannot imitate.
 */
export function inert(text: string): string {
  return text.replaceAll("$(", "$<U+0028>").replaceAll("](", "]<U+0028>");
}

/** The longest id of an agent or a shared memory, so that ids are never cut. */
const maxLabelCharacters = 128;

/**
 * Returns a name (of a file, an agent, a job, a tag) for any list, label or message of the editor. Every character is
 * visible, including line breaks and blanks at the end. A long name is cut in the middle, because names that differ at
 * the end begin alike; at most `maxLength` characters.
 */
export function label(text: string, maxLength = maxLabelCharacters): string {
  return isolated(inert(cutInside(text, maxLength)));
}

/** As `label`, for a page, where every text is drawn as text. */
export function pageLabel(text: string, maxLength = maxLabelCharacters): string {
  return isolated(cutInside(text, maxLength));
}

/**
 * Returns foreign text as one line: control characters are visible, line breaks become blanks. Text that has passed
 * through here before, as part of an error, stays unchanged.
 */
export function message(text: string, maxLength = 300): string {
  return isolated(inert(cut(plainLine(text.replaceAll(ownIsolate, "$1")).trim(), maxLength)));
}

/** Matches a result of `isolated`; nothing in it changes the direction. */
const ownIsolate = /\u2068([^\u202a-\u202e\u2066-\u2069]*)\u2069/g;

/** Isolated, so that the English text around it keeps its direction. */
function isolated(text: string): string {
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
function cutInside(name: string, maxLength: number): string {
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

/** Formats `1 file`, `3 files`. */
export function count(amount: number, one: string, many = `${one}s`): string {
  return `${amount.toLocaleString("en")} ${amount === 1 ? one : many}`;
}

/** Created on first use, as above. */
let relative: Intl.RelativeTimeFormat | undefined;
const steps = [
  { unit: "day", ms: 86_400_000 },
  { unit: "hour", ms: 3_600_000 },
  { unit: "minute", ms: 60_000 },
] as const;

/**
 * Formats `in 5 minutes`, `2 hours ago`, `just now`; empty if it is not a time. `now`: milliseconds since the epoch.
 */
export function when(timestamp: string, now: number): string {
  const at = Date.parse(timestamp);
  if (Number.isNaN(at)) return "";
  const away = at - now;
  const step = steps.find(({ ms }) => Math.abs(away) >= ms);
  if (step !== undefined) {
    relative ??= new Intl.RelativeTimeFormat("en", { numeric: "auto", style: "long" });
    return relative.format(Math.round(away / step.ms), step.unit);
  }
  return away > 0 ? "in less than a minute" : "just now";
}

/** Returns `10:41` for the same day, `21 Nov, 10:41` for another, in this machine's zone; empty if it is not a time. */
export function clockTime(timestamp: string, now: number): string {
  const at = new Date(timestamp);
  if (Number.isNaN(at.getTime())) return "";
  const time = at.toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" });
  if (at.toDateString() === new Date(now).toDateString()) return time;
  return `${at.toLocaleDateString("en-GB", { day: "numeric", month: "short" })}, ${time}`;
}
