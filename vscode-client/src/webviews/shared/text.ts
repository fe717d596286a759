import { plainLine, plainText } from "../../../../kernel/src/base/plain-text.ts";

/** Characters of foreign text on one line of a view. */
const maxLineCharacters = 400;
/** Maximum characters of foreign text that is shown in full. */
const maxBlockCharacters = 20_000;

/**
 * Returns text of an extension, a file or a trace on one line: control codes have no effect, and every character is
 * visible.
 */
export function line(text: string, maxCharacters = maxLineCharacters): string {
  return cut(plainLine(text.slice(0, maxCharacters * 2)), maxCharacters);
}

/** As `line`, but keeps line breaks. */
export function block(text: string, maxCharacters = maxBlockCharacters): string {
  return cut(plainText(text.slice(0, maxCharacters * 2)), maxCharacters);
}

/** As `block`, for text that was bounded before: all of it, also where its marks are longer than its characters. */
export function whole(text: string): string {
  return plainText(text);
}

/** The number of members that a one-line summary of a value names. */
const maxNamedMembers = 6;

/** Summarizes a value on one line: its text, its members with their values, or its JSON. */
export function summaryOf(value: unknown): string {
  if (typeof value === "string") return line(value);
  if (typeof value !== "object" || value === null || Array.isArray(value)) return line(jsonOf(value));
  const members = Object.entries(value);
  const [[, only] = []] = members;
  if (members.length === 1 && typeof only === "string") return line(only);
  const named = members
    .slice(0, maxNamedMembers)
    .map(([name, member]) =>
      `${name}: ${typeof member === "string" ? member : jsonOf(member)}`.slice(0, 400),
    );
  return line([...named, ...(members.length > maxNamedMembers ? ["…"] : [])].join(" · "));
}

/** Returns JSON on one line; for values that JSON cannot represent, their text. */
export function jsonOf(value: unknown, indent?: number): string {
  return JSON.stringify(value, null, indent) ?? String(value);
}

function cut(text: string, maxCharacters: number): string {
  if (text.length <= maxCharacters) return text;
  return `${text.slice(0, maxCharacters - 1).toWellFormed()}…`;
}
