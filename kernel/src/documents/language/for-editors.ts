import { formatOf } from "../text/parse.ts";
import { assemble, documentLimits, type ParsedDocument } from "../text/source.ts";
import { readingOf } from "./reading.ts";

/**
 * A document with the places of all its parts, as far as a text that is being typed can be read: nothing of one beyond
 * the bounds of documents. Never throws.
 */
export async function readForEditor(text: string, file: string): Promise<ParsedDocument> {
  const format = formatOf(file) ?? "yaml";
  // Also to count its lines holds up everybody else.
  if (text.length > documentLimits.characters) return assemble("", format, null, []);
  return assemble(text, format, await readingOf(text, format), []);
}
