import { isJsonObject } from "../base/json.ts";
import { contentChangesOf } from "../base/text-positions.ts";
import type { Endpoint } from "../protocol/v1/endpoint.ts";
import type { DocumentDiagnostics } from "./diagnostics.ts";
import type { OpenDocuments } from "./session/open-documents.ts";

export type TextChange = "opened" | "changed" | "saved" | "closed";

/**
 * Handles `textDocument/did*`: keeps the client's open documents in step with the client. Invalid params are ignored.
 */
export function synchronizeDocuments(
  endpoint: Endpoint,
  documents: OpenDocuments,
  diagnostics: DocumentDiagnostics,
  textOnDisk: (uri: string) => Promise<string | null>,
  /** Called after each of them with the document's URI. */
  textChanged: (uri: string, how: TextChange) => void,
): void {
  endpoint.onNotification("textDocument/didOpen", (params) => {
    const { uri, text, version } = documentIn(params);
    if (uri === null || typeof text !== "string") return;
    // A front says so of a document that it gave to another kernel before.
    const isContinued = isJsonObject(params) && params["continued"] === true;
    documents.open(uri, text, textOnDisk(uri), { version, isContinued });
    diagnostics.changed(uri);
    diagnostics.otherTextChanged(uri);
    textChanged(uri, "opened");
  });
  endpoint.onNotification("textDocument/didChange", (params) => {
    const { uri, version } = documentIn(params);
    const changes = contentChangesOf(params);
    if (uri === null || changes === null) return;
    documents.change(uri, changes, version);
    diagnostics.changed(uri);
    diagnostics.otherTextChanged(uri);
    textChanged(uri, "changed");
  });
  endpoint.onNotification("textDocument/didSave", (params) => {
    const { uri } = documentIn(params);
    if (uri === null) return;
    documents.save(uri);
    diagnostics.otherTextChanged(uri);
    textChanged(uri, "saved");
  });
  endpoint.onNotification("textDocument/didClose", (params) => {
    const { uri } = documentIn(params);
    if (uri === null) return;
    documents.close(uri);
    diagnostics.closed(uri);
    diagnostics.otherTextChanged(uri);
    textChanged(uri, "closed");
  });
}

function documentIn(params: unknown): { uri: string | null; text: unknown; version: number | null } {
  const document = isJsonObject(params) ? params["textDocument"] : null;
  if (!isJsonObject(document) || typeof document["uri"] !== "string")
    return { uri: null, text: null, version: null };
  const { uri, text, version } = document;
  return { uri, text, version: Number.isInteger(version) ? (version as number) : null };
}
