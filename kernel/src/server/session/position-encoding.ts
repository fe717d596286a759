import { isJsonObject } from "../../base/json.ts";
import {
  fromUtf16,
  isTextPosition,
  LineIndex,
  toUtf16,
  type PositionEncoding,
  type TextPosition,
} from "../../base/text-positions.ts";

/** Returns the text of a document; null if it is not known. */
type TextOf = (uri: string) => string | null;

/** `to-client`: from UTF-16 units to the client's encoding. `from-client`: the reverse. */
export type Direction = "to-client" | "from-client";

/**
 * Returns an LSP message with every position converted. A position belongs to the document that the enclosing objects
 * name (`uri`, `textDocument`, `targetUri`, the keys of `changes`), otherwise to `uri`; if that document's text is
 * not known, the position is not changed. All language features use this, so they count in UTF-16 only.
 */
export function withPositions(
  message: unknown,
  uri: string | null,
  encoding: PositionEncoding,
  direction: Direction,
  textOf: TextOf,
): unknown {
  if (encoding === "utf-16") return message;
  const lines = new Map<string, LineIndex | null>();
  const linesIn = (document: string): LineIndex | null => {
    const known = lines.get(document);
    if (known !== undefined) return known;
    const text = textOf(document);
    const found = text === null ? null : new LineIndex(text);
    lines.set(document, found);
    return found;
  };
  const convert = direction === "to-client" ? fromUtf16 : toUtf16;
  return mapped(message, uri, (position, document) => {
    const line = linesIn(document)?.lineAt(position.line);
    return line === undefined
      ? position
      : { line: position.line, character: convert(line, position.character, encoding) };
  });
}

/** Returns the URIs of the documents to which the positions of a message belong. */
export function documentsIn(message: unknown, uri: string | null): string[] {
  const found = new Set<string>();
  mapped(message, uri, (position, document) => {
    found.add(document);
    return position;
  });
  return [...found];
}

type Convert = (position: TextPosition, uri: string) => TextPosition;

function mapped(value: unknown, uri: string | null, convert: Convert): unknown {
  if (Array.isArray(value)) return value.map((each) => mapped(each, uri, convert));
  if (!isJsonObject(value)) return value;
  if (isTextPosition(value)) return uri === null ? value : convert(value, uri);
  const own = documentOf(value) ?? uri;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => {
      // `data` and the arguments of a command belong to the kernel, which receives them back unchanged.
      if (key === "data" || key === "arguments") return [key, item];
      if (key === "changes" && isJsonObject(item))
        return [
          key,
          Object.fromEntries(
            Object.entries(item).map(([document, edits]) => [document, mapped(edits, document, convert)]),
          ),
        ];
      // All ranges of a link but `originSelectionRange` are in the target; that one is in the request's document.
      const target = key.startsWith("target") && typeof value["targetUri"] === "string";
      return [key, mapped(item, target ? (value["targetUri"] as string) : own, convert)];
    }),
  );
}

function documentOf(value: Record<string, unknown>): string | null {
  if (typeof value["uri"] === "string") return value["uri"];
  const document = value["textDocument"];
  return isJsonObject(document) && typeof document["uri"] === "string" ? document["uri"] : null;
}
