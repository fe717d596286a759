import { copyFileSync, existsSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { silentLog } from "../../base/log.ts";
import { openDatabase } from "./database.ts";
import { breakSeal } from "./database-seal.ts";
import { temporaryFolder } from "../testing/temporary-folder.ts";

const open = (path: string) =>
  openDatabase({
    path,
    migrations: [{ name: "one", sql: "CREATE TABLE notes (text TEXT NOT NULL) STRICT" }],
    log: silentLog,
  });

async function closed(): Promise<string> {
  const path = join(await temporaryFolder(), "a.sqlite");
  await using database = await open(path);
  await database.batch([{ sql: "INSERT INTO notes VALUES ('what was written')" }]);
  return path;
}

test("any byte that was flipped since the file was closed is found, in rows too, and the file is left as it is", async () => {
  const path = await closed();
  const whole = readFileSync(path);
  await fc.assert(
    fc.asyncProperty(fc.nat(whole.length - 1), fc.integer({ min: 1, max: 255 }), async (at, by) => {
      const damaged = whole.with(at, (whole[at] ?? 0) ^ by);
      writeFileSync(path, damaged);
      expect(() => breakSeal(path)).toThrow(/a\.sqlite" is damaged.*\.sum/);
      expect(readFileSync(path).equals(damaged)).toBe(true);
    }),
  );
  await expect(open(path)).rejects.toThrow("is damaged");
  writeFileSync(path, whole);
  await using database = await open(path);
  expect(await database.query("SELECT text FROM notes")).toEqual([{ text: "what was written" }]);
});

test("one that was cut, emptied or put back to an older copy is found; without its sum it is taken as it is", async () => {
  const path = await closed();
  copyFileSync(path, `${path}.old`);
  {
    await using database = await open(path);
    await database.batch([{ sql: "INSERT INTO notes VALUES ('later')" }]);
  }
  const whole = readFileSync(path);
  truncateSync(path, whole.length - 100);
  expect(() => breakSeal(path)).toThrow("damaged");
  truncateSync(path, 0);
  expect(() => breakSeal(path)).toThrow("damaged");
  copyFileSync(`${path}.old`, path);
  await expect(open(path)).rejects.toThrow("damaged");
  rmSync(`${path}.sum`);
  await using database = await open(path);
  expect(await database.query("SELECT text FROM notes")).toHaveLength(1);
  expect(existsSync(`${path}.sum`)).toBe(false);
});
