import type { DocumentSymbol, SymbolInformation, SymbolKind } from "vscode-languageserver";
import type { OutlinePart } from "../../base/vocabulary/editing.ts";
import type { StandardHandlers } from "../session/standard-requests.ts";
import type { Session } from "../session/session.ts";
import { editedDocument } from "./edited-document.ts";
import { documentUriOf, supports } from "../session/params.ts";
import type { NavigationService } from "../../services/editing.ts";

/** `textDocument/documentSymbol`: the outline of a document, as a tree if the client supports it. */
export function symbolHandlers(navigation: NavigationService): StandardHandlers {
  return {
    "textDocument/documentSymbol": (params, session) => symbolsOf(navigation, params, session),
  };
}

async function symbolsOf(
  navigation: NavigationService,
  params: unknown,
  session: Session,
): Promise<DocumentSymbol[] | SymbolInformation[] | null> {
  const document = editedDocument(navigation, session, documentUriOf(params));
  if (document === null) return null;
  const symbols = (await navigation.outline(document)).map(symbolOf);
  return supports(session, "textDocument", "documentSymbol", "hierarchicalDocumentSymbolSupport")
    ? symbols
    : symbols.flatMap((symbol) => flat(symbol, document.uri));
}

const kinds: Readonly<Record<OutlinePart["kind"], SymbolKind>> = {
  extension: 2, // Module
  hook: 24, // Event
  tool: 6, // Method
  permission: 20, // Key
  rule: 25, // Operator
  list: 18, // Array
  map: 3, // Namespace
  value: 7, // Property
};

function symbolOf({ name, detail, kind, range, selection, children }: OutlinePart): DocumentSymbol {
  return {
    name,
    ...(detail === "" ? {} : { detail }),
    kind: kinds[kind],
    range,
    selectionRange: selection,
    children: children.map(symbolOf),
  };
}

/** Returns the symbols as a flat list; each names its container. */
function flat(symbol: DocumentSymbol, uri: string, containerName?: string): SymbolInformation[] {
  const { name, kind, range, children = [] } = symbol;
  const location = { uri, range };
  return [
    { name, kind, location, ...(containerName === undefined ? {} : { containerName }) },
    ...children.flatMap((child) => flat(child, uri, name)),
  ];
}
