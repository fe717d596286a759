import type { Sql } from "./port.ts";

/*
 * DuckDB leaves deleted rows in its file, and what a file no longer uses it does not overwrite. So after a redaction
 * the file is written anew from what is left (`Duck.rewrite`). That this is to be done stands in the file itself, in the
 * redaction's own transaction: a process that dies in between leaves it to the next one.
 */

/** Nothing is due: said in a file that is new, or was written anew. */
export async function createPurge(sql: Sql): Promise<void> {
  await sql.run("CREATE OR REPLACE TABLE purge (is_due BOOLEAN NOT NULL)");
}

export async function askForPurge(sql: Sql): Promise<void> {
  await sql.run("INSERT INTO purge VALUES (true)");
}

/** True where something was redacted, and the file was not written anew since. */
export async function isPurgeDue(sql: Sql): Promise<boolean> {
  return (await sql.all("SELECT 1 AS due FROM purge LIMIT 1")).length > 0;
}
