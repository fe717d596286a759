import { copyFile, open, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { isLaresError } from "../../base/errors.ts";
import { silentLog } from "../../base/log.ts";
import { DatabaseEngine } from "./database-engine.ts";
import { type Database, type Migration, openDatabase } from "./database.ts";
import { failpointNames } from "../failpoints.ts";
import { TestChild } from "../testing/child.ts";
import { temporaryFolder } from "../testing/temporary-folder.ts";

const migrations: readonly Migration[] = [
  { name: "one", sql: "CREATE TABLE words (id INTEGER PRIMARY KEY, word TEXT NOT NULL UNIQUE) STRICT" },
];
const insert = (word: string) => ({ sql: "INSERT INTO words (word) VALUES (?)", params: [word] });

async function opened(path = ":memory:"): Promise<Database> {
  const database = await openDatabase({ path, migrations, log: silentLog });
  onTestFinished(() => database[Symbol.asyncDispose]());
  return database;
}

async function words(database: Database): Promise<string[]> {
  return (await database.query<{ word: string }>("SELECT word FROM words ORDER BY id")).map(
    (row) => row.word,
  );
}

describe("batch", () => {
  test("one that fails among many at once takes only its own statements back", async () => {
    const database = await opened();
    const outcomes = await Promise.allSettled([
      database.batch([insert("a")]),
      database.batch([insert("b"), insert("a")]),
      database.batch([insert("c")]),
    ]);
    expect(outcomes.map((outcome) => outcome.status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    expect(await words(database)).toEqual(["a", "c"]);
  });

  test("calls take effect in call order, and a query sees every batch called before it", async () => {
    const database = await opened();
    const seen: Promise<string[]>[] = [];
    for (let index = 0; index < 300; index++) {
      void database.batch([insert(`w${index}`)]);
      seen.push(words(database));
    }
    const results = await Promise.all(seen);
    results.forEach((list, index) =>
      expect(list).toEqual(Array.from({ length: index + 1 }, (_, i) => `w${i}`)),
    );
  });

  test("a statement with rows is carried out for each of them, or for none", async () => {
    const database = await opened();
    const insertAll = (...values: (string | null)[]) => ({
      sql: "INSERT INTO words (word) VALUES (?)",
      rows: JSON.stringify(values.map((word) => [word])),
    });
    const [result] = await database.batch([{ ...insertAll("a", "\u0000 ü \ud83d\ude00"), expectChanges: 2 }]);
    expect(result?.changes).toBe(2);
    await expect(database.batch([insertAll("c", "a", "d")])).rejects.toMatchObject({ code: "Conflict" });
    await expect(database.batch([insertAll("e", null)])).rejects.toMatchObject({ code: "Conflict" });
    expect(await words(database)).toEqual(["a", "\u0000 ü \ud83d\ude00"]);
  });

  test("a violated expectChanges is a Conflict and stores nothing", async () => {
    const database = await opened();
    const update = { sql: "UPDATE words SET word = 'x' WHERE word = 'none'", expectChanges: 1 };
    await expect(database.batch([insert("a"), update])).rejects.toMatchObject({
      code: "Conflict",
      facts: { changes: 0, expected: 1 },
    });
    expect(await words(database)).toEqual([]);
  });

  test("rows of RETURNING are returned, with their number", async () => {
    const database = await opened();
    const [result] = await database.batch([
      { sql: "INSERT INTO words (word) VALUES ('a'), ('b') RETURNING id, word" },
    ]);
    expect(result).toEqual({
      changes: 2,
      lastInsertRowid: 0,
      rows: [
        { id: 1, word: "a" },
        { id: 2, word: "b" },
      ],
    });
  });

  test("an invalid statement is a StorageError with SQLite's message", async () => {
    const database = await opened();
    await expect(database.batch([{ sql: "INSRT" }])).rejects.toMatchObject({
      code: "StorageError",
      message: expect.stringContaining("syntax error"),
    });
  });

  test("a parameter that cannot travel is refused alone", async () => {
    const database = await opened();
    const outcomes = await Promise.allSettled([
      database.batch([insert("a")]),
      database.batch([{ sql: "SELECT ?", params: [(() => 0) as unknown as string] }]),
      database.batch([insert("b")]),
    ]);
    expect(outcomes.map((outcome) => outcome.status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    expect(await words(database)).toEqual(["a", "b"]);
  });

  test("a call over the queue's bound is refused with Busy, the others are served", async () => {
    const database = await opened();
    const statement = { sql: "SELECT 1" };
    const calls = Array.from({ length: 100_001 }, () => database.batch([statement]));
    const outcomes = await Promise.allSettled(calls);
    const refused = outcomes.filter((outcome) => outcome.status === "rejected");
    expect(refused).toHaveLength(1);
    expect(isLaresError(refused[0]?.reason, "Busy")).toBe(true);
  });
});

describe("durability", () => {
  test("a group is synchronous=FULL when any member asks for power, else NORMAL", async () => {
    const folder = await temporaryFolder();
    using engine = new DatabaseEngine(join(folder, "a.sqlite"), migrations);
    const level = (power: boolean): unknown =>
      engine.run([
        { kind: "batch", statements: [insert(`${power} first`)], power: false },
        { kind: "batch", statements: [insert(`${power} second`)], power },
        { kind: "query", sql: "PRAGMA synchronous", params: [] },
      ])[2];
    expect(level(true)).toMatchObject({ rows: [{ synchronous: 2 }] });
    expect(level(false)).toMatchObject({ rows: [{ synchronous: 1 }] });
    expect(level(true)).toMatchObject({ rows: [{ synchronous: 2 }] });
  });

  const points = failpointNames.filter((name) => name.startsWith("database.group."));
  test.each(points)(
    "dying at %s leaves a batch whole or absent, and every acknowledged one",
    async (name) => {
      const path = join(await temporaryFolder(), "a.sqlite");
      const child = new TestChild(
        `const database = await openDatabase({ path: ${JSON.stringify(path)}, migrations: ${JSON.stringify(migrations)}, log: silentLog });
       for (let n = 0; n < 10; n++) {
         await database.batch(["a", "b"].map((half) => ({ sql: "INSERT INTO words (word) VALUES (?)", params: [n + half] })));
         say(n);
       }`,
        {
          modules: {
            "{ openDatabase }": new URL("./database.ts", import.meta.url),
            "{ silentLog }": new URL("../../base/log.ts", import.meta.url),
          },
          failpoint: `${name}@4`,
        },
      );
      expect(await child.ended()).toBe("SIGKILL");
      const found = await words(await opened(path));
      const acknowledged = child.lines.length;
      const whole = (count: number) => Array.from({ length: count }, (_, n) => [`${n}a`, `${n}b`]).flat();
      expect(acknowledged).toBe(3);
      expect([whole(3), whole(4)]).toContainEqual(found);
    },
  );
});

describe("opening", () => {
  test("each migration is applied once, in order, also to a database that has some", async () => {
    const path = join(await temporaryFolder(), "a.sqlite");
    const first = await openDatabase({ path, migrations, log: silentLog });
    await first.batch([insert("a")]);
    await first[Symbol.asyncDispose]();
    const more = [
      ...migrations,
      { name: "two", sql: "ALTER TABLE words ADD COLUMN length INTEGER; UPDATE words SET length = 1" },
    ];
    const second = await openDatabase({ path, migrations: more, log: silentLog });
    expect(await second.query("SELECT * FROM words")).toEqual([{ id: 1, word: "a", length: 1 }]);
    await second[Symbol.asyncDispose]();
  });

  test("a migration that fails is rolled back", async () => {
    const path = join(await temporaryFolder(), "a.sqlite");
    const bad = [...migrations, { name: "bad", sql: "CREATE TABLE half (a); SELECT nonsense" }];
    await expect(openDatabase({ path, migrations: bad, log: silentLog })).rejects.toMatchObject({
      code: "StorageError",
    });
    expect(await (await opened(path)).query("SELECT name FROM sqlite_master WHERE name = 'half'")).toEqual(
      [],
    );
  });

  test("a file that is not a database is refused with what to do, and left unchanged", async () => {
    const path = join(await temporaryFolder(), "a.sqlite");
    await writeFile(path, "this is not a database, and long enough to be looked at ".repeat(20));
    const before = await readFile(path);
    await expect(opened(path)).rejects.toMatchObject({
      code: "StorageError",
      message: expect.stringMatching(/is damaged.*move it/),
    });
    expect(await readFile(path)).toEqual(before);
  });

  test("damage inside is found when the last process did not close the file", async () => {
    const folder = await temporaryFolder();
    const path = join(folder, "a.sqlite");
    const database = await opened(path);
    await database.batch(Array.from({ length: 5000 }, (_, n) => insert(`${n} ${"x".repeat(50)}`)));
    await database.query("PRAGMA wal_checkpoint(FULL)");
    await database.batch([insert("last")]);
    // As a crash would leave them.
    const copy = join(folder, "copy.sqlite");
    await copyFile(path, copy);
    await copyFile(`${path}-wal`, `${copy}-wal`);
    const file = await open(copy, "r+");
    await file.write(Buffer.alloc(4096, 0xff), 0, 4096, 4096 * 40);
    await file.close();
    await expect(opened(copy)).rejects.toMatchObject({
      code: "StorageError",
      message: expect.stringContaining("is damaged"),
    });
  });

  test("a folder that does not exist is a StorageError", async () => {
    const path = join(await temporaryFolder(), "missing", "a.sqlite");
    await expect(opened(path)).rejects.toMatchObject({
      code: "StorageError",
      message: expect.stringContaining("its folder exists"),
    });
  });
});

describe("closing", () => {
  test("calls made before are finished, calls made after are refused", async () => {
    const path = join(await temporaryFolder(), "a.sqlite");
    const database = await openDatabase({ path, migrations, log: silentLog });
    const pending = Array.from({ length: 3000 }, (_, n) => database.batch([insert(`w${n}`)]));
    const closed = database[Symbol.asyncDispose]();
    await expect(database.batch([insert("late")])).rejects.toMatchObject({ code: "StorageError" });
    await Promise.all(pending);
    await closed;
    await database[Symbol.asyncDispose]();
    expect(await words(await opened(path))).toHaveLength(3000);
  });
});
