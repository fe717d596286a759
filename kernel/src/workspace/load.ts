import type { Hash } from "../base/vocabulary/common.ts";
import type { Database } from "../platform/database.ts";
import { workspaceLimits } from "./limits.ts";
import { entryColumns, type EntryRow } from "./rows.ts";
import { EntryNode, noMetadata, type EntryTree, type Metadata } from "./tree.ts";

/**
 * Fills the tree with what is stored. Rows that hang on nothing (their root is no longer one of the
 * workspace's) are left out and returned, for the caller to delete.
 */
export async function loadTree(
  database: Database,
  tree: EntryTree,
  rootOf: (name: string) => EntryNode | undefined,
): Promise<string[]> {
  const waiting = new Map<string, { node: EntryNode; row: EntryRow }>();
  const metadata = loadMetadata(database);
  let page = readPage(database, "");
  for (;;) {
    const { rows, last } = await page;
    if (last === null) break;
    // The next page is read while this one is parsed.
    page = readPage(database, last);
    for (const row of JSON.parse(rows) as EntryRow[]) waiting.set(row[0], { node: nodeOf(row), row });
  }
  const attachments = await metadata;
  const orphans: string[] = [];
  const attach = (id: string): EntryNode | undefined => {
    const found = waiting.get(id);
    if (found === undefined) return tree.byId(id);
    waiting.delete(id);
    const { node, row } = found;
    const parent = row[2] === null ? rootOf(row[1]) : (tree.byId(row[2]) ?? attach(row[2]));
    if (parent === undefined || parent.children === null || parent.children.has(node.name)) {
      orphans.push(id);
      return undefined;
    }
    node.metadata = attachments.get(id) ?? noMetadata;
    tree.add(parent, node);
    return node;
  };
  // `attach` takes out of the map what it has dealt with, which a map bears while it is walked.
  for (const id of waiting.keys()) attach(id);
  return orphans;
}

async function readPage(database: Database, after: string): Promise<{ rows: string; last: string | null }> {
  const [page] = await database.query<{ rows: string; last: string | null }>(
    `SELECT json_group_array(json_array(${entryColumns})) AS rows, max(id) AS last
     FROM (SELECT * FROM entries WHERE id > ? ORDER BY id LIMIT ?)`,
    [after, workspaceLimits.rowsPerPage],
  );
  return page ?? { rows: "[]", last: null };
}

function nodeOf(row: EntryRow): EntryNode {
  const [id, , , name, kind, size, mtimeUs, birthtimeUs, inode, device, contentId] = row;
  const facts = { size, mtimeMs: mtimeUs / 1000, birthtimeMs: birthtimeUs / 1000, inode, device };
  const node = new EntryNode(id, name, kind, facts);
  node.contentId = contentId as Hash | null;
  return node;
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
