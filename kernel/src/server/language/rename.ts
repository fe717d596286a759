import type { WorkspaceEdit } from "vscode-languageserver";
import { invalidParams } from "../../base/errors.ts";
import { isJsonObject } from "../../base/json.ts";
import type { StandardHandlers } from "../session/standard-requests.ts";
import type { Session } from "../session/session.ts";
import { editedDocument } from "./edited-document.ts";
import { documentPositionOf } from "../session/params.ts";
import type { EditedDocument } from "../../base/vocabulary/editing.ts";
import type { NavigationService } from "../../services/editing.ts";
import { workspaceEdit } from "./workspace-edit.ts";

/**
 * `textDocument/prepareRename` and `rename`: renames a handler in its manifest and its program, from either of them.
 * Renames of anything else in a program are left to the language server of that language.
 */
export function renameHandlers(navigation: NavigationService): StandardHandlers {
  return {
    "textDocument/prepareRename": (params, session) => {
      const at = documentPositionOf(params);
      const document = documentToRenameIn(navigation, session, at?.uri ?? null);
      return at === null || document === null
        ? null
        : navigation.prepareRename(document, at.position, session.documents);
    },
    "textDocument/rename": (params, session) => renameOf(navigation, params, session),
  };
}

async function renameOf(
  navigation: NavigationService,
  params: unknown,
  session: Session,
): Promise<WorkspaceEdit | null> {
  const at = documentPositionOf(params);
  const document = documentToRenameIn(navigation, session, at?.uri ?? null);
  const newName = isJsonObject(params) ? params["newName"] : undefined;
  if (at === null || document === null || typeof newName !== "string") return null;
  const files = await navigation.rename(document, at.position, newName, session.documents);
  // An editor that uses several servers asks the next one after null.
  if (files === null && !navigation.handles(document.uri)) return null;
  if (files === null)
    throw invalidParams("There is nothing to rename at this position. Select the name of a handler.");
  return workspaceEdit(session, files);
}

function documentToRenameIn(
  navigation: NavigationService,
  session: Session,
  uri: string | null,
): EditedDocument | null {
  return editedDocument({ handles: (file) => navigation.renames(file) }, session, uri);
}
