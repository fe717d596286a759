import type { WorkspaceEdit } from "vscode-languageserver";
import type { Session } from "../session/session.ts";
import { supports } from "../session/params.ts";
import type { FileEdits } from "../../base/vocabulary/editing.ts";

/** Returns the edits of several files; with the document versions they apply to, if the client supports that. */
export function workspaceEdit(session: Session, files: readonly FileEdits[]): WorkspaceEdit {
  if (!supports(session, "workspace", "workspaceEdit", "documentChanges"))
    return { changes: Object.fromEntries(files.map(({ uri, edits }) => [uri, [...edits]])) };
  return {
    documentChanges: files.map(({ uri, edits }) => ({
      textDocument: { uri, version: session.documents.version(uri) },
      edits: [...edits],
    })),
  };
}
