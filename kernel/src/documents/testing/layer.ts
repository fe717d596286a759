import { LaresError } from "../../base/errors.ts";
import type { LaresDocument } from "../schema/lares.ts";
import type { Layer } from "../resolve.ts";
import { type Diagnostic, hasErrors } from "../text/diagnostics.ts";
import type { ParsedDocument } from "../text/source.ts";

/** Throws with the errors of a document that cannot be used as a layer. */
export function layerOf(
  file: string,
  checked: { value: LaresDocument | null; diagnostics: readonly Diagnostic[]; document: ParsedDocument },
): Layer {
  if (checked.value === null || hasErrors(checked.diagnostics)) {
    throw new LaresError("InvalidDocument", `${file} has errors. Fix them first.`, {
      diagnostics: checked.diagnostics,
    });
  }
  return { file, value: checked.value, document: checked.document };
}
