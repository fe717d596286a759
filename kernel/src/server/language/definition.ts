import type { Location, LocationLink } from "vscode-languageserver";
import type { StandardHandlers } from "../session/standard-requests.ts";
import type { Session } from "../session/session.ts";
import { editedDocument } from "./edited-document.ts";
import { documentPositionOf, supports } from "../session/params.ts";
import type { NavigationService } from "../../services/editing.ts";

/** `textDocument/definition`: leads from a handler's name to its function, and from an extension to its manifest. */
export function definitionHandlers(navigation: NavigationService): StandardHandlers {
  return { "textDocument/definition": (params, session) => definitionOf(navigation, params, session) };
}

async function definitionOf(
  navigation: NavigationService,
  params: unknown,
  session: Session,
): Promise<LocationLink[] | Location[] | null> {
  const at = documentPositionOf(params);
  const document = editedDocument(navigation, session, at?.uri ?? null);
  if (at === null || document === null) return null;
  const found = await navigation.definition(document, at.position, session.documents);
  return supports(session, "textDocument", "definition", "linkSupport")
    ? found.map(({ origin, uri, range }) => ({
        originSelectionRange: origin,
        targetUri: uri,
        targetRange: range,
        targetSelectionRange: range,
      }))
    : found.map(({ uri, range }) => ({ uri, range }));
}
