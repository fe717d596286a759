import type { Sql } from "../../projection/port.ts";
import { readFact, writeFact } from "./schema.ts";

const fact = "updates-looked";

/** The last row whose item was compared with older items, and whose proposed relations are in the tables. */
export async function comparedRow(database: Sql): Promise<number> {
  return Number((await readFact(database, fact)) ?? 0);
}

export const setComparedRow = (sql: Sql, row: number): Promise<void> => writeFact(sql, fact, String(row));

/**
 * Makes items from this row on be compared again, because they get vectors after their embedding had been
 * given up.
 */
export async function compareAgainFrom(sql: Sql, firstRow: number): Promise<void> {
  if ((await comparedRow(sql)) >= firstRow) await setComparedRow(sql, firstRow - 1);
}
