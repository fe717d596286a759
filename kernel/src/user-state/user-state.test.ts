import { chmod, readdir, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, onTestFinished, test } from "vitest";
import { silentLog } from "../base/log.ts";
import { sha256Hex } from "../platform/files/hash.ts";
import { syncWriteAheadLog } from "../platform/database/write-ahead-log.ts";
import { TestChild } from "../platform/testing/child.ts";
import { openNearDatabase } from "../platform/testing/near-database.ts";
import { temporaryFolder } from "../platform/testing/temporary-folder.ts";
import { userStateMigrations } from "./migrations.ts";
import { secretRows } from "./secret-rows.ts";
import { usage } from "./usage.ts";
import { UserState } from "./user-state.ts";

function stateIn(stateHome: string): UserState {
  const state = new UserState({ stateHome, log: silentLog, open: openNearDatabase });
  onTestFinished(() => state[Symbol.asyncDispose]());
  return state;
}
const listIn = (stateHome: string) => secretRows(stateIn(stateHome)).list();
const row = (name: string) => ({
  name,
  hosts: '["a.example"]',
  place: "header",
  created: "2026-11-23T00:00:00.000Z",
  key_id: "0123456789abcdef",
  record: new Uint8Array([1, 2, 3]),
});
/**
 * Only for files that nobody has open: if a process opens a file in another way, SQLite loses that process's locks.
 */
async function edit(stateHome: string, sql: string): Promise<void> {
  const database = new DatabaseSync(join(stateHome, "user.sqlite"));
  database.exec(sql);
  database.close();
}

test("published migrations keep their names, their order and their SQL", () => {
  const digestOf = (sql: string): string => sha256Hex(sql.replaceAll(/\s+/g, " ").trim()).slice(0, 16);
  expect(userStateMigrations.map(({ name, sql }) => [name, digestOf(sql)])).toEqual([
    ["secrets-1", "bc4326105e3773ab"],
    ["usage-1", "b948a28870ab17af"],
    ["packages-1", "419949e2848a1fb2"],
  ]);
});

test("nothing is created before the first call; only the owner can read the files, even with an open umask", async () => {
  const home = await temporaryFolder();
  const state = stateIn(home);
  expect(await readdir(home)).toEqual([]);
  const before = process.umask(0);
  try {
    await secretRows(state).put(row("a"), 10);
  } finally {
    process.umask(before);
  }
  const names = (await readdir(home)).toSorted();
  expect(names).toEqual(["user.lock", "user.sqlite", "user.sqlite-shm", "user.sqlite-wal"]);
  for (const name of names) expect((await stat(join(home, name))).mode & 0o777).toBe(0o600);
});

test("a file that others may read is refused and not changed", async () => {
  const home = await temporaryFolder();
  await stateIn(home).query("SELECT 1");
  const other = await temporaryFolder();
  await writeFile(join(other, "user.sqlite"), "", { mode: 0o600 });
  await chmod(join(other, "user.sqlite"), 0o644);
  await expect(listIn(other)).rejects.toThrow(/mode 0644.*chmod 600/);
  expect((await stat(join(other, "user.sqlite"))).size).toBe(0);
});

test("a file of a newer Lares is refused, also when it becomes newer while it is open", async () => {
  const home = await temporaryFolder();
  const early = stateIn(home);
  await secretRows(early).put(row("a"), 10);
  await using newer = await openNearDatabase({
    path: join(home, "user.sqlite"),
    sharedLock: join(home, "user.lock"),
    migrations: [
      ...userStateMigrations,
      { name: "future-1", sql: "CREATE TABLE future (id INTEGER) STRICT" },
    ],
    log: silentLog,
  });
  expect(await newer.query("SELECT name FROM secrets")).toHaveLength(1);
  const sentence = /^user\.sqlite was written by a newer Lares \(.*\)\. Update this Lares\.$/;
  await expect(secretRows(early).put(row("b"), 10)).rejects.toThrow(sentence);
  await expect(secretRows(early).list()).rejects.toThrow(/migration future-1/);
  await expect(listIn(home)).rejects.toThrow(sentence);
  expect(await newer.query("SELECT name FROM secrets")).toHaveLength(1);
});

test("a damaged file is renamed if only one process has it open; only that call fails", async () => {
  const home = await temporaryFolder();
  await writeFile(
    join(home, "user.sqlite"),
    "this is no database, but it is as long as one would be".repeat(100),
    {
      mode: 0o600,
    },
  );
  const state = stateIn(home);
  await expect(secretRows(state).list()).rejects.toThrow(/damaged.*renamed/);
  expect(await secretRows(state).list()).toEqual([]);
  const [aside] = (await readdir(home)).filter((name) => name.includes("damaged"));
  expect((await stat(join(home, aside ?? ""))).size).toBe(5400);
});

test("a file is not checked or renamed while another process has it open", async () => {
  const home = await temporaryFolder();
  const state = stateIn(home);
  await secretRows(state).put(row("a"), 10);
  expect(await listIn(home)).toHaveLength(1);
  await secretRows(state).put(row("b"), 10);
  expect(await listIn(home)).toHaveLength(2);
  expect((await readdir(home)).filter((name) => name.includes("damaged") || name.endsWith(".sum"))).toEqual(
    [],
  );
});

const modules = {
  "{ UserState }": new URL("./user-state.ts", import.meta.url),
  "{ secretRows }": new URL("./secret-rows.ts", import.meta.url),
  "{ usage }": new URL("./usage.ts", import.meta.url),
};
const child = (home: string, body: string): TestChild =>
  new TestChild(
    `const log = { debug() {}, info() {}, warn() {}, error() {} };
    const opened = () => new UserState({ stateHome: ${JSON.stringify(home)}, log });
    ${body}`,
    { modules },
  );

test("four processes that open, write and close a file that does not exist yet lose nothing", async () => {
  const home = await temporaryFolder();
  const children = [0, 1, 2, 3].map((number) =>
    child(
      home,
      `for (let turn = 0; turn < 8; turn++) {
        await using state = opened();
        await secretRows(state).put({ ...${JSON.stringify({ ...row("x"), record: [] })}, name: "p${number}-" + turn,
          record: new Uint8Array([1]) }, 1000);
      }`,
    ),
  );
  for (const process of children) expect(await process.ended()).toBe("exit 0");
  expect(await listIn(home)).toHaveLength(32);
  expect((await readdir(home)).filter((name) => name.includes("damaged"))).toEqual([]);
});

test("two processes cannot both reserve the rest of a budget", async () => {
  const home = await temporaryFolder();
  const children = ["a", "b"].map((name) =>
    child(
      home,
      `await using state = opened();
      let taken = 0;
      for (let turn = 0; turn < 15; turn++)
        if ((await usage(state).reserve("${name}" + turn, { day: "2026-11-23", model: "m", agent: "x", conversation: "" },
          { inputTokens: 1, outputTokens: 1, microUsd: 100 }, { perDayMicroUsd: 1_000 })) === null) taken++;
      say(String(taken));`,
    ),
  );
  for (const process of children) expect(await process.ended()).toBe("exit 0");
  expect(children.reduce((sum, { lines }) => sum + Number(lines[0]), 0)).toBe(10);
});

/** A timer for a child whose usage is not to wait for the disk; it never flushes. */
const later = "const later = { add() {}, remove() {} };";

test("two processes that do not wait for the disk, one of them killed, cannot exceed a budget, and none is lost", async () => {
  const home = await temporaryFolder();
  const spender = (name: string, other: string, begun: number) =>
    child(
      home,
      `${later}
      const state = new UserState({ stateHome: ${JSON.stringify(home)}, log, disk: later });
      const isOtherThere = async () => (await state.query("SELECT 1 FROM reservations WHERE agent = '${other}'")).length >= ${begun};
      for (let turn = 0; ; turn++) {
        // Neither has spent all before the other has begun, and the one that is killed has something to lose.
        while (turn === 1 && !(await isOtherThere()));
        const exceeded = await usage(state).reserve("${name}" + turn, { day: "2026-11-23", model: "m", agent: "${name}", conversation: "" },
          { inputTokens: 1, outputTokens: 1, microUsd: 100 }, { perDayMicroUsd: 10_000 });
        if (exceeded !== null) break;
        say("${name}" + turn);
      }
      await state[Symbol.asyncDispose]();`,
    );
  const [killed, other] = [spender("a", "b", 1), spender("b", "a", 5)];
  await killed.waitForLines(5);
  await killed.kill();
  expect(await other.ended()).toBe("exit 0");
  const state = stateIn(home);
  const stored = await state.query<{ id: string }>("SELECT id FROM reservations");
  const ids = new Set(stored.map(({ id }) => id));
  for (const line of [...killed.lines, ...other.lines]) expect(ids).toContain(line);
  expect(stored).toHaveLength(100);
});

test("killing a writing process loses no acknowledged row, and the next process can use the file", async () => {
  const home = await temporaryFolder();
  const writer = child(
    home,
    `const state = opened();
    for (let turn = 0; ; turn++) {
      await secretRows(state).put({ ...${JSON.stringify({ ...row("x"), record: [] })}, name: "n" + turn,
        record: new Uint8Array([1]) }, 100000);
      say(String(turn));
    }`,
  );
  await writer.waitForLines(20);
  await writer.kill();
  const names = new Set((await listIn(home)).map(({ name }) => name));
  for (const line of writer.lines) expect(names).toContain(`n${line}`);
  expect((await readdir(home)).filter((name) => name.includes("damaged"))).toEqual([]);
});

test("a full disk fails the call and changes nothing", async () => {
  const home = await temporaryFolder();
  await using first = stateIn(home);
  await secretRows(first).put(row("a"), 10);
  await first[Symbol.asyncDispose]();
  await edit(home, "VACUUM");
  // SQLite's page limit fails like a full disk (SQLITE_FULL); the setting lasts as long as the connection.
  const state = new UserState({
    stateHome: home,
    log: silentLog,
    open: async (options) => {
      const database = await openNearDatabase(options);
      await database.query("PRAGMA max_page_count = 1");
      return database;
    },
  });
  onTestFinished(() => state[Symbol.asyncDispose]());
  const large = { ...row("b"), record: new Uint8Array(200_000) };
  await expect(secretRows(state).put(large, 10)).rejects.toThrow(/No space is left/);
  expect((await listIn(home)).map(({ name }) => name)).toEqual(["a"]);
});

const estimate = { inputTokens: 1, outputTokens: 1, microUsd: 1 };
const report = { ...estimate, reasoningTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 };
const subject = { day: "2026-11-23", model: "m", agent: "a", conversation: "c" };

/** A state whose batches and flushes are counted; `fire` is the timer of the logs. */
async function counted(synchronize: () => Promise<void> = () => Promise.resolve()) {
  const home = await temporaryFolder();
  const batches: (string | undefined)[] = [];
  const waiting = new Set<{ bringToDisk(): Promise<void> }>();
  let flushes = 0;
  const state = new UserState({
    stateHome: home,
    log: silentLog,
    disk: { add: (one) => waiting.add(one), remove: (one) => waiting.delete(one) },
    synchronize: () => {
      flushes++;
      return synchronize();
    },
    open: async (options) => {
      const database = await openNearDatabase(options);
      return {
        query: (sql, params) => database.query(sql, params),
        batch: (statements, given) => {
          batches.push(given?.durability);
          return database.batch(statements, given);
        },
        [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
      };
    },
  });
  onTestFinished(() => state[Symbol.asyncDispose]());
  const fire = async (): Promise<void> => {
    const due = [...waiting];
    waiting.clear();
    await Promise.all(due.map((one) => one.bringToDisk()));
  };
  return { state, batches, fire, flushes: () => flushes };
}

test("usage waits for no disk and is flushed once by the timer of the logs; secrets wait", async () => {
  const { state, batches, fire, flushes } = await counted();
  const counts = usage(state);
  await counts.reserve("first", subject, estimate, {});
  await fire();
  batches.length = 0;
  const before = flushes();
  for (const id of ["r1", "r2", "r3"]) {
    await counts.reserve(id, subject, estimate, {});
    await counts.settle(id, report);
  }
  expect(batches.every((durability) => durability !== "power")).toBe(true);
  expect(flushes()).toBe(before);
  await fire();
  await fire();
  expect(flushes()).toBe(before + 1);
  await secretRows(state).put(row("a"), 10);
  expect(batches.at(-1)).toBe("power");
  await counts.reserve("r4", subject, estimate, {});
  await state[Symbol.asyncDispose]();
  expect(flushes()).toBe(before + 2);
});

test("after a failed flush each request waits for the disk, until it takes one", async () => {
  let isFailing = true;
  const { state, batches, fire } = await counted(() =>
    isFailing ? Promise.reject(new Error("Input/output error")) : Promise.resolve(),
  );
  const counts = usage(state);
  await counts.reserve("r1", subject, estimate, {});
  await fire();
  isFailing = false;
  batches.length = 0;
  await counts.reserve("r2", subject, estimate, {});
  await counts.reserve("r3", subject, estimate, {});
  expect(batches).toEqual(["power", undefined]);
  expect(await counts.sums("day")).toMatchObject([{ requests: 3 }]);
});

test("the log of a database is brought to the disk; one that is not there needs nothing", async () => {
  const home = await temporaryFolder();
  await secretRows(stateIn(home)).put(row("a"), 10);
  await syncWriteAheadLog(join(home, "user.sqlite"));
  await syncWriteAheadLog(join(home, "other.sqlite"));
  await expect(syncWriteAheadLog(join(home, "user.sqlite", "inside"))).rejects.toMatchObject({
    code: "StorageError",
  });
});
