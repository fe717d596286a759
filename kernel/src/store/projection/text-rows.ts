import type { Sql } from "./port.ts";
import type { SqlCondition } from "./where.ts";

/** Maximum rows in one list that is handed to DuckDB. */
const rowsInList = 200_000;

/**
 * Returns those of many comma-separated rows that match a condition, ascending. Both databases return their rows as one
 * text, and the intersection is computed here: a join of half a million rows would take DuckDB ten times as long.
 */
export async function filteredRows(sql: Sql, condition: SqlCondition, rows: string): Promise<Float64Array> {
  const [found] = await sql.all<{ rows: string | null }>(
    `SELECT string_agg(row, ',') AS rows FROM events WHERE ${condition.sql}`,
    condition.params,
  );
  const [left, right] = [numbersOf(rows), numbersOf(found?.rows ?? "")];
  const [fewer, more] = left.length < right.length ? [left, right] : [right, left];
  fewer.sort();
  more.sort();
  const both = new Float64Array(fewer.length);
  let count = 0;
  let at = 0;
  for (const row of fewer) {
    while (at < more.length && (more[at] ?? 0) < row) at++;
    if (more[at] === row) both[count++] = row;
  }
  return both.subarray(0, count);
}

/** Splits the list into pieces that are short enough for one statement. */
export function rowLists(rows: string): string[] {
  const lists: string[] = [];
  let start = 0;
  let count = 0;
  for (let comma = rows.indexOf(","); comma !== -1; comma = rows.indexOf(",", comma + 1)) {
    if (++count % rowsInList !== 0) continue;
    lists.push(rows.slice(start, comma));
    start = comma + 1;
  }
  lists.push(rows.slice(start));
  return lists;
}

function numbersOf(list: string): Float64Array {
  if (list === "") return new Float64Array();
  const numbers = new Float64Array(Math.ceil((list.length + 1) / 2));
  let count = 0;
  let number = 0;
  for (let at = 0; at < list.length; at++) {
    const code = list.charCodeAt(at);
    if (code === 0x2c) {
      numbers[count++] = number;
      number = 0;
    } else number = number * 10 + (code - 0x30);
  }
  numbers[count++] = number;
  return numbers.subarray(0, count);
}
