import { expect, test } from "vitest";
import { silentLog } from "../../base/log.ts";
import { redactedMark } from "../../base/without-texts.ts";
import { openNearDatabase } from "../testing/near-database.ts";
import { redactColumns, tablesWith, type TextColumns } from "./text-columns.ts";

const things: TextColumns = {
  table: "things",
  key: ["kind", "id"],
  columns: { kind: "none", name: "none", said: "text", data: "json", value: "row" },
};

async function opened() {
  return await openNearDatabase({
    path: ":memory:",
    migrations: [
      {
        name: "things",
        sql: "CREATE TABLE things (kind TEXT, id INTEGER, name TEXT, said TEXT, data TEXT, value TEXT, PRIMARY KEY (kind, id)) STRICT",
      },
    ],
    log: silentLog,
  });
}

test("texts are replaced in columns of text and of JSON, and rows that are about them are deleted", async () => {
  await using database = await opened();
  const insert = (id: number, said: string | null, data: unknown, value: string) => ({
    sql: "INSERT INTO things VALUES ('k', ?, 'a fig', ?, ?, ?)",
    params: [id, said, data === null ? null : JSON.stringify(data), value],
  });
  await database.batch([
    insert(1, "a fig tree", { fig: ["one fig", 2] }, ""),
    insert(2, null, null, "the fig"),
    insert(3, "an oak", "an oak", ""),
    // More than one page.
    ...Array.from({ length: 120 }, (_, index) => insert(10 + index, "fig", null, "")),
  ]);
  expect(await redactColumns(database, [things], ["fig"])).toBe(122);
  const rows = await database.query("SELECT id, said, data FROM things WHERE id < 10 ORDER BY id");
  expect(rows).toEqual([
    {
      id: 1,
      said: `a ${redactedMark} tree`,
      data: JSON.stringify({ [redactedMark]: [`one ${redactedMark}`, 2] }),
    },
    { id: 3, said: "an oak", data: '"an oak"' },
  ]);
  expect(await database.query("SELECT 1 FROM things WHERE said = 'fig'")).toEqual([]);
  expect(await redactColumns(database, [things], ["fig"])).toBe(0);
  // Its names stay, and are named.
  expect(await tablesWith(database, [things], ["fig"])).toEqual(["things"]);
  expect(await tablesWith(database, [things], ["cedar"])).toEqual([]);
});

test("JSON stays JSON, whatever the text is", async () => {
  await using database = await opened();
  const data = { text: 'line\nnext "quoted"', other: "nnext" };
  await database.batch([
    { sql: "INSERT INTO things VALUES ('k', 1, '', '', ?, '')", params: [JSON.stringify(data)] },
  ]);
  // In the JSON itself it stands behind a backslash, too.
  await redactColumns(database, [things], ["nnext"]);
  const [row] = await database.query<{ data: string }>("SELECT data FROM things");
  expect(JSON.parse(row?.data ?? "")).toEqual({ text: data.text, other: redactedMark });
});

test("a text that was cut off in a column is found by its beginning", async () => {
  await using database = await opened();
  const text = "My bank account is 4711 0815, and nobody but you may know that, please.";
  await database.batch([
    {
      sql: "INSERT INTO things VALUES ('k', 1, '', ?, ?, '')",
      params: [`${text.slice(0, 50)}…`, JSON.stringify({ title: text.slice(0, 60) })],
    },
    {
      sql: "INSERT INTO things VALUES ('k', 2, '', ?, NULL, '')",
      params: [`${text.slice(0, 45)} somebody else's.`],
    },
  ]);
  expect(await redactColumns(database, [things], [text])).toBe(1);
  expect(await database.query("SELECT said, data FROM things ORDER BY id")).toEqual([
    { said: `${redactedMark}…`, data: JSON.stringify({ title: redactedMark }) },
    { said: `${text.slice(0, 45)} somebody else's.`, data: null },
  ]);
});
