import { invalidParams } from "../base/errors.ts";
import { compileGlob } from "../base/glob.ts";
import type { Entry, EntryPage, EntryQuery } from "../base/vocabulary/entry.ts";
import { entryOf } from "./entry.ts";
import { workspaceLimits } from "./limits.ts";
import { extensionOf, mediaTypeOf } from "./media-types.ts";
import type { Visibility } from "./ports.ts";
import { pathOf, type EntryNode, type EntryTree } from "./tree.ts";

/**
 * One page, in path order: a folder before what is in it, names by their UTF-16 code units. The cursor is
 * the last path seen, so a page goes on at the right place whatever changed in between.
 */
export function queryEntries(tree: EntryTree, query: EntryQuery, visible: Visibility): EntryPage {
  const limit = query.limit ?? workspaceLimits.queryEntriesByDefault;
  if (!Number.isInteger(limit) || limit < 1 || limit > workspaceLimits.queryEntries) {
    throw invalidParams(
      `limit is ${limit}; it must be a whole number from 1 to ${workspaceLimits.queryEntries}.`,
    );
  }
  const items: Entry[] = [];
  for (const { node, path } of matching(tree, query, visible)) {
    if (items.length === limit) return { items, cursor: items.at(-1)?.path ?? "" };
    items.push(entryOf(node, path));
  }
  return { items };
}

/** How many entries the query finds in all, whatever its limit and cursor. */
export function countEntries(tree: EntryTree, query: EntryQuery, visible: Visibility): number {
  const { cursor: _, ...rest } = query;
  let count = 0;
  for (const _found of matching(tree, rest, visible)) count++;
  return count;
}

interface Found {
  readonly node: EntryNode;
  readonly path: string;
}

function* matching(tree: EntryTree, query: EntryQuery, visible: Visibility): Generator<Found> {
  const fitsName = nameTest(query);
  const fitsPath = pathTest(query.path);
  const found =
    query.tag === undefined ? walk(tree, query, fitsPath.folders) : tagged(tree, query.tag, query.cursor);
  for (const { node, path } of found) {
    if (!fitsName(node) || (query.tag !== undefined && !node.metadata.tags.includes(query.tag))) continue;
    if (fitsPath.matches(path) && visible(path, node.kind)) yield { node, path };
  }
}

/** What the name and kind alone decide: asked first, as it costs least. */
function nameTest(query: EntryQuery): (node: EntryNode) => boolean {
  const text = query.text?.toLowerCase();
  const wanted = query.extension?.toLowerCase().replace(/^\./, "");
  return (node) => {
    if (query.kind !== undefined && node.kind !== query.kind) return false;
    if (text !== undefined && !node.name.toLowerCase().includes(text)) return false;
    if (wanted === undefined && query.media === undefined) return true;
    const extension = node.kind === "file" ? extensionOf(node.name) : "";
    if (wanted !== undefined && extension !== wanted) return false;
    return query.media === undefined || mediaTypeOf(node.kind, extension).media === query.media;
  };
}

interface PathTest {
  /** Names of the folders that everything found lies in. */
  readonly folders: readonly string[];
  matches(path: string): boolean;
}

function pathTest(pattern: string | undefined): PathTest {
  if (pattern === undefined || pattern === "**") return { folders: [], matches: () => true };
  const glob = compileGlob(pattern);
  if (!glob.ok) throw invalidParams(glob.message, { path: pattern });
  const parts = pattern.split("/");
  const firstWild = parts.findIndex((part) => isWild.test(part));
  const folders = parts.slice(0, firstWild === -1 ? parts.length - 1 : firstWild);
  // What ends otherwise cannot match: cheaper to see than to run the expression.
  const ending = /[^*?[\]{}\\/]*$/.exec(pattern.normalize("NFC"))?.[0] ?? "";
  const isAscii = /^[\x20-\x7e]*$/.test(ending);
  const { matches } = glob;
  return {
    folders: folders.map((name) => name.normalize("NFC")),
    matches: (path) => (!isAscii || path.endsWith(ending)) && matches(path),
  };
}

const isWild = /[*?[\]{}\\]/;

/** Entries after the cursor that lie in these folders. */
function* walk(tree: EntryTree, query: EntryQuery, folders: readonly string[]): Generator<Found> {
  const after = query.cursor === undefined || query.cursor === "" ? [] : query.cursor.split("/");
  yield* beneath(tree.top, "", after, folders);
}

function* beneath(
  folder: EntryNode,
  prefix: string,
  after: readonly string[],
  within: readonly string[],
): Generator<Found> {
  const [start, ...afterStart] = after;
  const [only, ...withinOnly] = within;
  const children = folder.sorted;
  for (let at = start === undefined ? 0 : firstFrom(children, start); at < children.length; at++) {
    const child = children[at];
    if (child === undefined) break;
    if (only !== undefined && child.name !== only && child.name.normalize("NFC") !== only) continue;
    const path = prefix + child.name;
    const isOnWay = start !== undefined && child.name === start;
    if (child.isEntry && !isOnWay) yield { node: child, path };
    if (child.children !== null) yield* beneath(child, `${path}/`, isOnWay ? afterStart : [], withinOnly);
  }
}

/** Where the name is, or would be. */
function firstFrom(children: readonly EntryNode[], name: string): number {
  let low = 0;
  let high = children.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((children[middle]?.name ?? "") < name) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Entries with the tag, from the index over tags. */
function tagged(tree: EntryTree, tag: string, cursor: string | undefined): Found[] {
  const found = tree.byTag.get(tag).map((node) => ({ node, path: pathOf(node) }));
  found.sort((a, b) => comparePaths(a.path, b.path));
  return cursor === undefined ? found : found.filter(({ path }) => comparePaths(path, cursor) > 0);
}

/** The order of a walk: by components, so that "a/b" comes before "a b". */
export function comparePaths(a: string, b: string): number {
  const left = a.split("/");
  const right = b.split("/");
  for (let at = 0; at < left.length && at < right.length; at++) {
    const one = left[at] ?? "";
    const other = right[at] ?? "";
    if (one !== other) return one < other ? -1 : 1;
  }
  return left.length - right.length;
}
