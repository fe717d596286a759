import { plainLine, plainText } from "../../../../kernel/src/base/plain-text.ts";

/** Characters of a stranger's text on one line of a view. */
const maxLineCharacters = 400;
/** Characters of a stranger's text where all of it is looked at. */
const maxBlockCharacters = 20_000;

/** Text of an extension, a file or a trace on one line: nothing in it is obeyed, and nothing of it is invisible. */
export function line(text: string, maxCharacters = maxLineCharacters): string {
  return cut(plainLine(text.slice(0, maxCharacters * 2)), maxCharacters);
}

/** As `line`, with its line breaks. */
export function block(text: string, maxCharacters = maxBlockCharacters): string {
  return cut(plainText(text.slice(0, maxCharacters * 2)), maxCharacters);
}

/** What a value says of itself on one line: its text, or its JSON. */
export function summaryOf(value: unknown): string {
  if (typeof value === "string") return line(value);
  if (typeof value === "object" && value !== null && !Array.isArray(value)) {
    const told = Object.values(value).find((member) => typeof member === "string" && member.length > 0);
    if (Object.keys(value).length === 1 && typeof told === "string") return line(told);
  }
  return line(jsonOf(value));
}

/** JSON on one line; what JSON has no word for is said. */
export function jsonOf(value: unknown, indent?: number): string {
  return JSON.stringify(value, null, indent) ?? String(value);
}

function cut(text: string, maxCharacters: number): string {
  if (text.length <= maxCharacters) return text;
  return `${text.slice(0, maxCharacters - 1).toWellFormed()}…`;
}
