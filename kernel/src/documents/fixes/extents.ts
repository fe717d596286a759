import { pointerKeys, pointerTo, type ParsedDocument, type SourceNode } from "../text/source.ts";

/** A range of a text in UTF-16 units. */
export interface Extent {
  readonly start: number;
  readonly end: number;
}

/** Returns the range of a value with its key, contents and opening token, without trailing white space. */
export function extentOf(document: ParsedDocument, node: SourceNode): Extent {
  let { start, end } = node;
  if (node.key !== undefined) start = Math.min(start, node.key.start);
  for (const child of node.children.values()) {
    const inner = extentOf(document, child);
    start = Math.min(start, inner.start);
    end = Math.max(end, inner.end);
  }
  // A YAML map's range extends to the start of the next node.
  while (end > start && /\s/.test(document.text.charAt(end - 1))) end--;
  return { start, end };
}

/** True for a `{…}` or `[…]` collection, whose entries are separated by commas. */
export function isFlow(document: ParsedDocument, node: SourceNode): boolean {
  // A TOML document may begin with a header, and the place of a table is its name in a header.
  if (document.format === "toml" && (node === document.root || node.key?.start === node.start)) return false;
  return /[[{]/.test(document.text.charAt(node.start));
}

export function parentOf(pointer: string): string {
  return pointerTo("", ...pointerKeys(pointer).slice(0, -1));
}

/** Returns the entries of a map or list in text order, each with its pointer. */
export function entriesOf(
  document: ParsedDocument,
  pointer: string,
): { readonly pointer: string; readonly node: SourceNode; readonly extent: Extent }[] {
  const node = document.nodeAt(pointer);
  return [...(node?.children ?? [])]
    .map(([key, child]) => ({
      pointer: pointerTo(pointer, key),
      node: child,
      extent: extentOf(document, child),
    }))
    .toSorted((one, other) => one.extent.start - other.extent.start);
}
