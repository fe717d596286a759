import type { EditedDocument } from "../../base/vocabulary/editing.ts";
import type { NavigationService } from "../../services/editing.ts";
import type { Session } from "../session/session.ts";

/**
 * Returns a document that Lares reads, with the client's open text; null for other documents, and if the text is not
 * kept.
 */
export function editedDocument(
  navigation: Pick<NavigationService, "handles">,
  session: Session,
  uri: string | null,
): EditedDocument | null {
  const text = uri === null || !navigation.handles(uri) ? null : session.documents.text(uri);
  return uri === null || text === null ? null : { uri, text };
}
