import { plainLine, plainText } from "../../base/plain-text.ts";

/**
 * What came from an extension or a file, made safe for a terminal: no control codes, no text that changes direction.
 * Everything in this folder takes foreign text through one of these two, and never prints it otherwise.
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
