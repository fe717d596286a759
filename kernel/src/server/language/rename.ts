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
 * `textDocument/prepareRename` and `rename`: another name for a handler, in its manifest and its program, asked for in
 * either. All else in a program is left to its own language's server.
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
  // Where an editor asks several servers, the next one is asked.
  if (files === null && !navigation.handles(document.uri)) return null;
  if (files === null)
    throw invalidParams("What stands here has no name that can be changed; handlers have one.");
  return workspaceEdit(session, files);
}

function documentToRenameIn(
  navigation: NavigationService,
  session: Session,
  uri: string | null,
): EditedDocument | null {
  return editedDocument({ handles: (file) => navigation.renames(file) }, session, uri);
}
