import { oneLine } from "./foreign.ts";
import { counted } from "./quantities.ts";
import type { Style, Surface } from "./style.ts";

type Severity = "error" | "warning" | "information" | "hint";

/** An error in a document. Lines and columns count from 1. */
export interface Finding {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly severity: Severity;
  readonly code: string;
  readonly message: string;
}

/** Renders file:line:column  code  message — on one line, for editors and grep. */
export function renderFinding(finding: Finding, { style }: Surface): string {
  const place = `${oneLine(finding.file)}:${finding.line}:${finding.column}`;
  return `${place}  ${colourOf(finding.severity, style)(oneLine(finding.code))}  ${oneLine(finding.message)}`;
}

function colourOf(severity: Severity, style: Style): (text: string) => string {
  if (severity === "error") return style.red;
  return severity === "warning" ? style.yellow : style.blue;
}

/** Returns the last line of `lares check`. */
export function renderCheckResult(
  documents: number,
  findings: readonly Finding[],
  { style }: Surface,
): string {
  const errors = findings.filter(({ severity }) => severity === "error").length;
  const warnings = findings.filter(({ severity }) => severity === "warning").length;
  const where = `in ${counted(documents, "document")}`;
  if (errors > 0) return style.red(`✗ ${counted(errors, "error")}, ${counted(warnings, "warning")} ${where}`);
  if (warnings > 0) return style.yellow(`! ${counted(warnings, "warning")} ${where}`);
  return style.green(`✓ no faults ${where}`);
}
