import type { DocumentSymbol, SymbolInformation } from "vscode-languageserver";
import type { StandardHandlers } from "../standard-requests.ts";
import type { Session } from "../session.ts";
import { editedDocument } from "./edited-document.ts";
import { documentUriOf, supports } from "./params.ts";
import type { NavigationService } from "./ports.ts";

/** `textDocument/documentSymbol`: the outline of a document, as a tree where the client draws one. */
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
  const symbols = await navigation.symbols(document);
  return supports(session, "textDocument", "documentSymbol", "hierarchicalDocumentSymbolSupport")
    ? symbols
    : symbols.flatMap((symbol) => flat(symbol, document.uri));
}

/** Each symbol beside the one it is in, which it names. */
function flat(symbol: DocumentSymbol, uri: string, containerName?: string): SymbolInformation[] {
  const { name, kind, range, children = [] } = symbol;
  const location = { uri, range };
  return [
    { name, kind, location, ...(containerName === undefined ? {} : { containerName }) },
    ...children.flatMap((child) => flat(child, uri, name)),
  ];
}
