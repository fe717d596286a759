import { textRemover, type TextRemover } from "../../base/without-texts.ts";
import type { Database, SqlValue, Statement } from "./database.ts";

/**
 * What becomes of a column when a person has a text removed. "text": the text is replaced in it. "json": in the strings of
 * its JSON. "row": the whole row is deleted. "own": its room removes it itself. "none": it never holds words of anybody: ids,
 * hashes, states, times, paths.
 */
type ColumnTexts = "text" | "json" | "row" | "own" | "none";

/** The columns of a table that are texts or bytes. Every room with a table names them; a test compares them with the tables. */
export interface TextColumns {
  readonly table: string;
  /** The columns that identify a row. */
  readonly key: readonly string[];
  readonly columns: Readonly<Record<string, ColumnTexts>>;
}

/** Rows that are read at once: each may have a megabyte. */
const pageRows = 50;

/** Removes texts from the rows of tables. Returns the number of rows that changed. */
export async function redactColumns(
  database: Database,
  tables: readonly TextColumns[],
  texts: readonly string[],
): Promise<number> {
  const remover = textRemover(texts);
  if (remover.forms.length === 0) return 0;
  let changed = 0;
  for (const table of tables) changed += await redactTable(database, table, remover);
  return changed;
}

/** Returns the tables that have one of the texts in any column that can be read, whatever becomes of it. */
export async function tablesWith(
  database: Database,
  tables: readonly TextColumns[],
  texts: readonly string[],
): Promise<string[]> {
  const { forms } = textRemover(texts);
  const found: string[] = [];
  if (forms.length === 0) return found;
  for (const { table, columns } of tables) {
    const names = Object.keys(columns);
    if (names.length === 0) continue;
    const holds = names.map((name) => `instr(coalesce(${table}.${name}, ''), form.value) > 0`);
    const rows = await database.query(
      `SELECT 1 FROM ${table} WHERE EXISTS (SELECT 1 FROM json_each(?) form WHERE ${holds.join(" OR ")}) LIMIT 1`,
      [JSON.stringify(forms)],
    );
    if (rows.length > 0) found.push(table);
  }
  return found;
}

async function redactTable(
  database: Database,
  { table, key, columns }: TextColumns,
  remover: TextRemover,
): Promise<number> {
  const searched = Object.entries(columns).filter(([, of]) => of === "text" || of === "json" || of === "row");
  if (searched.length === 0) return 0;
  const holds = searched.map(
    // The columns of `json_each` have common names.
    ([name]) => `EXISTS (SELECT 1 FROM json_each(?1) form WHERE instr(${table}.${name}, form.value) > 0)`,
  );
  const names = [...new Set([...key, ...searched.map(([name]) => name)])].join(", ");
  const after = key.map((_name, index) => `?${index + 3}`).join(", ");
  const needles = JSON.stringify(remover.needles);
  let changed = 0;
  let last: SqlValue[] | null = null;
  for (;;) {
    const rows: readonly Record<string, SqlValue>[] = await database.query(
      `SELECT ${names} FROM ${table} WHERE (?2 = 0 OR (${key.join(", ")}) > (${after})) AND (${holds.join(" OR ")})
         ORDER BY ${key.join(", ")} LIMIT ${pageRows}`,
      [needles, last === null ? 0 : 1, ...(last ?? key.map(() => null))],
    );
    const statements = rows.flatMap((row) => statementFor(table, key, searched, row, remover) ?? []);
    await database.batch(statements);
    changed += statements.length;
    const end = rows.at(-1);
    if (end === undefined || rows.length < pageRows) return changed;
    last = key.map((name) => end[name] ?? null);
  }
}

function statementFor(
  table: string,
  key: readonly string[],
  searched: readonly (readonly [string, ColumnTexts])[],
  row: Readonly<Record<string, SqlValue>>,
  remover: TextRemover,
): Statement | null {
  const where = key.map((name) => `${name} IS ?`).join(" AND ");
  const ids = key.map((name) => row[name] ?? null);
  const sets: [name: string, value: string][] = [];
  for (const [name, of] of searched) {
    const before = row[name];
    if (typeof before !== "string" || !remover.holds(before)) continue;
    if (of === "row") return { sql: `DELETE FROM ${table} WHERE ${where}`, params: ids };
    const now = of === "json" ? withoutInJson(before, remover) : remover.from(before);
    if (now !== before) sets.push([name, now]);
  }
  if (sets.length === 0) return null;
  return {
    sql: `UPDATE ${table} SET ${sets.map(([name]) => `${name} = ?`).join(", ")} WHERE ${where}`,
    params: [...sets.map(([, value]) => value), ...ids],
  };
}

/** Text in JSON is replaced in its strings: replaced in the JSON itself it could break an escape. */
function withoutInJson(text: string, remover: TextRemover): string {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return remover.from(text);
  }
  return JSON.stringify(remover.from(value));
}
