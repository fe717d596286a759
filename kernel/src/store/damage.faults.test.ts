import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import { until } from "../../../test/support/until.ts";
import { beginningMs } from "./testing/test-journal.ts";
import { eventsOf, rebuiltOf, testStore, type TestStore } from "./testing/test-store.ts";

const nowMs = beginningMs;
const count = 3000;
const storageError = expect.objectContaining({ code: "StorageError" });

/** A memory that was projected. Its host has ended or was killed. */
async function projected(end: "closed" | "killed"): Promise<TestStore> {
  const first = await testStore();
  const { store, journal } = first;
  journal.appendEvents(count, (n) => ({ data: { words: `beach number${n}`, n } }));
  expect(await eventsOf(store, journal)).toBe(count);
  if (end === "killed" && store.pid !== null) {
    process.kill(store.pid, "SIGKILL");
    await until("it is noticed", () => store.pid === null);
  }
  await store[Symbol.asyncDispose]();
  const next = await testStore(first.stateFolder);
  return { ...next, journal };
}

/** Everything is found, in the tables and in the full text. */
async function checkWhole({ store, journal }: TestStore): Promise<void> {
  expect(await eventsOf(store, journal)).toBe(journal.end.seq);
  const query = { text: { match: `beach number${count}` }, limit: 5 };
  const page = await store.request("temporal.query", journal.memory, { query, nowMs });
  expect(page).toMatchObject({ total: 1, items: [{ id: `event-${count}` }] });
  const counted = await store.request("temporal.count", journal.memory, {
    query: { where: [{ field: "n", op: "lte", value: count }] },
    nowMs,
  });
  expect(counted.count).toBe(count);
}

function overwrite(path: string, share: number, bytes: number): void {
  const content = readFileSync(path);
  const start = Math.min(Math.floor(content.length * share), content.length - bytes);
  for (let at = start; at < start + bytes; at++) content[at] = (content[at] ?? 0) ^ 0x5a;
  writeFileSync(path, content);
}

const damages: readonly (readonly [string, (path: string) => void])[] = [
  ["random bytes all over", (path) => writeFileSync(path, Buffer.alloc(300_000, "\u00f7?x\u0000"))],
  ["a changed header", (path) => overwrite(path, 0, 64)],
  [
    "a changed byte in every page",
    (path) => {
      for (let at = 4196; at < statSync(path).size; at += 4096) overwrite(path, at / statSync(path).size, 1);
    },
  ],
  ["half of it cut off", (path) => truncateSync(path, Math.floor(statSync(path).size / 2))],
  ["no byte left", (path) => truncateSync(path, 0)],
  [
    "another kind of database",
    (path) => writeFileSync(path, Buffer.from(`SQLite format 3\0${"x".repeat(5000)}`)),
  ],
  [
    "a folder in its place",
    (path) => {
      rmSync(path);
      mkdirSync(path);
      writeFileSync(join(path, "somebody's"), "file");
    },
  ],
  [
    "a named pipe in its place",
    (path) => {
      rmSync(path);
      execFileSync("mkfifo", [path]);
    },
  ],
  [
    "a link in its place",
    (path) => {
      renameSync(path, `${path}.elsewhere`);
      symlinkSync(`${path}.elsewhere`, path);
    },
  ],
];

describe.each(["temporal.duckdb", "text.sqlite"])("%s", (name) => {
  test.each(damages)("with %s is rebuilt, and this is reported", async (_, damage) => {
    const next = await projected("closed");
    damage(join(next.journal.folder, name));
    await checkWhole(next);
    expect(rebuiltOf(next.notices)).toMatchObject([{ what: name }]);
  });

  // The log beside the file may contain everything. Then the damaged part is not read and nothing is
  // reported.
  test.each(damages.slice(0, 3))(
    "whose host was killed, with %s, gives no wrong answer",
    async (_, damage) => {
      const next = await projected("killed");
      damage(join(next.journal.folder, name));
      await checkWhole(next);
    },
  );

  test("that is missing beside the other is rebuilt, and this is reported", async () => {
    const next = await projected("closed");
    rmSync(join(next.journal.folder, name));
    await checkWhole(next);
    expect(rebuiltOf(next.notices)).toMatchObject([{ what: name }]);
  });
});

describe("the log beside the tables", () => {
  /** Beside a file of an earlier state, so that the log has changes to apply. */
  async function withLog(): Promise<{ next: TestStore; path: string; log: string }> {
    const next = await projected("killed");
    const path = join(next.journal.folder, "temporal.duckdb");
    const log = `${path}.wal`;
    expect(statSync(log).size).toBeGreaterThan(10_000);
    return { next, path, log };
  }

  test.each([
    ["changed at its beginning", (log: string) => overwrite(log, 0, 200)],
    ["changed in the middle", (log: string) => overwrite(log, 0.5, 200)],
    ["cut in the middle", (log: string) => truncateSync(log, Math.floor(statSync(log).size / 2))],
    ["of random bytes", (log: string) => writeFileSync(log, Buffer.alloc(50_000, "\u00f7?x\u0000"))],
    ["with something behind it", (log: string) => appendFileSync(log, Buffer.alloc(5000, 7))],
    ["missing", (log: string) => rmSync(log)],
  ])("%s: nothing is accepted that was not written", async (_, damage) => {
    const { next, log } = await withLog();
    damage(log);
    await checkWhole(next);
  });

  test("that is a named pipe does not block", async () => {
    const { next, log } = await withLog();
    rmSync(log);
    execFileSync("mkfifo", [log]);
    await checkWhole(next);
    expect(rebuiltOf(next.notices)).toMatchObject([
      { reason: '"temporal.duckdb.wal" is not a regular file' },
    ]);
  });
});

describe("what is on the disk", () => {
  test("that was being opened when a host ended is not opened again", async () => {
    const next = await projected("closed");
    writeFileSync(join(next.journal.folder, "temporal.duckdb.opening"), "");
    await checkWhole(next);
    expect(rebuiltOf(next.notices)).toEqual([
      { what: "temporal.duckdb", reason: "the store host ended while it opened this file" },
    ]);
    expect(readdirSync(next.journal.folder)).not.toContain("temporal.duckdb.opening");
  });

  test("whose marker is a pipe does not block", async () => {
    const next = await projected("closed");
    execFileSync("mkfifo", [join(next.journal.folder, "text.sqlite.opening")]);
    await checkWhole(next);
    expect(rebuiltOf(next.notices)).toMatchObject([{ what: "text.sqlite" }]);
  });

  test("of another version is rebuilt", async () => {
    const next = await projected("closed");
    const path = join(next.journal.folder, "text.sqlite");
    rmSync(`${path}.sum`);
    const database = new DatabaseSync(path);
    database.exec("PRAGMA user_version = 999");
    database.close();
    await checkWhole(next);
    expect(rebuiltOf(next.notices)).toMatchObject([
      { what: "text.sqlite", reason: expect.stringContaining("of another version") },
    ]);
  });

  test("that is an older copy is brought up to the journal", async () => {
    const { store, journal, stateFolder } = await projected("closed");
    const copy = join(stateFolder, "copy");
    cpSync(journal.folder, copy, { recursive: true });
    journal.appendEvents(500);
    await eventsOf(store, journal);
    await store[Symbol.asyncDispose]();
    for (const name of readdirSync(copy).filter((name) => name !== "journal"))
      cpSync(join(copy, name), join(journal.folder, name));
    const next = await testStore(stateFolder);
    await checkWhole({ ...next, journal });
    expect(rebuiltOf(next.notices)).toEqual([]);
  });
});

describe("the journal", () => {
  test("rewritten, by the hosts before and after: projections continue, and redacted data is gone", async () => {
    const { store, journal, notices } = await testStore();
    journal.appendEvents(10, (n) => ({ data: { words: `beach number${n}` } }));
    expect(await eventsOf(store, journal)).toBe(10);
    journal.append({
      operation: "redact",
      kind: "temporal",
      id: "event-3",
      data: '{"reason":"forgotten","seqs":[[3,3]]}',
    });
    expect(await eventsOf(store, journal)).toBe(9);
    const [path = ""] = journal.segments();
    const lines = readFileSync(path, "utf8").split("\n");
    lines[2] = (lines[2] ?? "").replace(/^\{"data":.*,"salt":"[0-9a-f]{32}",/, '{"redacted":true,');
    writeFileSync(path, lines.join("\n"));
    journal.rewrites++;
    journal.appendEvents(5, (n) => ({ data: { words: `beach number${n}` } }));
    expect(await eventsOf(store, journal)).toBe(14);
    expect(rebuiltOf(notices)).toEqual([]);
    expect(readFileSync(join(journal.folder, "temporal.duckdb")).includes("number3")).toBe(false);
    await store.request("rebuild", journal.memory, {});
    expect(await eventsOf(store, journal)).toBe(14);
    const query = { text: { match: "number3" } };
    expect(await store.request("temporal.query", journal.memory, { query, nowMs })).toMatchObject({
      total: 0,
    });
  });

  test.each([
    ["shorter", 5],
    ["as long", 10],
    ["longer", 20],
  ])("replaced by another, %s: projections are built again, and that is told", async (_, events) => {
    const { store, journal, notices } = await testStore();
    journal.appendEvents(10);
    expect(await eventsOf(store, journal)).toBe(10);
    journal.startAnew();
    journal.appendEvents(events, () => ({ variant: "other" }));
    const counted = await store.request("temporal.count", journal.memory, {
      query: { variant: "other" },
      nowMs,
    });
    expect(counted.count).toBe(events);
    expect(rebuiltOf(notices)).toMatchObject([
      { what: "projections", reason: expect.stringContaining("does not continue from seq 10") },
    ]);
  });

  test("damaged behind the kernel's back gives an error; repaired, it answers", async () => {
    const { store, journal } = await testStore();
    journal.appendEvents(10);
    const [path = ""] = journal.segments();
    const whole = readFileSync(path);
    writeFileSync(path, readFileSync(path, "utf8").replace('"seq":7,', '"seq":8,'));
    await expect(eventsOf(store, journal)).rejects.toThrow(storageError);
    await expect(eventsOf(store, journal)).rejects.toThrow(/at seq 7/);
    writeFileSync(path, whole);
    expect(await eventsOf(store, journal)).toBe(10);
  });
});
