import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { silentLog } from "../base/log.ts";
import { DiskTimer } from "../journal/disk-timer.ts";
import { systemClock } from "../platform/clock.ts";
import { openNearDatabase } from "../platform/testing/near-database.ts";
import { temporaryFolder } from "../platform/testing/temporary-folder.ts";
import { Conversations } from "./conversations.ts";
import type { MessageQuestion } from "./message-search.ts";
import { conversationMigrations } from "./migrations.ts";
import type { NewEntry } from "./records.ts";

const agent = "test.steward";
const said = (id: string, text: string, more: object = {}): NewEntry => ({
  id,
  process: "c",
  created: "2026-11-26T08:00:00.000Z",
  turn: "m0",
  origin: "person",
  kind: "message",
  role: "user",
  parts: [{ type: "text", text }],
  ...more,
});

async function conversationOf(entries: readonly NewEntry[], migrations = conversationMigrations) {
  const stateFolder = await temporaryFolder();
  const path = join(stateFolder, "ledger.sqlite");
  const database = await openNearDatabase({ path, migrations, log: silentLog });
  const all = new Conversations({
    stateFolder,
    database,
    clock: systemClock,
    log: silentLog,
    disk: new DiskTimer(systemClock),
    maxBytes: () => 64 * 1024 * 1024,
  });
  onTestFinished(async () => {
    await all[Symbol.asyncDispose]();
    await database[Symbol.asyncDispose]();
  });
  const { log } = await all.create(agent);
  await log.append([...entries]);
  const idsOf = async (text: string, mode: MessageQuestion["mode"] = "auto", within = log.id) =>
    (await all.answering([within], { agent, text, mode, limit: 5 })).map(({ entry }) => entry.id);
  return { all, database, log, idsOf, path };
}

const talk = [
  said("a", "The roof needs new tiles."),
  said("b", "Where did you paint last summer?"),
  said("c", "By the lake, of course."),
  said("d", "The letter is on the shelf."),
  said("e", "We have enough bread."),
];

test("a message is found by other forms of its words", async () => {
  const { idsOf } = await conversationOf(talk);
  for (const mode of ["auto", "text"] as const) expect((await idsOf("painting", mode))[0]).toBe("b");
  expect(await idsOf("tile", "text")).toEqual(["a"]);
});

test("an answer is found beside the words of its question, behind them, and only if words alone are not wanted", async () => {
  const { idsOf } = await conversationOf(talk);
  const found = await idsOf("painted");
  expect(found[0]).toBe("b");
  expect(found.slice(1, 3).toSorted()).toEqual(["a", "c"]);
  expect(found).not.toContain("e");
  expect(await idsOf("painted", "text")).toEqual(["b"]);
});

test("what is beside a message is of its process, whole, and in the part that a fork has", async () => {
  const { all, log, idsOf } = await conversationOf([
    said("a", "The roof needs new tiles."),
    said("w", "A worker counts.", { process: "w" }),
    said("p", "By th", { partial: true }),
    said("b", "Where did you paint last summer?"),
  ]);
  using fork = await all.fork(log.id);
  await log.append([said("c", "By the lake, of course.")]);
  expect(await idsOf("painted")).toEqual(["b", "a", "c"]);
  expect(await idsOf("painted", "auto", fork.log.id)).toEqual(["b", "a"]);
});

test("texts that an earlier version of Lares indexed are found by other forms of their words", async () => {
  const result = (id: string, value: unknown): NewEntry =>
    said(id, "", {
      kind: "tool_result",
      call: id,
      result: { status: "success", value },
    });
  const { database, path } = await conversationOf(
    [
      ...talk,
      said("p", "A harbour", { partial: true }),
      result("r", { lines: ["frozen harbours", { deep: "walls" }] }),
      said("s", "", { kind: "summary", text: "They spoke about windows." }),
      said("f", "", { parts: [{ type: "file", path: "notes/gardens.md" }] }),
    ],
    conversationMigrations.slice(0, 2),
  );
  await database[Symbol.asyncDispose]();
  await using next = await openNearDatabase({ path, migrations: conversationMigrations, log: silentLog });
  const found = async (word: string): Promise<string[]> =>
    (
      await next.query<{ readonly id: string }>(
        `SELECT e.id FROM conversation_texts t JOIN conversation_entries e ON e.rowid = t.rowid
           WHERE conversation_texts MATCH ? ORDER BY e.seq`,
        [word],
      )
    ).map(({ id }) => id);
  expect(await found("painting")).toEqual(["b"]);
  expect(await found("harbour")).toEqual(["r"]);
  expect(await found("wall")).toEqual(["r"]);
  expect(await found("window")).toEqual(["s"]);
  expect(await found("garden")).toEqual(["f"]);
});
