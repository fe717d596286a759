import type { Database } from "../database/database.ts";
import type { TextColumns } from "../database/text-columns.ts";

/** Puts a text into every column of a database from which `redactColumns` removes it. Returns the names of the tables. */
export async function plantTexts(
  database: Database,
  tables: readonly TextColumns[],
  text: string,
): Promise<string[]> {
  const planted: string[] = [];
  for (const { table, columns } of tables) {
    if (!Object.values(columns).some((of) => of === "text" || of === "json" || of === "row")) continue;
    const info = await database.query<{ name: string; type: string }>(
      `SELECT name, type FROM pragma_table_info('${table}')`,
    );
    const values = info.map(({ name, type }) => {
      const of = columns[name];
      if (of === "json") return JSON.stringify({ said: [`It is ${text}`], within: JSON.stringify({ text }) });
      if (of === "text" || of === "row") return `about ${text}`;
      return type === "INTEGER" ? 1 : "x";
    });
    await database.batch([
      {
        sql: `INSERT INTO ${table} (${info.map(({ name }) => name).join(", ")}) VALUES (${info.map(() => "?").join(", ")})`,
        params: values,
      },
    ]);
    planted.push(table);
  }
  return planted;
}
