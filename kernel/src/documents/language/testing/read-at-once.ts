import { formatOf } from "../../text/parse.ts";
import { assemble, type ParsedDocument } from "../../text/source.ts";
import { readLeniently } from "../reading.ts";

/** Reads like `readForEditor`, but synchronously. */
export function readAtOnce(text: string, file: string): ParsedDocument {
  const format = formatOf(file) ?? "yaml";
  return assemble(text, format, readLeniently(text, format), []);
}
