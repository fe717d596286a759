import { formatOf } from "../../parse.ts";
import { assemble, type ParsedDocument } from "../../source.ts";
import { readLeniently } from "../reading.ts";

/** As `readForEditor`, without turns of the event loop in between. */
export function readAtOnce(text: string, file: string): ParsedDocument {
  const format = formatOf(file) ?? "yaml";
  return assemble(text, format, readLeniently(text, format), []);
}
