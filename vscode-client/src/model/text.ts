import { plainLine, plainMessage } from "../../../kernel/src/base/plain-text.ts";

/**
 * A name or a sentence from an agent or a file, safe for a label of the editor: one line, control characters and
 * invisible ones made visible, no codicon (`$(…)`), at most `maxLength` characters.
 */
export function label(text: string, maxLength = 120): string {
  return cut(plainLine(text), maxLength).replaceAll("$(", "$ (");
}

/** As `label`, for a message of the editor, which would make links of `[text](command:…)`. */
export function message(text: string, maxLength = 300): string {
  const plain = cut(plainMessage(text), maxLength);
  // What is around it is English, and is not to be turned around with it.
  return rightToLeft.test(plain) ? `\u2068${plain}\u2069` : plain;
}

const rightToLeft = /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u;

/** So much of a text's end is looked at for where a character begins: traces are cut by the thousand. */
const maxCharacterLength = 64;
/** Made when first needed: it takes milliseconds, and most texts are short enough. */
let segmenter: Intl.Segmenter | undefined;

/** Cut between characters, with an ellipsis where something is left out; both together are `maxLength` at most. */
export function cut(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  const start = Math.max(0, maxLength - maxCharacterLength);
  segmenter ??= new Intl.Segmenter();
  const characters = [...segmenter.segment(text.slice(start, maxLength))].slice(0, -1);
  return `${text.slice(0, start)}${characters.map(({ segment }) => segment).join("")}…`;
}

/** `1 file`, `3 files`. */
export function count(amount: number, one: string, many = `${one}s`): string {
  return `${amount.toLocaleString("en")} ${amount === 1 ? one : many}`;
}

/** Made when first needed, as above. */
let relative: Intl.RelativeTimeFormat | undefined;
const steps = [
  { unit: "day", ms: 86_400_000 },
  { unit: "hour", ms: 3_600_000 },
  { unit: "minute", ms: 60_000 },
] as const;

/** `in 5 minutes`, `2 hours ago`, `just now`; an empty text for what is no time. `now` in milliseconds of the epoch. */
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
