import type { Position, Range } from "vscode-languageserver";
import { isJsonObject } from "../../base/json.ts";
import type { Session } from "./session.ts";

/** Returns the URI in a `TextDocumentIdentifier`; null if the params are invalid. */
export function documentUriOf(params: unknown): string | null {
  const document = isJsonObject(params) ? params["textDocument"] : null;
  return isJsonObject(document) && typeof document["uri"] === "string" ? document["uri"] : null;
}

/** Parses `TextDocumentPositionParams`; null if they are invalid. */
export function documentPositionOf(params: unknown): { uri: string; position: Position } | null {
  const uri = documentUriOf(params);
  const position = isJsonObject(params) ? params["position"] : null;
  return uri !== null && isPosition(position) ? { uri, position } : null;
}

/** Parses a document and a range, as in `InlayHintParams` and `CodeActionParams`; null if they are invalid. */
export function documentRangeOf(params: unknown): { uri: string; range: Range } | null {
  const uri = documentUriOf(params);
  const range = isJsonObject(params) ? params["range"] : null;
  return uri !== null && isRange(range) ? { uri, range } : null;
}

/** Returns the client's name from `InitializeParams`; undefined if there is none. */
export function clientNameOf(params: unknown): string | undefined {
  const info = isJsonObject(params) ? params["clientInfo"] : undefined;
  return isJsonObject(info) && typeof info["name"] === "string" ? info["name"] : undefined;
}

function isRange(value: unknown): value is Range {
  return isJsonObject(value) && isPosition(value["start"]) && isPosition(value["end"]);
}

/** The LSP's `uinteger`: a negative or fractional line is invalid. */
function isPosition(value: unknown): value is Position {
  return isJsonObject(value) && isCount(value["line"]) && isCount(value["character"]);
}

function isCount(value: unknown): boolean {
  return Number.isInteger(value) && (value as number) >= 0;
}

/** Returns the client's capability at `path`; undefined if it is missing. */
export function capability(session: Session, ...path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (value, name) => (isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : undefined),
    session.capabilities,
  );
}

/** True if the client declares the capability; a missing one is not supported. */
export function supports(session: Session, ...path: readonly string[]): boolean {
  return capability(session, ...path) === true;
}
