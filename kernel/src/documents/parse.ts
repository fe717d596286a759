import { messageOf } from "../base/errors.ts";
import {
  assemble,
  documentLimits,
  Faults,
  TooComplex,
  type DocumentFormat,
  type ParsedDocument,
} from "./source.ts";
import { readToml } from "./toml.ts";
import { readYaml } from "./yaml.ts";

/** YAML or TOML by the file's name; undefined for any other. */
export function formatOf(file: string): DocumentFormat | undefined {
  if (/\.ya?ml$/i.test(file)) return "yaml";
  return /\.toml$/i.test(file) ? "toml" : undefined;
}

/** Reads a document of either format into the same value, with the place of every part of it. Never throws. */
export function parseDocument(text: string, format: DocumentFormat): ParsedDocument {
  const faults = new Faults(text.length > documentLimits.characters ? "" : text);
  if (text.length > documentLimits.characters) {
    faults.report(
      "document-too-large",
      0,
      0,
      `The document has more than ${documentLimits.characters} characters; no more are read.`,
    );
    return assemble("", format, null, faults.found);
  }
  try {
    const reading = format === "yaml" ? readYaml(text, faults.report) : readToml(text, faults.report);
    return assemble(text, format, reading, faults.found);
  } catch (error) {
    if (error instanceof TooComplex) {
      faults.report("document-too-complex", 0, 0, `The document is ${error.message}.`);
    } else if (error instanceof RangeError) {
      // The parsers recurse; what exhausts the stack is nested beyond any bound of ours.
      faults.report(
        "document-too-complex",
        0,
        0,
        "The document is nested too deeply, or has too long a string.",
      );
    } else {
      faults.report("syntax", 0, 0, `The document cannot be read: ${messageOf(error)}`);
    }
    return assemble(text, format, null, faults.found);
  }
}
