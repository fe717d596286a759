import { messageOf } from "../../base/errors.ts";
import { diagnostic, type Diagnostic } from "./diagnostics.ts";
import type { ParsedDocument } from "./source.ts";

/**
 * Returns the fault of a document over which a check stumbled, so that one document never keeps others from being read.
 * Throws what no text can cause: errors of the ports, such as those of the disk, go on to the caller.
 */
export function uncheckable(error: unknown, document: ParsedDocument): Diagnostic {
  if (!(error instanceof TypeError) && !(error instanceof RangeError)) throw error;
  const message = `Lares failed to check this document: ${messageOf(error)}. Please report this as a bug, with the document.`;
  return diagnostic("check-failed", document.locate(""), message);
}
