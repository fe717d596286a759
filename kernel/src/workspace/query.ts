import { invalidParams, limitExceeded } from "../base/errors.ts";
import { compileGlob } from "../base/glob.ts";
import type { Entry, EntryPage, EntryQuery } from "../base/vocabulary/entry.ts";
import { entryOf } from "./entry.ts";
import { workspaceLimits, workspaceTimes } from "./limits.ts";
import { extensionOf, mediaTypeOf } from "./media-types.ts";
import type { Visibility } from "./ports.ts";
import type { Slices } from "../base/slices.ts";
import { pathOf, type EntryNode, type EntryTree } from "./tree.ts";

/**
 * One page, in path order: a folder before what is in it, names by their UTF-16 code units. The cursor is
 * the last path seen, so a page goes on at the right place whatever changed in between.
 */
export async function queryEntries(
  tree: EntryTree,
  query: EntryQuery,
  visible: Visibility,
  slices: Slices,
): Promise<EntryPage> {
  const limit = query.limit ?? workspaceLimits.queryEntriesByDefault;
  if (!Number.isInteger(limit) || limit < 1 || limit > workspaceLimits.queryEntries) {
    throw invalidParams(
      `limit is ${limit}; it must be a whole number from 1 to ${workspaceLimits.queryEntries}.`,
    );
  }
  const items: Entry[] = [];
  let isMore = false;
  await eachMatch(tree, query, visible, slices, (node, path) => {
    isMore = items.length === limit;
    if (!isMore) items.push(entryOf(node, path));
    return !isMore;
  });
  return isMore ? { items, cursor: items.at(-1)?.path ?? "" } : { items };
}

/** How many entries the query finds in all, whatever its limit and cursor. */
export async function countEntries(
  tree: EntryTree,
  query: EntryQuery,
  visible: Visibility,
  slices: Slices,
): Promise<number> {
  const { cursor: _, ...rest } = query;
  let count = 0;
  await eachMatch(tree, rest, visible, slices, () => {
    count++;
    return true;
  });
  return count;
}

interface Found {
  readonly node: EntryNode;
  /** Of the folder it lies in, with "/" at the end; "" at the top. */
  readonly prefix: string;
}

/**
 * Tells of each entry that the query finds until `take` answers false. After a pause it goes on behind the
 * last path it looked at, as a page does, so that nothing is told by a path that it no longer has.
 */
async function eachMatch(
  tree: EntryTree,
  query: EntryQuery,
  visible: Visibility,
  slices: Slices,
  take: (node: EntryNode, path: string) => boolean,
): Promise<void> {
  await slices.begin();
  let spentMs = 0;
  let begunMs = slices.nowMs;
  const fitsName = nameTest(query);
  const fitsPath = pathTest(query.path);
  for (let cursor = query.cursor; ;) {
    let pausedAt: string | undefined;
    for (const { node, prefix } of candidates(tree, query.tag, cursor, fitsPath)) {
      if (fitsName(node)) {
        const path = prefix + node.name;
        if (fitsPath.matches(path) && visible(path, node.kind) && !take(node, path)) return;
      }
      if (slices.hasTime) continue;
      pausedAt = prefix + node.name;
      break;
    }
    if (pausedAt === undefined) return;
    cursor = pausedAt;
    spentMs += slices.nowMs - begunMs;
    if (spentMs > workspaceTimes.queryMs) {
      throw limitExceeded(
        "query_ms",
        Math.round(spentMs),
        `The query took more than ${workspaceTimes.queryMs} ms of the kernel's time. Use a simpler pattern, or ask for a folder at a time.`,
      );
    }
    await slices.next();
    begunMs = slices.nowMs;
  }
}

/** Entries after the cursor, in path order, among them all that the path and the tag let through. */
function candidates(
  tree: EntryTree,
  tag: string | undefined,
  cursor: string | undefined,
  within: PathTest,
): Iterable<Found> {
  const few = tag === undefined ? null : tree.byTag.getFew(tag, workspaceLimits.taggedAtOnce);
  return few === null ? walk(tree, cursor, within) : inOrder(few, cursor);
}

/** What the name, the kind and the tag alone decide: asked first, as it costs least. */
function nameTest(query: EntryQuery): (node: EntryNode) => boolean {
  const text = query.text?.toLowerCase();
  const wanted = query.extension?.toLowerCase().replace(/^\./, "");
  const { kind, media } = query;
  const wantsKind = kind === "file" || kind === "folder" ? kind : undefined;
  const medium = wantsKind === undefined ? kind : undefined;
  return (node) => {
    if (wantsKind !== undefined && node.kind !== wantsKind) return false;
    if (query.tag !== undefined && !node.metadata.tags.includes(query.tag)) return false;
    if (text !== undefined && !node.name.toLowerCase().includes(text)) return false;
    if (wanted === undefined && media === undefined && medium === undefined) return true;
    const extension = node.kind === "file" ? extensionOf(node.name) : "";
    if (wanted !== undefined && extension !== wanted) return false;
    if (media === undefined && medium === undefined) return true;
    const own = mediaTypeOf(node.kind, extension).media;
    return own === (media ?? own) && own === (medium ?? own);
  };
}

interface PathTest {
  /** Names that the path of everything found begins with, in Unicode's NFC. */
  readonly names: readonly string[];
  /** Components that a path which is found has at most. */
  readonly depth: number;
  matches(path: string): boolean;
}

function pathTest(pattern: string | undefined): PathTest {
  if (pattern === undefined || pattern === "**") {
    return { names: [], depth: Number.POSITIVE_INFINITY, matches: () => true };
  }
  const glob = compileGlob(pattern);
  if (!glob.ok) throw invalidParams(glob.message, { path: pattern });
  const parts = pattern.split("/");
  const firstWild = parts.findIndex((part) => isWild.test(part));
  const names = parts.slice(0, firstWild === -1 ? parts.length : firstWild);
  // Only these two may stand for a "/".
  const isDeep = pattern.includes("**") || pattern.includes("{");
  // What ends otherwise cannot match: cheaper to see than to run the expression.
  const ending = /[^*?[\]{}\\/]*$/.exec(pattern.normalize("NFC"))?.[0] ?? "";
  const isPlainEnding = isAscii(ending);
  const { matches } = glob;
  return {
    names: names.map((name) => name.normalize("NFC")),
    depth: isDeep ? Number.POSITIVE_INFINITY : parts.length,
    matches: (path) => (!isPlainEnding || path.endsWith(ending)) && matches(path),
  };
}

const isWild = /[*?[\]{}\\]/;

function isAscii(text: string): boolean {
  return /^[\x20-\x7e]*$/.test(text);
}

/** Entries after the cursor, of those folders and down to that depth which the path allows. */
function* walk(tree: EntryTree, cursor: string | undefined, within: PathTest): Generator<Found> {
  const after = cursor === undefined || cursor === "" ? [] : cursor.split("/");
  yield* beneath(tree.top, "", after, within.names, within.depth);
}

function* beneath(
  folder: EntryNode,
  prefix: string,
  after: readonly string[],
  within: readonly string[],
  depth: number,
): Generator<Found> {
  const [start, ...afterStart] = after;
  const [only, ...withinOnly] = within;
  const children = only === undefined ? folder.sorted : called(folder, only);
  for (let at = start === undefined ? 0 : firstFrom(children, start); at < children.length; at++) {
    const child = children[at];
    if (child === undefined) break;
    const isOnWay = start !== undefined && child.name === start;
    if (child.isEntry && !isOnWay) yield { node: child, prefix };
    if (child.children === null || depth <= 1) continue;
    yield* beneath(child, `${prefix}${child.name}/`, isOnWay ? afterStart : [], withinOnly, depth - 1);
  }
}

/** The child of this name; several where its letters can be written in more than one Unicode form. */
function called(folder: EntryNode, name: string): readonly EntryNode[] {
  if (!isAscii(name)) return folder.sorted.filter((child) => child.name.normalize("NFC") === name);
  const child = folder.child(name);
  return child === undefined ? [] : [child];
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

/** Those after the cursor. */
function inOrder(nodes: readonly EntryNode[], cursor: string | undefined): Found[] {
  const placed = nodes.map((node) => ({ node, path: pathOf(node) }));
  const after = cursor === undefined ? placed : placed.filter(({ path }) => comparePaths(path, cursor) > 0);
  after.sort((a, b) => comparePaths(a.path, b.path));
  return after.map(({ node, path }) => ({ node, prefix: path.slice(0, path.length - node.name.length) }));
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
