import type { Hash } from "../base/vocabulary/common.ts";
import type { EntryKind } from "../base/vocabulary/entry.ts";
import type { Database } from "../platform/database/database.ts";
import { workspaceLimits } from "./limits.ts";
import { EntryNode, noMetadata, type EntryTree, type Metadata } from "./tree.ts";

interface LoadEvents {
  /** All folders are in the tree; files follow. */
  foldersLoaded(): void;
  fileLoaded(node: EntryNode): void;
}

/**
 * Loads the stored index into the tree, one page per turn of the event loop. Returns the rows without a parent (their
 * root is no longer one of the workspace's), for the caller to delete.
 */
export async function loadTree(
  database: Database,
  tree: EntryTree,
  rootOf: (name: string) => EntryNode | undefined,
  events: LoadEvents,
): Promise<string[]> {
  const metadata = loadMetadata(database);
  const folders = new Map<string, LoadedRow>();
  await eachPage(database, "folder", (rows) => {
    for (const row of rows) folders.set(row.node.id, row);
  });
  const attachments = await metadata;
  const orphans: string[] = [];
  const attach = ({ node, parent, root }: LoadedRow): boolean => {
    const folder = parent === null ? rootOf(root) : (tree.byId(parent) ?? attachFolder(parent));
    if (folder === undefined || folder.children === null || folder.children.has(node.name)) {
      orphans.push(node.id);
      return false;
    }
    if (attachments.size > 0) node.metadata = attachments.get(node.id) ?? noMetadata;
    tree.add(folder, node);
    return true;
  };
  const attachFolder = (id: string): EntryNode | undefined => {
    const row = folders.get(id);
    if (row === undefined) return undefined;
    folders.delete(id);
    return attach(row) ? row.node : undefined;
  };
  // `attachFolder` deletes from the map, which is safe during iteration.
  for (const id of folders.keys()) attachFolder(id);
  events.foldersLoaded();
  await eachPage(database, "file", (rows) => {
    for (const row of rows) if (attach(row)) events.fileLoaded(row.node);
  });
  return orphans;
}

interface LoadedRow {
  readonly node: EntryNode;
  readonly root: string;
  readonly parent: string | null;
}

/** The columns of many rows, each as a JSON array: few large texts cross between threads faster than many values. */
interface Page {
  readonly last: string | null;
  readonly ids: string;
  readonly roots: string;
  readonly parents: string;
  readonly names: string;
  readonly sizes: string;
  readonly mtimes: string;
  readonly birthtimes: string;
  readonly inodes: string;
  readonly devices: string;
  readonly contents: string;
}

const pageSql = `SELECT max(id) AS last, json_group_array(id) AS ids, json_group_array(root) AS roots,
    json_group_array(parent) AS parents, json_group_array(name) AS names, json_group_array(size) AS sizes,
    json_group_array(mtime_us) AS mtimes, json_group_array(birthtime_us) AS birthtimes,
    json_group_array(inode) AS inodes, json_group_array(device) AS devices, json_group_array(content_id) AS contents
  FROM (SELECT * FROM entries WHERE id > ? AND kind = ? ORDER BY id LIMIT ?)`;

async function eachPage(
  database: Database,
  kind: EntryKind,
  take: (rows: Iterable<LoadedRow>) => void,
): Promise<void> {
  const read = (after: string): Promise<Page | undefined> =>
    database.query<Page>(pageSql, [after, kind, workspaceLimits.rowsPerPage]).then(([page]) => page);
  for (let next = read(""); ;) {
    const page = await next;
    if (page === undefined || page.last === null) return;
    // The next page is read while this one is processed.
    next = read(page.last);
    take(rowsOf(page, kind));
  }
}

function* rowsOf(page: Page, kind: EntryKind): Generator<LoadedRow> {
  const texts = (json: string): (string | null)[] => JSON.parse(json) as (string | null)[];
  const numbers = (json: string): number[] => JSON.parse(json) as number[];
  const [ids, roots, parents] = [texts(page.ids), texts(page.roots), texts(page.parents)];
  const [names, contents] = [texts(page.names), texts(page.contents)];
  const [sizes, mtimes, birthtimes] = [numbers(page.sizes), numbers(page.mtimes), numbers(page.birthtimes)];
  const [inodes, devices] = [numbers(page.inodes), numbers(page.devices)];
  for (let at = 0; at < ids.length; at++) {
    const node = new EntryNode(ids[at] ?? "", names[at] ?? "", kind, {
      size: sizes[at] ?? 0,
      mtimeMs: (mtimes[at] ?? 0) / 1000,
      birthtimeMs: (birthtimes[at] ?? 0) / 1000,
      inode: inodes[at] ?? 0,
      device: devices[at] ?? 0,
    });
    node.contentId = (contents[at] ?? null) as Hash | null;
    yield { node, root: roots[at] ?? "", parent: parents[at] ?? null };
  }
}

async function loadMetadata(database: Database): Promise<Map<string, Metadata>> {
  const [tags, fields, sidecars] = await Promise.all([
    database.query<{ entry: string; tags: string }>(
      "SELECT entry, json_group_array(tag) AS tags FROM (SELECT * FROM entry_tags ORDER BY entry, tag) GROUP BY entry",
    ),
    database.query<{ entry: string; namespace: string; key: string; value: string }>(
      "SELECT * FROM entry_fields",
    ),
    database.query<{ entry: string; sidecar: string; hash: string }>(
      "SELECT entry, sidecar, hash FROM entry_sidecars",
    ),
  ]);
  const found = new Map<string, Metadata>();
  const at = (entry: string): Metadata => found.get(entry) ?? noMetadata;
  for (const row of tags) found.set(row.entry, { ...at(row.entry), tags: JSON.parse(row.tags) as string[] });
  for (const row of fields) {
    const held = at(row.entry);
    const namespace = { ...held.fields[row.namespace], [row.key]: JSON.parse(row.value) as unknown };
    found.set(row.entry, { ...held, fields: { ...held.fields, [row.namespace]: namespace } });
  }
  for (const row of sidecars) {
    const held = at(row.entry);
    found.set(row.entry, { ...held, sidecars: new Map([...held.sidecars, [row.sidecar, row.hash as Hash]]) });
  }
  return found;
}
