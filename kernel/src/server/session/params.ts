import type { Position, Range } from "vscode-languageserver";
import { isJsonObject } from "../../base/json.ts";
import type { Session } from "./session.ts";

/** `TextDocumentIdentifier` of a request; null where the params have another shape. */
export function documentUriOf(params: unknown): string | null {
  const document = isJsonObject(params) ? params["textDocument"] : null;
  return isJsonObject(document) && typeof document["uri"] === "string" ? document["uri"] : null;
}

/** `TextDocumentPositionParams`; null where the params have another shape. */
export function documentPositionOf(params: unknown): { uri: string; position: Position } | null {
  const uri = documentUriOf(params);
  const position = isJsonObject(params) ? params["position"] : null;
  return uri !== null && isPosition(position) ? { uri, position } : null;
}

/** A document and a range in it, as in `InlayHintParams` and `CodeActionParams`; null for another shape. */
export function documentRangeOf(params: unknown): { uri: string; range: Range } | null {
  const uri = documentUriOf(params);
  const range = isJsonObject(params) ? params["range"] : null;
  return uri !== null && isRange(range) ? { uri, range } : null;
}

/** The name that the client gives itself in `InitializeParams`; undefined where it gives none. */
export function clientNameOf(params: unknown): string | undefined {
  const info = isJsonObject(params) ? params["clientInfo"] : undefined;
  return isJsonObject(info) && typeof info["name"] === "string" ? info["name"] : undefined;
}

function isRange(value: unknown): value is Range {
  return isJsonObject(value) && isPosition(value["start"]) && isPosition(value["end"]);
}

/** LSP's `uinteger`s: a negative line or a fraction names no place. */
function isPosition(value: unknown): value is Position {
  return isJsonObject(value) && isCount(value["line"]) && isCount(value["character"]);
}

function isCount(value: unknown): boolean {
  return Number.isInteger(value) && (value as number) >= 0;
}

/** What the client said at `path` of its capabilities; undefined where it said nothing. */
export function capability(session: Session, ...path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (value, name) => (isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : undefined),
    session.capabilities,
  );
}

/** True where the client said so itself; what it leaves out it cannot do. */
export function supports(session: Session, ...path: readonly string[]): boolean {
  return capability(session, ...path) === true;
}
