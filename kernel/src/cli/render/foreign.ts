import { plainLine, plainText } from "../../base/plain-text.ts";

/**
 * Makes text from an extension or a file safe for a terminal: no control codes, no characters that change direction.
 * All code in this folder prints foreign text only through one of these two functions.
 */
export function oneLine(text: string): string {
  return plainLine(text).trim();
}

export function manyLines(text: string): string[] {
  return text
    .replace(/\r\n?/g, "\n")
    .split("\n")
    .map((line) => plainText(line.replaceAll("\t", "    ")));
}
