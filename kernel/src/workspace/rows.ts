import type { Statement } from "../platform/database/database.ts";
import type { EntryNode } from "./tree.ts";

/** A row of the table `entries`, in the order of its columns. */
export type EntryRow = readonly [
  id: string,
  root: string,
  parent: string | null,
  name: string,
  kind: "file" | "folder",
  size: number,
  mtimeUs: number,
  birthtimeUs: number,
  inode: number,
  device: number,
  contentId: string | null,
];

const entryColumns = "id, root, parent, name, kind, size, mtime_us, birthtime_us, inode, device, content_id";

export function rowOf(node: EntryNode): EntryRow {
  const parent = node.parent;
  const isTop = parent === null || !parent.isEntry;
  return [
    node.id,
    isTop ? (parent?.name ?? "") : "",
    isTop ? null : parent.id,
    node.name,
    node.kind,
    node.size,
    Math.round(node.mtimeMs * 1000),
    Math.round(node.birthtimeMs * 1000),
    node.inode,
    node.device,
    node.contentId,
  ];
}

/** The changes of the table by id: the whole new row, or null to delete it. */
type RowChanges = ReadonlyMap<string, EntryRow | null>;

/** Returns one statement for any number of rows, sent as a single text, which costs this thread least. */
export function rowStatements(changes: RowChanges): Statement[] {
  const put: EntryRow[] = [];
  const gone: string[] = [];
  for (const [id, row] of changes) {
    if (row === null) gone.push(id);
    else put.push(row);
  }
  const statements: Statement[] = [];
  if (put.length > 0) statements.push({ sql: putSql, rows: JSON.stringify(put) });
  if (gone.length > 0) {
    const ids = JSON.stringify(gone);
    for (const sql of deleteSql) statements.push({ sql, params: [ids] });
  }
  return statements;
}

const columns = entryColumns.split(", ");
const putSql = `INSERT INTO entries (${entryColumns}) VALUES (${columns.map(() => "?").join(", ")})
  ON CONFLICT (id) DO UPDATE SET ${columns
    .slice(1)
    .map((column) => `${column} = excluded.${column}`)
    .join(", ")}`;
const deleteSql = [
  "DELETE FROM entries WHERE id IN (SELECT value FROM json_each(?))",
  ...["entry_tags", "entry_fields", "entry_sidecars"].map(
    (table) => `DELETE FROM ${table} WHERE entry IN (SELECT value FROM json_each(?))`,
  ),
];
