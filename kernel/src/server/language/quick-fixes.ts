import type { CodeAction } from "vscode-languageserver";
import { isJsonObject } from "../../base/json.ts";
import type { Session } from "../session/session.ts";
import { editedDocument } from "./edited-document.ts";
import { diagnosticOf } from "../session/faults.ts";
import { capability, documentRangeOf } from "../session/params.ts";
import type { NavigationService } from "../../services/editing.ts";
import { workspaceEdit } from "./workspace-edit.ts";

/** Maximum number of fixes in one answer, because a range may contain many faults. */
const maxFixes = 50;

/**
 * `textDocument/codeAction`: fixes for the faults in the range. The document is checked again, because the client may
 * show diagnostics of an older text.
 */
export async function quickFixes(
  navigation: NavigationService,
  params: unknown,
  session: Session,
): Promise<CodeAction[]> {
  const at = documentRangeOf(params);
  const document = editedDocument(navigation, session, at?.uri ?? null);
  if (at === null || document === null || !isRequested(params)) return [];
  // Older editors support commands only.
  if (!isJsonObject(capability(session, "textDocument", "codeAction", "codeActionLiteralSupport"))) return [];
  const fixes = await navigation.fixes(document, at.range, session.documents);
  return fixes.slice(0, maxFixes).map(({ title, edits, isPreferred, fault }) => ({
    title,
    kind: "quickfix",
    diagnostics: [diagnosticOf(fault)],
    ...(isPreferred ? { isPreferred } : {}),
    edit: workspaceEdit(session, [{ uri: document.uri, edits }]),
  }));
}

/** Kinds are hierarchical. Without kinds, all are requested. */
function isRequested(params: unknown): boolean {
  const context = isJsonObject(params) ? params["context"] : null;
  const only = isJsonObject(context) ? context["only"] : undefined;
  return !Array.isArray(only) || only.some((kind) => kind === "" || kind === "quickfix");
}
