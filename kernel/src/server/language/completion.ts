import type { CompletionItem, CompletionItemKind, CompletionList } from "vscode-languageserver";
import { isJsonObject } from "../../base/json.ts";
import { plainLine } from "../../base/plain-text.ts";
import type { CompletionProposal } from "../../base/vocabulary/editing.ts";
import type { Services } from "../../services/ports.ts";
import type { Session } from "../session/session.ts";
import type { StandardHandlers } from "../session/standard-requests.ts";
import { markup } from "./markup.ts";
import { capability, documentPositionOf, supports } from "../session/params.ts";

/** `textDocument/completion` in the documents that Lares reads; null in all others. */
export function completionHandlers({ authoring }: Services): StandardHandlers {
  return {
    "textDocument/completion": async (params, session): Promise<CompletionList | null> => {
      const place = documentPositionOf(params);
      const text = place === null ? null : session.documents.text(place.uri);
      if (place === null || text === null) return null;
      const client = { snippets: hasSnippets(session) };
      const document = { uri: place.uri, text };
      const answer = await authoring.complete(document, place.position, client, session.documents);
      if (answer === null) return null;
      const shape = shapeFor(session);
      return {
        isIncomplete: answer.isIncomplete,
        items: answer.items.map((proposal, index) => itemOf(proposal, index, shape)),
      };
    },
  };
}

interface Shape {
  readonly isMarkdown: boolean;
  /** The client can be told to keep the indentation of inserted text. */
  readonly canInsertAsIs: boolean;
}

const completionItem = ["textDocument", "completion", "completionItem"] as const;

/** The kernel indents snippets of several lines, so the client must not indent them again. */
function hasSnippets(session: Session): boolean {
  return supports(session, ...completionItem, "snippetSupport") && insertsAsIs(session);
}

function insertsAsIs(session: Session): boolean {
  const modes = capability(session, ...completionItem, "insertTextModeSupport");
  // A client without insert text modes inserts the text unchanged.
  if (!isJsonObject(modes)) return true;
  return Array.isArray(modes["valueSet"]) && modes["valueSet"].includes(asIs);
}

function shapeFor(session: Session): Shape {
  const formats = capability(session, ...completionItem, "documentationFormat");
  return {
    isMarkdown: Array.isArray(formats) && formats.includes("markdown"),
    canInsertAsIs: isJsonObject(capability(session, ...completionItem, "insertTextModeSupport")),
  };
}

/** InsertTextMode.asIs */
const asIs = 1;
/** InsertTextFormat.Snippet */
const snippet = 2;

function itemOf(
  proposal: CompletionProposal,
  index: number,
  { isMarkdown, canInsertAsIs }: Shape,
): CompletionItem {
  const { label, kind, detail, explanation, range, newText, isSnippet, filterText } = proposal;
  return {
    label: plainLine(label),
    kind: kinds[kind],
    ...(detail === undefined ? {} : { detail: plainLine(detail) }),
    ...(explanation === undefined ? {} : { documentation: markup(explanation, isMarkdown) }),
    textEdit: { range, newText },
    ...(isSnippet ? { insertTextFormat: snippet } : {}),
    ...(canInsertAsIs && newText.includes("\n") ? { insertTextMode: asIs } : {}),
    filterText,
    // The kernel's own order, with required items first.
    sortText: String(index).padStart(4, "0"),
  };
}

const kinds: Readonly<Record<CompletionProposal["kind"], CompletionItemKind>> = {
  key: 10,
  table: 22,
  value: 12,
  choice: 20,
  event: 23,
  field: 5,
  function: 3,
  method: 2,
  keyword: 14,
  handler: 3,
  extension: 9,
  folder: 19,
  file: 17,
};
