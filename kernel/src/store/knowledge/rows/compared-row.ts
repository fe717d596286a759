import type { Sql } from "../../projection/port.ts";
import { readFact, writeFact } from "./schema.ts";

const fact = "updates-looked";

/** The last row whose item was compared with older items; the relations that were proposed are in the tables. */
export async function comparedRow(database: Sql): Promise<number> {
  return Number((await readFact(database, fact)) ?? 0);
}

export const setComparedRow = (sql: Sql, row: number): Promise<void> => writeFact(sql, fact, String(row));

/** From this row on, items are compared again: they get their vectors after they had been given up on. */
export async function compareAgainFrom(sql: Sql, firstRow: number): Promise<void> {
  if ((await comparedRow(sql)) >= firstRow) await setComparedRow(sql, firstRow - 1);
}
