import { invalidParams, limitExceeded } from "../base/errors.ts";
import { compileGlob } from "../base/glob.ts";
import type { Entry, EntryPage, EntryQuery } from "../base/vocabulary/entry.ts";
import { entryOf } from "./entry.ts";
import { workspaceLimits, workspaceTimes } from "./limits.ts";
import { extensionOf, mediaTypeOf } from "./media-types.ts";
import type { Visibility } from "./ports.ts";
import type { Slices } from "../base/slices.ts";
import { foreignEnding, pathOf, type EntryNode, type EntryTree } from "./tree.ts";
import type { Reach } from "../policy/sight.ts";

/**
 * Returns one page in path order: a folder before its contents, names by their UTF-16 code units. The cursor is the
 * last path of the page before, so the next page continues at the right place whatever changed in between.
 */
export async function queryEntries(
  tree: EntryTree,
  query: EntryQuery,
  visible: Visibility,
  slices: Slices,
  reach: Reach = everywhere,
  signal?: AbortSignal,
): Promise<EntryPage> {
  const limit = query.limit ?? workspaceLimits.queryEntriesByDefault;
  if (!Number.isInteger(limit) || limit < 1 || limit > workspaceLimits.queryEntries) {
    throw invalidParams(
      `limit is ${limit}; it must be a whole number from 1 to ${workspaceLimits.queryEntries}.`,
    );
  }
  const items: Entry[] = [];
  let isMore = false;
  await eachMatch(tree, query, { visible, reach, signal }, slices, (node, path) => {
    isMore = items.length === limit;
    if (!isMore) items.push(entryOf(node, path));
    return !isMore;
  });
  return isMore ? { items, cursor: items.at(-1)?.path ?? "" } : { items };
}

/** Returns the total number of entries that match, regardless of limit and cursor. */
export async function countEntries(
  tree: EntryTree,
  query: EntryQuery,
  visible: Visibility,
  slices: Slices,
  reach: Reach = everywhere,
  signal?: AbortSignal,
): Promise<number> {
  const { cursor: _, ...rest } = query;
  let count = 0;
  await eachMatch(tree, rest, { visible, reach, signal }, slices, () => {
    count++;
    return true;
  });
  return count;
}

/** Counts the files in the folder, at any depth, up to `atMost`. */
export async function countFiles(
  tree: EntryTree,
  folder: string,
  slices: Slices,
  atMost: number,
): Promise<number> {
  let count = 0;
  const all: QueryScope = { visible: () => true, reach: { folders: [folder], endings: null } };
  await eachMatch(tree, { kind: "file" }, all, slices, () => ++count < atMost);
  return count;
}

/** What the caller may see, and where all of that lies. */
interface QueryScope {
  readonly visible: Visibility;
  readonly reach: Reach;
  /** Aborted when they no longer wait. */
  readonly signal?: AbortSignal | undefined;
}

const everywhere: Reach = { folders: ["."], endings: null };

interface Found {
  readonly node: EntryNode;
  /** The path of its folder, with "/" at the end; "" at the top. */
  readonly prefix: string;
}

/**
 * Passes each matching entry to `take` until that returns false. After a pause it continues after the last path, as a
 * page does, so that no entry is reported at a path that it no longer has.
 */
async function eachMatch(
  tree: EntryTree,
  query: EntryQuery,
  scope: QueryScope,
  slices: Slices,
  take: (node: EntryNode, path: string) => boolean,
): Promise<void> {
  await slices.begin();
  scope.signal?.throwIfAborted();
  let spentMs = 0;
  let begunMs = slices.nowMs;
  const fitsName = nameTest(query);
  const fitsPath = pathTest(query.path);
  for (let cursor = query.cursor; ;) {
    let pausedAt: string | undefined;
    for (const { node, prefix } of candidates(tree, query.tag, cursor, fitsPath, scope)) {
      if (fitsName(node)) {
        const path = prefix + node.name;
        if (fitsPath.matches(path) && scope.visible(path, node.kind) && !take(node, path)) return;
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
    scope.signal?.throwIfAborted();
    begunMs = slices.nowMs;
  }
}

/** Returns the entries after the cursor, in path order, that may match by path, tag and reach. */
function candidates(
  tree: EntryTree,
  tag: string | undefined,
  cursor: string | undefined,
  within: PathTest,
  { visible, reach }: QueryScope,
): Iterable<Found> {
  const few = fewOf(tree, tag, reach);
  return few === null ? walk(tree, cursor, within, reach) : inOrder(few, cursor, visible);
}

/** Returns all entries that have the tag, or one of the endings; null if there are too many to sort at once. */
function fewOf(tree: EntryTree, tag: string | undefined, { endings }: Reach): readonly EntryNode[] | null {
  const atMost = workspaceLimits.taggedAtOnce;
  const tagged = tag === undefined ? null : tree.byTag.getFew(tag, atMost);
  if (tagged !== null || endings === null) return tagged;
  const few: EntryNode[] = [];
  for (const ending of new Set([...endings, foreignEnding])) {
    const nodes = tree.byEnding.getFew(ending, atMost - few.length);
    if (nodes === null) return null;
    few.push(...nodes);
  }
  return few;
}

/** Returns the test by name, kind and tag alone. It runs first because it costs least. */
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
  /** The leading names that all matching paths have in common, in Unicode's NFC. */
  readonly names: readonly string[];
  /** The maximum number of components of a matching path. */
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
  // Only these two can match a "/".
  const isDeep = pattern.includes("**") || pattern.includes("{");
  // A path with another ending cannot match; this test costs less than the expression.
  const ending = /(?<![^*?[\]{}\\/])[^*?[\]{}\\/]*$/.exec(pattern.normalize("NFC"))?.[0] ?? "";
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

/** Returns the entries after the cursor, in the folders and down to the depth that the path and the reach allow. */
function* walk(
  tree: EntryTree,
  cursor: string | undefined,
  within: PathTest,
  { folders }: Reach,
): Generator<Found> {
  const after = cursor === undefined || cursor === "" ? [] : cursor.split("/");
  yield* beneath(tree.top, "", after, within.names, within.depth, waysTo(folders));
}

/** The names that lead to the folders; null if everything beneath is reachable. */
type Ways = ReadonlyMap<string, Ways> | null;

function waysTo(folders: readonly string[]): Ways {
  type Growing = Map<string, Growing | null>;
  const top: Growing = new Map();
  for (const folder of folders) {
    if (folder === ".") return null;
    const names = folder.split("/");
    let at = top;
    for (const [index, name] of names.entries()) {
      const next = at.get(name);
      if (next === null) break;
      if (index === names.length - 1) at.set(name, null);
      else if (next === undefined) at.set(name, (at = new Map()));
      else at = next;
    }
  }
  return top;
}

function* beneath(
  folder: EntryNode,
  prefix: string,
  after: readonly string[],
  within: readonly string[],
  depth: number,
  ways: Ways,
): Generator<Found> {
  const [start, ...afterStart] = after;
  const [only, ...withinOnly] = within;
  const children = childrenOf(folder, only, ways);
  for (let at = start === undefined ? 0 : firstFrom(children, start); at < children.length; at++) {
    const child = children[at];
    if (child === undefined) break;
    const isOnWay = start !== undefined && child.name === start;
    const waysOn = ways?.get(child.name) ?? null;
    if (child.isEntry && !isOnWay && waysOn === null) yield { node: child, prefix };
    if (child.children === null || depth <= 1) continue;
    const rest = isOnWay ? afterStart : [];
    yield* beneath(child, `${prefix}${child.name}/`, rest, withinOnly, depth - 1, waysOn);
  }
}

/** Returns the children, sorted, that the path and the ways lead to. Others are not examined. */
function childrenOf(folder: EntryNode, only: string | undefined, ways: Ways): readonly EntryNode[] {
  if (ways === null) return only === undefined ? folder.sorted : called(folder, only);
  return [...ways.keys()]
    .filter((name) => only === undefined || name.normalize("NFC") === only)
    .toSorted((one, other) => (one < other ? -1 : 1))
    .flatMap((name) => folder.child(name) ?? []);
}

/** Returns the child of this name; several if its letters have more than one Unicode form. */
function called(folder: EntryNode, name: string): readonly EntryNode[] {
  if (!isAscii(name)) return folder.sorted.filter((child) => child.name.normalize("NFC") === name);
  const child = folder.child(name);
  return child === undefined ? [] : [child];
}

/** Returns the index at which the name is, or would be. */
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

/** Returns the visible entries after the cursor, sorted; the others are not sorted. */
function inOrder(nodes: readonly EntryNode[], cursor: string | undefined, visible: Visibility): Found[] {
  const placed = nodes
    .map((node) => ({ node, path: pathOf(node) }))
    .filter(({ node, path }) => visible(path, node.kind));
  const after = cursor === undefined ? placed : placed.filter(({ path }) => comparePaths(path, cursor) > 0);
  after.sort((a, b) => comparePaths(a.path, b.path));
  return after.map(({ node, path }) => ({ node, prefix: path.slice(0, path.length - node.name.length) }));
}

/** Compares paths in the order of a walk: by components, so that "a/b" comes before "a b". */
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
