import { isJsonObject } from "../base/json.ts";
import {
  fromUtf16,
  isTextPosition,
  LineIndex,
  toUtf16,
  type PositionEncoding,
  type TextPosition,
} from "../base/text-positions.ts";

/** The text of a document, as far as it is known. */
type TextOf = (uri: string) => string | null;

/** `to-client`: from the kernel's units of UTF-16 to the client's encoding. `from-client`: the other way. */
export type Direction = "to-client" | "from-client";

/**
 * Returns a message of the LSP with every position in the other encoding. A position belongs to the document that the
 * objects around it name (`uri`, `textDocument`, `targetUri`, the keys of `changes`), else to `uri`; where that document's
 * text is not known, it stays as it is. All positions of the language features pass here, so that they count in UTF-16.
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

/** Returns the documents whose positions a message has. */
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
      // What a command or a fix takes with it is the kernel's own, and comes back as it went.
      if (key === "data" || key === "arguments") return [key, item];
      if (key === "changes" && isJsonObject(item))
        return [
          key,
          Object.fromEntries(
            Object.entries(item).map(([document, edits]) => [document, mapped(edits, document, convert)]),
          ),
        ];
      // The other ends of a link: `originSelectionRange` is in the document of the request.
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
