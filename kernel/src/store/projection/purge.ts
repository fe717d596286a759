import type { Sql } from "./port.ts";

/*
 * DuckDB leaves deleted rows in its file and does not overwrite free space. After a redaction, the file is therefore
 * rewritten from the remaining rows (`Duck.rewrite`). The file itself records, in the redaction's transaction, that
 * this is due, so that the next process does it if this one dies.
 */

/** Records that nothing is due, in a new or rewritten file. */
export async function createPurge(sql: Sql): Promise<void> {
  await sql.run("CREATE OR REPLACE TABLE purge (is_due BOOLEAN NOT NULL)");
}

export async function askForPurge(sql: Sql): Promise<void> {
  await sql.run("INSERT INTO purge VALUES (true)");
}

/** Returns true if the file was not rewritten since something was redacted. */
export async function isPurgeDue(sql: Sql): Promise<boolean> {
  return (await sql.all("SELECT 1 AS due FROM purge LIMIT 1")).length > 0;
}
