import { plainLine } from "../../../kernel/src/base/plain-text.ts";
import { cut, cutInside, isolated, maxLabelCharacters } from "../webviews/shared/label.ts";

/**
 * Makes foreign text safe for everything that the editor draws: labels, lists, lenses, messages. Some of them draw
 * `$(name)` as an icon, others turn `[text](command:…)` into a link and thereby a command. The bracket is shown by its
 * code instead, which the text cannot imitate.
 */
export function inert(text: string): string {
  return text.replaceAll("$(", "$<U+0028>").replaceAll("](", "]<U+0028>");
}

/**
 * Returns a name (of a file, an agent, a job, a tag) for any list, label or message of the editor. Every character is
 * visible, including line breaks and blanks at the end. A long name is cut in the middle, because names that differ at
 * the end begin alike; at most `maxLength` characters.
 */
export function label(text: string, maxLength = maxLabelCharacters): string {
  return isolated(inert(cutInside(text, maxLength)));
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
