import type { Extent } from "../fixes/extents.ts";
import { isReference, nodesOf, type Found, type Tree } from "./program-syntax.ts";

/** A place that names something; `isShorthand`: it is the name of a property as well. */
export interface NamePlace extends Extent {
  readonly isShorthand: boolean;
}

/**
 * All places of a file that speak of one name: of what is declared or imported under it, and of what is exported under
 * it. Null where the name stands for something else too, a property or a text say, so that not every one may change.
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
    // Exports are gathered when a file is compiled: where they were written is looked for below.
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

/** A text that holds the name may be code to somebody, or look like it. */
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

/** How often a name stands in a text as a word of its own, wherever. */
export function countWords(text: string, name: string): number {
  return [...wordsIn(text, name)].length;
}

function* wordsIn(text: string, name: string): Generator<number> {
  const isPart = (character: string): boolean => /[\p{ID_Continue}$\u200c\u200d]/u.test(character);
  for (let at = text.indexOf(name); at >= 0; at = text.indexOf(name, at + name.length))
    if (!isPart(text.charAt(at - 1)) && !isPart(text.charAt(at + name.length))) yield at;
}
