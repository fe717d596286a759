import type { JsonValue } from "../../../base/json.ts";
import type { DuckFile } from "../../projection/duck-file.ts";
import type { JournalRecord } from "../../projection/port.ts";
import { knowledgeTables } from "../tables.ts";

export const record = (
  seq: number,
  operation: JournalRecord["operation"],
  id: string,
  data: unknown,
): JournalRecord => ({
  seq,
  writtenMs: 1_000 * seq,
  operation,
  kind: operation === "redact" ? "policy" : "knowledge",
  id,
  data: data as JsonValue,
});

export const apply = (file: DuckFile, records: readonly JournalRecord[]): Promise<void> =>
  file.transaction((sql) => knowledgeTables.apply(sql, records));

const tables = ["items", "relations", "records", "queue"] as const;
/** Returns everything in the tables except labels, which only increase. */
export async function said(file: DuckFile): Promise<Record<string, unknown>> {
  const contents: Record<string, unknown> = {};
  for (const table of tables)
    contents[table] = await file.all(`SELECT * FROM knowledge_${table} ORDER BY ALL`);
  contents["vectors"] = await file.all(
    "SELECT item_row, space, tier, hex(bytes) AS bytes FROM knowledge_vectors ORDER BY ALL",
  );
  return contents;
}

export async function emptied(file: DuckFile): Promise<void> {
  const all = await file.all<{ name: string }>(
    "SELECT table_name AS name FROM duckdb_tables() WHERE table_name LIKE 'knowledge_%' AND database_name <> 'temp'",
  );
  for (const { name } of all) await file.run(`DROP TABLE ${name}`);
  await file.transaction((sql) => knowledgeTables.create(sql));
}
