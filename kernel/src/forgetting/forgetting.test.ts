import { expect, test } from "vitest";
import { silentLog } from "../base/log.ts";
import type { Forgotten, TextPlace } from "../base/vocabulary/forgetting.ts";
import type { Database } from "../platform/database/database.ts";
import { openNearDatabase } from "../platform/testing/near-database.ts";
import { Forgetting } from "./forgetting.ts";
import { forgettingMigrations } from "./migrations.ts";

const confided = "pomegranate-19";
const forgotten: Forgotten = {
  texts: [confided],
  calls: [],
  agent: "test.mind",
  conversations: [],
  memories: [],
};

async function openDatabase(): Promise<Database & AsyncDisposable> {
  return await openNearDatabase({ path: ":memory:", migrations: forgettingMigrations, log: silentLog });
}

function forgettingWith(database: Database, places: readonly TextPlace[], scrubs: string[] = []): Forgetting {
  return new Forgetting({
    database,
    log: silentLog,
    places,
    scrub: async () => {
      const rows = await database.query("SELECT request FROM forgetting");
      scrubs.push(JSON.stringify(rows));
    },
    search: async () => [{ place: "a file", name: "x", why: "It is yours." }],
  });
}

const stored = async (database: Database): Promise<string> =>
  JSON.stringify(await database.query("SELECT * FROM forgetting"));

test("every place is cleaned, after the logs, and what stays is named", async () => {
  await using database = await openDatabase();
  const order: string[] = [];
  const place = (name: string, removed: number): TextPlace => ({
    name,
    redact: async ({ texts }) => {
      order.push(`${name} ${texts.join()}`);
      return { removed, remains: [] };
    },
  });
  const scrubs: string[] = [];
  const forgetting = forgettingWith(database, [place("one", 2), place("two", 0)], scrubs);
  const { result, report } = await forgetting.run({ forgotten, logs: {} }, async () => {
    order.push("logs");
    return 7;
  });
  expect(result).toBe(7);
  expect(order).toEqual(["logs", `one ${confided}`, `two ${confided}`]);
  expect(report).toEqual({
    removed: [{ place: "one", count: 2 }],
    remains: [{ place: "a file", name: "x", why: "It is yours." }],
  });
  // The text is out of the request before the database's files are cleaned.
  expect(scrubs).toEqual(['[{"request":null}]']);
  expect(await stored(database)).toBe("[]");
});

test("what a kernel had begun is completed by the next one, from its logs on", async () => {
  await using database = await openDatabase();
  const failing: TextPlace = {
    name: "failing",
    redact: async () => {
      throw new Error("The kernel dies.");
    },
  };
  const logs = { id: "c1" };
  await expect(forgettingWith(database, [failing]).run({ forgotten, logs }, async () => {})).rejects.toThrow(
    "The kernel dies.",
  );
  expect(await stored(database)).toContain(confided);

  const seen: unknown[] = [];
  const next = forgettingWith(database, [
    {
      name: "one",
      redact: async ({ texts }) => {
        seen.push(texts);
        return { removed: 1, remains: [] };
      },
    },
  ]);
  await next.resume(async (known) => void seen.push(known));
  expect(seen).toEqual([logs, [confided]]);
  expect(await stored(database)).toBe("[]");
});

test("a place that cannot be cleaned keeps no other one from that, and is tried again", async () => {
  await using database = await openDatabase();
  const cleaned: string[] = [];
  let isDamaged = true;
  const damaged: TextPlace = {
    name: "memories",
    redact: async () => {
      if (isDamaged) throw new Error("The memory is damaged.");
      return { removed: 1, remains: [] };
    },
  };
  const traces: TextPlace = {
    name: "traces",
    redact: async ({ texts }) => {
      cleaned.push(...texts);
      return { removed: 1, remains: [] };
    },
  };
  const scrubs: string[] = [];
  const forgetting = forgettingWith(database, [damaged, traces], scrubs);
  await expect(forgetting.run({ forgotten, logs: {} }, async () => {})).rejects.toThrow("damaged");
  expect([cleaned, scrubs.length]).toEqual([[confided], 1]);
  expect(await stored(database)).toContain(confided);
  isDamaged = false;
  await forgetting.resume(async () => {});
  expect(await stored(database)).toBe("[]");
});

test("a kernel that died before the database's files were clean has them cleaned", async () => {
  await using database = await openDatabase();
  await database.batch([{ sql: "INSERT INTO forgetting (id, request) VALUES ('a', NULL)" }]);
  const scrubs: string[] = [];
  await forgettingWith(database, [], scrubs).resume(async () => {
    throw new Error("Nothing is to be removed.");
  });
  expect(scrubs).toHaveLength(1);
  expect(await stored(database)).toBe("[]");
});

test("what cannot be completed stays for the next kernel, and the others are completed", async () => {
  await using database = await openDatabase();
  for (const id of ["a", "b"])
    await database.batch([
      {
        sql: "INSERT INTO forgetting (id, request) VALUES (?, ?)",
        params: [id, JSON.stringify({ forgotten, logs: id })],
      },
    ]);
  await forgettingWith(database, []).resume(async (logs) => {
    if (logs === "a") throw new Error("The log is damaged.");
  });
  expect(await database.query("SELECT id FROM forgetting")).toEqual([{ id: "a" }]);
});

test("a plain word is removed from the logs only, and the person is told", async () => {
  await using database = await openDatabase();
  const asked: (readonly string[])[] = [];
  const place: TextPlace = {
    name: "jobs",
    redact: async ({ texts }) => {
      asked.push(texts);
      return { removed: 0, remains: [] };
    },
  };
  const { report } = await forgettingWith(database, [place]).run(
    { forgotten: { ...forgotten, texts: ["path", confided] }, logs: {} },
    async () => null,
  );
  expect(asked).toEqual([[confided]]);
  expect(report.remains[0]).toMatchObject({ place: "places other than conversations" });
});
