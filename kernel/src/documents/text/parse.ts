import { messageOf } from "../../base/errors.ts";
import { checkCharacters } from "./characters.ts";
import { plainReading } from "./plain-values.ts";
import {
  assemble,
  documentLimits,
  Faults,
  TooComplex,
  type DocumentFormat,
  type ParsedDocument,
} from "./source.ts";
import { readToml } from "./toml.ts";
import { atOnce, inTurns, type Steps } from "./turns.ts";
import { readYaml } from "./yaml.ts";

/** Returns the format for a file's name; undefined if it is neither YAML nor TOML. */
export function formatOf(file: string): DocumentFormat | undefined {
  if (/\.ya?ml$/i.test(file)) return "yaml";
  return /\.toml$/i.test(file) ? "toml" : undefined;
}

/** Reads a document and yields to the event loop meanwhile. Never throws. */
export function parseInTurns(text: string, format: DocumentFormat): Promise<ParsedDocument> {
  return inTurns(parseSteps(text, format));
}

/** Reads a document synchronously. For texts known to be short. Never throws. */
export function parseDocument(text: string, format: DocumentFormat): ParsedDocument {
  return atOnce(parseSteps(text, format));
}

/** Reads a document of either format into the same value, with the place of every part. */
function* parseSteps(text: string, format: DocumentFormat): Steps<ParsedDocument> {
  const { characters } = documentLimits;
  const isTooLong = text.length > characters;
  const faults = new Faults(isTooLong ? "" : text);
  const { report, found } = faults;
  if (isTooLong) {
    report(
      "document-too-large",
      0,
      0,
      `The document has more than ${characters} characters; no more are read.`,
    );
    return assemble("", format, null, found);
  }
  if (!checkCharacters(text, format, report)) return assemble(text, format, null, found);
  try {
    const reading = yield* format === "yaml" ? readYaml(text, report) : readToml(text, report);
    yield;
    return assemble(text, format, reading && plainReading(reading, report), found);
  } catch (error) {
    if (error instanceof TooComplex) {
      report("document-too-complex", 0, 0, `The document is ${error.message}.`);
    } else if (error instanceof RangeError) {
      // The parsers are recursive; a text that exhausts the stack is nested beyond every bound.
      report("document-too-complex", 0, 0, "The document is nested too deeply, or has too long a string.");
    } else {
      report("syntax", 0, 0, `The document cannot be read: ${messageOf(error)}`);
    }
    return assemble(text, format, null, found);
  }
}
