import { closeSync, existsSync, mkdirSync, openSync, readFileSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "../../platform/testing/temporary-folder.ts";
import { openDuck } from "./duck.ts";
import { testDuck } from "./testing/test-duck.ts";

/** Overwrites a piece of a file in place. */
function damage(path: string, { from, to }: { from: number; to: number }): void {
  const file = openSync(path, "r+");
  writeSync(file, Buffer.alloc(to - from, 7), 0, to - from, from);
  closeSync(file);
}

const storageError = expect.objectContaining({ code: "StorageError" });

describe("one DuckDB for the process", () => {
  it("refuses a second instance, and starts again after the first was closed", async () => {
    const folder = await temporaryFolder();
    await using first = await openDuck({ folder });
    await expect(openDuck({ folder })).rejects.toThrow(/two would lose data/);
    await first[Symbol.asyncDispose]();
    await using _second = await openDuck({ folder });
  });

  it("removes files that an earlier process spilled, and leaves none of its own", async () => {
    const folder = await temporaryFolder();
    const spilled = join(folder, "duckdb.spill", "duckdb_temp_block-1.block");
    mkdirSync(join(folder, "duckdb.spill"));
    writeFileSync(spilled, "forgotten");
    const duck = await openDuck({ folder });
    expect(existsSync(spilled)).toBe(false);
    await duck[Symbol.asyncDispose]();
    expect(existsSync(join(folder, "duckdb.spill"))).toBe(false);
  });

  it("reaches no file outside its folder, loads no extension, and cannot be reconfigured", async () => {
    const { duck, file } = await testDuck();
    const outside = join(await temporaryFolder(), "it's outside.duckdb");
    await expect(duck.attach(outside)).rejects.toThrow(storageError);
    expect(existsSync(outside)).toBe(false);
    for (const sql of [
      "SELECT * FROM read_csv('/etc/passwd')",
      "SELECT * FROM read_text('/etc/passwd')",
      "COPY (SELECT 1) TO '/tmp/lares-never.csv'",
      "INSTALL fts",
      "LOAD fts",
      "SET enable_external_access = true",
      "SET threads = 1",
    ]) {
      await expect(file.run(sql), sql).rejects.toThrow(storageError);
    }
  });

  it("reports once that it has failed, answers nothing more, and still closes everything", async () => {
    const folder = await temporaryFolder();
    const path = join(folder, "a.duckdb");
    {
      await using duck = await openDuck({ folder });
      await using file = await duck.attach(path);
      await file.run("CREATE TABLE t AS SELECT range AS n, hash(range) AS h FROM range(300000)");
    }
    const sound = readFileSync(path);
    const errors: Error[] = [];
    {
      await using duck = await openDuck({ folder, broke: (error) => errors.push(error) });
      const file = await duck.attach(path);
      await file.run("SELECT * FROM nowhere").catch(() => undefined);
      expect(errors).toEqual([]);
      // Rows that a checkpoint has to merge and cannot read: the checkpoint fails midway.
      await file.run("DELETE FROM t WHERE rowid % 3 > 0");
      damage(path, { from: 12 * 1024, to: sound.length - 256 * 1024 });
      await expect(file.checkpoint()).rejects.toThrow(storageError);
      await expect(file.all("SELECT 1 AS one")).rejects.toThrow(storageError);
      await expect(duck.attach(join(folder, "b.duckdb"))).rejects.toThrow(storageError);
      expect(errors).toHaveLength(1);
    }
    // After the repair, what was committed is there.
    writeFileSync(path, sound);
    await using again = await openDuck({ folder });
    await using file = await again.attach(path);
    expect(await file.all("SELECT count(*) AS n FROM t")).toEqual([{ n: 100_000 }]);
  });

  it("opens a file whose path has quotes and spaces in it", async () => {
    const { duck, folder } = await testDuck();
    const path = join(folder, `it's "a" file; DROP.duckdb`);
    await using file = await duck.attach(path);
    await file.run("CREATE TABLE t (n BIGINT)");
    expect(existsSync(path)).toBe(true);
  });

  it.each([
    ["no database", "not a database, but long enough to be read as a header ".repeat(100)],
    ["SQLite", "SQLite format 3\0".padEnd(8192, "\0")],
  ])(
    "says of a file that is %s that it cannot be opened, and opens others after that",
    async (_, content) => {
      const { duck, folder, file } = await testDuck();
      writeFileSync(join(folder, "bad.duckdb"), content);
      await expect(duck.attach(join(folder, "bad.duckdb"))).rejects.toThrow(storageError);
      expect(await file.all("SELECT 1 AS one")).toEqual([{ one: 1 }]);
    },
  );
});

describe("one file", () => {
  it("keeps every type of value, by parameter and by append", async () => {
    const { file } = await testDuck();
    await file.run("CREATE TABLE t (b BIGINT, d DOUBLE, s VARCHAR, t BOOLEAN, x BLOB)");
    const rows = [
      { b: 1, d: 0.5, s: "it's\u0000😀", t: true, x: new Uint8Array([0, 255]) },
      { b: Number.MAX_SAFE_INTEGER, d: 1e300, s: "", t: false, x: new Uint8Array() },
      { b: 9_007_199_254_740_993n, d: -0.1, s: "�", t: null, x: null },
      { b: null, d: null, s: null, t: null, x: null },
    ];
    await file.append(
      "t",
      rows.map((row) => Object.values(row)),
    );
    for (const row of rows) await file.run("INSERT INTO t VALUES (?, ?, ?, ?, ?)", Object.values(row));
    expect(await file.all("SELECT * FROM t ORDER BY rowid")).toEqual([...rows, ...rows]);
  });

  it("appends more rows at once than a chunk has", async () => {
    const { file } = await testDuck();
    await file.run("CREATE TABLE t (n BIGINT)");
    await file.append(
      "t",
      Array.from({ length: 5000 }, (_, n) => [n]),
    );
    await file.append("t", []);
    expect(await file.all("SELECT count(*) AS n, sum(n) AS total FROM t")).toEqual([
      { n: 5000, total: 12_497_500 },
    ]);
  });

  it("runs more different statements than it keeps prepared, and the same ones again", async () => {
    const { file } = await testDuck();
    for (let round = 0; round < 2; round++) {
      for (let n = 0; n < 100; n++)
        expect(await file.all(`SELECT ${n} + ? AS n`, [1])).toEqual([{ n: n + 1 }]);
    }
  });

  it("makes other statements wait for a transaction's end, also if it fails", async () => {
    const { file } = await testDuck();
    await file.run("CREATE TABLE t (n BIGINT)");
    const begun = Promise.withResolvers<void>();
    const failing = file.transaction(async (sql) => {
      await sql.append("t", [[1]]);
      await sql.run("INSERT INTO t VALUES (?)", [2]);
      await begun.promise;
      throw new Error("no");
    });
    const count = file.all("SELECT count(*) AS n FROM t");
    begun.resolve();
    await expect(failing).rejects.toThrow("no");
    expect(await count).toEqual([{ n: 0 }]);
    expect(
      await file.transaction(async (sql) => {
        await sql.append("t", [[1]]);
        return sql.all("SELECT n FROM t");
      }),
    ).toEqual([{ n: 1 }]);
    expect(await file.all("SELECT n FROM t")).toEqual([{ n: 1 }]);
  });

  it("continues after a statement within a transaction failed", async () => {
    const { file } = await testDuck();
    await expect(file.transaction((sql) => sql.run("SELECT * FROM nowhere"))).rejects.toThrow(storageError);
    expect(await file.all("SELECT 1 AS one")).toEqual([{ one: 1 }]);
  });

  it("is complete in its one file after it was closed, and can be reopened", async () => {
    const { duck, folder } = await testDuck();
    const path = join(folder, "again.duckdb");
    const file = await duck.attach(path);
    await file.run("CREATE TABLE t (s VARCHAR)");
    await file.append("t", [["kept"]]);
    await file[Symbol.asyncDispose]();
    await file[Symbol.asyncDispose]();
    expect(existsSync(`${path}.wal`)).toBe(false);
    expect(readFileSync(path).includes("kept")).toBe(true);
    await expect(file.run("SELECT 1")).rejects.toThrow(/is closed/);
    await using again = await duck.attach(path);
    expect(await again.all("SELECT s FROM t")).toEqual([{ s: "kept" }]);
  });

  it("two open files each see their own tables", async () => {
    const { duck, folder, file } = await testDuck();
    await using other = await duck.attach(join(folder, "other.duckdb"));
    await file.run("CREATE TABLE t AS SELECT 'one' AS s");
    await other.run("CREATE TABLE t AS SELECT 'two' AS s");
    await file.append("t", [["more"]]);
    expect(await other.all("SELECT s FROM t")).toEqual([{ s: "two" }]);
    expect(await file.all("SELECT count(*) AS n FROM t")).toEqual([{ n: 2 }]);
  });
});
