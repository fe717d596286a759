import { pointerKeys, pointerTo, type ParsedDocument, type SourceNode } from "../text/source.ts";

/** A piece of a text, in UTF-16 units. */
export interface Extent {
  readonly start: number;
  readonly end: number;
}

/** All that belongs to a value: its key, what it holds, and where it was opened. Without white space at its end. */
export function extentOf(document: ParsedDocument, node: SourceNode): Extent {
  let { start, end } = node;
  if (node.key !== undefined) start = Math.min(start, node.key.start);
  for (const child of node.children.values()) {
    const inner = extentOf(document, child);
    start = Math.min(start, inner.start);
    end = Math.max(end, inner.end);
  }
  // A map of YAML reaches to where the next thing begins.
  while (end > start && /\s/.test(document.text.charAt(end - 1))) end--;
  return { start, end };
}

/** A `{…}` or `[…]`, in which entries stand beside each other. */
export function isFlow(document: ParsedDocument, node: SourceNode): boolean {
  // A document of TOML may begin with a header, and the place of a table is its name in one.
  if (document.format === "toml" && (node === document.root || node.key?.start === node.start)) return false;
  return /[[{]/.test(document.text.charAt(node.start));
}

export function parentOf(pointer: string): string {
  return pointerTo("", ...pointerKeys(pointer).slice(0, -1));
}

/** The entries of a map or a list in the order of the text, with the pointer of each. */
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
