import type { Diagnostic, DiagnosticSeverity } from "vscode-languageserver";
import type { DocumentFault } from "../../base/vocabulary/editing.ts";

const severities: Readonly<Record<DocumentFault["severity"], DiagnosticSeverity>> = {
  error: 1,
  warning: 2,
  information: 3,
  hint: 4,
};

/** Returns a fault as an LSP diagnostic. */
export function diagnosticOf({ range, severity, code, message }: DocumentFault): Diagnostic {
  return { range, severity: severities[severity], code, source: "lares", message };
}
