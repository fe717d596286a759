import { formatOf } from "../parse.ts";
import { assemble, type ParsedDocument } from "../source.ts";
import { readingOf } from "./reading.ts";

/** A document with the places of all its parts, as far as a text that is being typed can be read. Never throws. */
export async function readForEditor(text: string, file: string): Promise<ParsedDocument> {
  const format = formatOf(file) ?? "yaml";
  return assemble(text, format, await readingOf(text, format), []);
}
