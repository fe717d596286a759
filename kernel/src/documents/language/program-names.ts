import type { Extent } from "../fixes/extents.ts";
import { isReference, nodesOf, type Found, type Tree } from "./program-syntax.ts";

/** An occurrence of a name. `isShorthand`: it is also a property's name. */
export interface NamePlace extends Extent {
  readonly isShorthand: boolean;
}

/**
 * Returns all occurrences of a name that a file declares, imports or exports. Returns null if the name also occurs
 * with another meaning, such as a property or a text, so that replacing all of them would be wrong.
 */
export function placesOfName(
  source: string,
  tree: Tree,
  name: string,
  placeOf: (node: Found["node"]) => Extent | null,
): NamePlace[] | null {
  const places = new Map<number, NamePlace>();
  for (const found of nodesOf(tree)) {
    if (speaksOf(found, name)) return null;
    if (found.node.type !== "Identifier" || found.node.name !== name) continue;
    // Exports are collected when a file is compiled; their positions in the source are found below.
    if (found.parent?.type === "ExportSpecifier") continue;
    const isShorthand = found.parent?.type === "Property" && found.parent.shorthand;
    const isSame = found.parent?.type === "ImportSpecifier" && found.parent.local.name === name;
    if (!isReference(found) && !isShorthand && !isSame) return null;
    const place = placeOf(found.node);
    if (place === null) return null;
    places.set(place.start, { ...place, isShorthand });
  }
  for (const place of inExportLists(source, name))
    if (!places.has(place.start)) places.set(place.start, { ...place, isShorthand: false });
  return places.size === countWords(source, name) ? [...places.values()] : null;
}

/** A text that contains the name may be evaluated as code. */
function speaksOf({ node }: Found, name: string): boolean {
  if (node.type === "TemplateElement") return countWords(node.value.raw, name) > 0;
  return node.type === "Literal" && typeof node.value === "string" && countWords(node.value, name) > 0;
}

function* inExportLists(source: string, name: string): Generator<Extent> {
  for (const list of source.matchAll(/\bexport\s*\{([^{}]*)\}/g)) {
    const start = list.index + list[0].indexOf("{") + 1;
    for (const at of wordsIn(list[1] ?? "", name)) yield { start: start + at, end: start + at + name.length };
  }
}

/** Counts the occurrences of a name as a whole word in a text. */
export function countWords(text: string, name: string): number {
  return [...wordsIn(text, name)].length;
}

function* wordsIn(text: string, name: string): Generator<number> {
  const isPart = (character: string): boolean => /[\p{ID_Continue}$\u200c\u200d]/u.test(character);
  for (let at = text.indexOf(name); at >= 0; at = text.indexOf(name, at + name.length))
    if (!isPart(text.charAt(at - 1)) && !isPart(text.charAt(at + name.length))) yield at;
}
