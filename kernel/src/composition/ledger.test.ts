import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { silentLog } from "../base/log.ts";
import { sha256Hex } from "../platform/files/hash.ts";
import { openNearDatabase } from "../platform/testing/near-database.ts";
import { ledgerMigrations, ledgerTexts } from "./ledger.ts";

/** Every migration that was published, and the digest of its SQL. Add lines at the end; a changed line breaks ledgers. */
const published = [
  ["workspace-1-entries", "18dce6421a63b4d4"],
  ["workspace-2-awaited-metadata", "19bb7e5caa864f98"],
  ["inbox-1-queues", "24b7c14697c89914"],
  ["inbox-2-sources", "576596c1d4e66117"],
  ["jobs-1", "7abc18653cea2e6b"],
  ["jobs-2", "034f556b2c634850"],
  ["jobs-3", "fe61f362fada6d03"],
  ["jobs-4-dead", "abc3c47c21505e84"],
  ["actions-1", "8b7182c03808054e"],
  ["actions-2-retention", "04e20fa8ade14e38"],
  ["actions-3-superseding", "107b8eec248cc08c"],
  ["actions-4-persons", "9e5d5cc724114c6e"],
  ["memory-1-heads", "9e3188a096d7e6ed"],
  ["memory-2-heads-by-key", "fb0b4371e7f2491f"],
  ["memory-3-counts", "187e170e248af6cc"],
  ["memory-4-purged", "b28ce979ad291573"],
  ["memory-5-checkpoints", "61d16846f07dc551"],
  ["shared-data-1", "c85e6f1914c4a1dd"],
  ["shared-data-2", "9d9484a2901f7612"],
  ["agents-1-shown-locations", "422cdf978d3e5280"],
  ["agents-2-told-entries", "4dcf1002b5930ab6"],
  ["agents-3-event-counts", "9297f03fe1ba42b3"],
  ["schedules-1-fired-through", "6d4313408fa74b68"],
  ["models-1-script-turns", "eecc8c79ff0e0abd"],
  ["schedules-2-made", "e9aaf435be4ef1ab"],
  ["agents-4-foreign-places", "3f253c345d58d15d"],
  ["schedules-3-failures", "57273a8ae200db3a"],
  ["decisions-1-uses", "282ac0a8df289b2f"],
  ["tool-calls-1", "3893d9f61e3598aa"],
  ["asks-1-asks", "2b2d8f4a9ebd33f3"],
  ["asks-2-keys", "ba89ef26b2045640"],
  ["asks-3-conversations", "2d24ca8550011761"],
  ["conversations-1", "e9f08aa1e24fe2ef"],
  ["conversations-2-files", "1c405fbbf0bcedd0"],
  ["conversations-3-stems", "14e238821d41ab96"],
  ["conversations-4-places", "a897ea1891f358ae"],
  ["shared-types-1", "eebc7f23f5776873"],
  ["notifications-1", "b6b9608de2a770af"],
  ["notifications-2-schedule", "9479a67449928477"],
  ["forgetting-1", "c1d54dfd52638ecd"],
] as const;

const sources = fileURLToPath(new URL("..", import.meta.url));
const files = readdirSync(sources, { recursive: true, encoding: "utf8" })
  .filter((path) => path.endsWith(".ts"))
  .map((path) => ({ path, text: readFileSync(`${sources}/${path}`, "utf8") }));
const roomOf = (path: string): string => path.split("/")[0] ?? "";

test("published migrations keep their names, their order and their SQL", () => {
  const digestOf = (sql: string): string => sha256Hex(sql.replaceAll(/\s+/g, " ").trim()).slice(0, 16);
  expect(ledgerMigrations.map(({ name, sql }) => [name, digestOf(sql)])).toEqual(published);
});

test("the statements of each of the ledger's tables are in one room, with the table's migrations", async () => {
  await using database = await openNearDatabase({
    path: ":memory:",
    migrations: ledgerMigrations,
    log: silentLog,
  });
  const tables = await database.query<{ name: string }>(
    // The tables behind a full text index are its own.
    "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type <> 'shadow' AND name NOT LIKE 'sqlite_%'",
  );
  expect(tables.length).toBeGreaterThan(ledgerMigrations.length / 2);
  const production = files.filter(({ path }) => !path.endsWith(".test.ts"));
  const strays = tables.flatMap(({ name }) => {
    const statement = new RegExp(`\\b(?:TABLE|FROM|INTO|UPDATE|JOIN)\\s+${name}\\b`);
    const rooms = new Set(
      production.filter(({ text }) => statement.test(text)).map(({ path }) => roomOf(path)),
    );
    return rooms.size === 1 ? [] : [`${name}: ${[...rooms].join(", ") || "nowhere"}`];
  });
  expect(strays).toEqual([]);
});

test("rooms that put others together or decide hold no SQL, and neither do their tests", () => {
  const statement =
    /\b(?:SELECT\s|INSERT\s(?:OR\s\w+\s)?INTO\s|UPDATE\s\w+\sSET\s|DELETE\sFROM\s|(?:CREATE|ALTER|DROP)\s(?:TABLE|INDEX)\s)/;
  const holding = files.filter(
    ({ path, text }) =>
      ["composition", "agents", "policy", "server"].includes(roomOf(path)) &&
      path !== "composition/ledger.test.ts" &&
      statement.test(text),
  );
  expect(holding.map(({ path }) => path)).toEqual([]);
});

test("every text in the ledger is named, with what becomes of it when a person has it removed", async () => {
  await using database = await openNearDatabase({
    path: ":memory:",
    migrations: ledgerMigrations,
    log: silentLog,
  });
  const columns = await database.query<{ table: string; column: string; type: string }>(
    `SELECT t.name AS "table", c.name AS "column", c.type FROM pragma_table_list t, pragma_table_info(t.name) c
       WHERE t.schema = 'main' AND t.type <> 'shadow' AND t.name NOT LIKE 'sqlite_%' AND t.name <> 'migrations'`,
  );
  const texts = columns
    .filter(({ type }) => !["INTEGER", "REAL"].includes(type))
    .map(({ table, column }) => `${table}.${column}`);
  const named = ledgerTexts.flatMap(({ table, columns: of }) =>
    Object.keys(of).map((column) => `${table}.${column}`),
  );
  // A new table or column has a line in the `…Texts` beside its room's migrations, and its room removes texts from it.
  expect(named.toSorted()).toEqual(texts.toSorted());
  const all = columns.map(({ table, column }) => `${table}.${column}`);
  const keys = ledgerTexts.flatMap(({ table, key }) => key.map((column) => `${table}.${column}`));
  expect(keys.filter((each) => !all.includes(each) && !each.endsWith(".rowid"))).toEqual([]);
});
