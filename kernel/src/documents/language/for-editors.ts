import { formatOf } from "../text/parse.ts";
import { assemble, documentLimits, type ParsedDocument } from "../text/source.ts";
import { readingOf } from "./reading.ts";

/**
 * Reads a document that is being typed, with the places of its parts, as far as possible. Returns nothing for a
 * text beyond the bounds of documents. Never throws.
 */
export async function readForEditor(text: string, file: string): Promise<ParsedDocument> {
  const format = formatOf(file) ?? "yaml";
  // Even counting the lines of such a text would block the event loop.
  if (text.length > documentLimits.characters) return assemble("", format, null, []);
  return assemble(text, format, await readingOf(text, format), []);
}
