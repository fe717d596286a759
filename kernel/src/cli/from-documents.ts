import type { Diagnostic } from "../documents/diagnostics.ts";
import type { ResolvedConfiguration } from "../documents/resolve.ts";
import { valueAt } from "../documents/source.ts";
import type { ExplainedValue } from "./ports.ts";
import type { Finding } from "./render/findings.ts";

/** A diagnostic of a document as `lares check` prints it: counted from 1. */
export function findingOf(file: string, { severity, code, message, range }: Diagnostic): Finding {
  return { file, line: range.start.line + 1, column: range.start.character + 1, severity, code, message };
}

/** Every setting of a resolved configuration with where it came from, in the order of the document. */
export function explainedOf({ merged, origins }: ResolvedConfiguration): ExplainedValue[] {
  return [...origins]
    .map(([pointer, { source, file, range }]) => ({
      key: keyOf(pointer),
      value: valueAt(merged, pointer),
      source,
      place: file === undefined ? "" : range === undefined ? file : `${file}:${range.start.line + 1}`,
    }))
    .toSorted((a, b) => a.key.localeCompare(b.key, "en", { numeric: true }));
}

/** "/extensions/0" → "extensions[0]" */
function keyOf(pointer: string): string {
  return pointer
    .slice(1)
    .split("/")
    .map((part, index) => (/^\d+$/.test(part) ? `[${part}]` : index === 0 ? part : `.${part}`))
    .join("");
}
