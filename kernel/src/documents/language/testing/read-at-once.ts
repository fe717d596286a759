import { formatOf } from "../../text/parse.ts";
import { assemble, type DocumentFormat, type ParsedDocument } from "../../text/source.ts";
import { atOnce } from "../../text/turns.ts";
import { type CursorContext, cursorSteps } from "../cursor.ts";
import { type LenientReading, readingSteps } from "../reading.ts";

/** Reads as much of a document as possible synchronously; see {@link readingSteps}. */
export function readLeniently(text: string, format: DocumentFormat): LenientReading | null {
  return atOnce(readingSteps(text, format));
}

/** Finds the cursor synchronously; see {@link cursorSteps}. */
export function cursorContext(source: string, offset: number, format: DocumentFormat): CursorContext | null {
  return atOnce(cursorSteps(source, offset, format));
}

/** Reads like `readForEditor`, but synchronously. */
export function readAtOnce(text: string, file: string): ParsedDocument {
  const format = formatOf(file) ?? "yaml";
  return assemble(text, format, readLeniently(text, format), []);
}
