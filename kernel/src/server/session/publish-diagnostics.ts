import type { Diagnostic } from "vscode-languageserver";
import { supports } from "./params.ts";
import { withPositions } from "./position-encoding.ts";
import type { Session } from "./session.ts";

/** Replaces what the client shows for a document. `textOf` returns the text that the positions are of. */
export function publishDiagnostics(
  session: Session,
  uri: string,
  diagnostics: readonly Diagnostic[],
  textOf = (each: string): string | null => session.documents.text(each),
): void {
  const { documents, endpoint, positionEncoding } = session;
  const version = supports(session, "textDocument", "publishDiagnostics", "versionSupport")
    ? documents.version(uri)
    : null;
  endpoint.notifyStandard("textDocument/publishDiagnostics", {
    uri,
    ...(version === null ? {} : { version }),
    diagnostics: withPositions(diagnostics, uri, positionEncoding, "to-client", textOf),
  });
}
