import { messageOf } from "../../base/errors.ts";
import { diagnostic, type Diagnostic } from "./diagnostics.ts";
import type { ParsedDocument } from "./source.ts";

/**
 * Returns the error for a document whose check failed unexpectedly, so that one document never prevents others
 * from being read. Rethrows errors that no text can cause, such as I/O errors of the ports.
 */
export function uncheckable(error: unknown, document: ParsedDocument): Diagnostic {
  if (!(error instanceof TypeError) && !(error instanceof RangeError)) throw error;
  const message = `Lares failed to check this document: ${messageOf(error)}. Please report this as a bug, with the document.`;
  return diagnostic("check-failed", document.locate(""), message);
}
