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

/** Members that are named where a value is told on one line. */
const maxNamedMembers = 6;

/** What a value says of itself on one line: its text, what its members are called and say, or its JSON. */
export function summaryOf(value: unknown): string {
  if (typeof value === "string") return line(value);
  if (typeof value !== "object" || value === null || Array.isArray(value)) return line(jsonOf(value));
  const members = Object.entries(value);
  const [[, only] = []] = members;
  if (members.length === 1 && typeof only === "string") return line(only);
  const told = members
    .slice(0, maxNamedMembers)
    .map(([name, member]) =>
      `${name}: ${typeof member === "string" ? member : jsonOf(member)}`.slice(0, 400),
    );
  return line([...told, ...(members.length > maxNamedMembers ? ["…"] : [])].join(" · "));
}

/** JSON on one line; what JSON has no word for is said. */
export function jsonOf(value: unknown, indent?: number): string {
  return JSON.stringify(value, null, indent) ?? String(value);
}

function cut(text: string, maxCharacters: number): string {
  if (text.length <= maxCharacters) return text;
  return `${text.slice(0, maxCharacters - 1).toWellFormed()}…`;
}
