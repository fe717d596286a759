import fc from "fast-check";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { silentLog } from "../base/log.ts";
import { ManualClock } from "../base/testing/manual-clock.ts";
import type { Database } from "../platform/database/database.ts";
import { temporaryFolder } from "../platform/testing/temporary-folder.ts";
import { openNearDatabase } from "../platform/testing/near-database.ts";
import {
  type Inbox,
  maxDeadLetterBytes,
  maxDeadLetters,
  maxPayloadBytes,
  type NewItem,
  openInbox,
} from "./inbox.ts";
import type { LaneName } from "./lane.ts";
import { inboxMigrations } from "./migrations.ts";

const agent = "dev.lares.test";

interface Fixture {
  readonly inbox: Inbox;
  readonly clock: ManualClock;
  readonly database: Database;
  /** Restarts as after a clean stop. */
  restart(): Promise<Inbox>;
}

async function fixture(path = ":memory:"): Promise<Fixture> {
  const database = await openNearDatabase({ path, migrations: inboxMigrations, log: silentLog });
  onTestFinished(() => database[Symbol.asyncDispose]());
  const clock = new ManualClock();
  const inbox = await openInbox({ database, clock, log: silentLog });
  const restart = async (): Promise<Inbox> => {
    await inbox.flush();
    return await openInbox({ database, clock, log: silentLog });
  };
  return { inbox, clock, database, restart };
}

const items = (count: number, lane: LaneName = "live", start = 0): NewItem[] =>
  Array.from({ length: count }, (_, n) => ({ agent, lane, payload: { n: start + n } }));

/** Takes and acknowledges items until none is due. */
async function drain(inbox: Inbox): Promise<unknown[]> {
  const seen: unknown[] = [];
  for (let item = await inbox.next(agent); item !== null; item = await inbox.next(agent)) {
    seen.push((item.payload as { n: number }).n);
    inbox.acknowledge(agent, item.seq);
  }
  return seen;
}

const upTo = (count: number): number[] => Array.from({ length: count }, (_, n) => n);

describe("items of one source", () => {
  const item = (source: string, who = agent): NewItem => ({
    agent: who,
    lane: "live",
    payload: { n: 0 },
    source,
  });

  test("wait until they are acknowledged, dead-lettered or cleared; also in hand, put back and after a restart", async () => {
    const { inbox, restart } = await fixture();
    await inbox.enqueue([
      item("a"),
      item("a"),
      item("a"),
      item("b"),
      item("a", "dev.lares.other"),
      ...items(3),
    ]);
    expect(await inbox.waiting(agent, "a")).toBe(3);
    const first = await inbox.next(agent);
    await inbox.retryLater(agent, first!.seq, 0);
    expect(await inbox.waiting(agent, "a")).toBe(3);
    inbox.acknowledge(agent, first!.seq);
    expect(await inbox.waiting(agent, "a")).toBe(2);
    const second = await inbox.next(agent);
    await inbox.deadLetter(agent, second!.seq, "no");
    expect(await inbox.waiting(agent, "a")).toBe(1);
    const next = await restart();
    expect(await next.waiting(agent, "a")).toBe(1);
    await next.clear(agent);
    expect(await next.waiting(agent, "a")).toBe(0);
    expect(await next.waiting("dev.lares.other", "a")).toBe(1);
  });

  test("are found by an index, however many others wait", async () => {
    const { database } = await fixture();
    const plan = await database.query<{ detail: string }>(
      "EXPLAIN QUERY PLAN SELECT count(*) AS count FROM inbox WHERE agent = ? AND source = ?",
      [agent, "a"],
    );
    expect(plan[0]?.detail).toContain("inbox_by_source");
  });
});

describe("order", () => {
  test("items are delivered in the order of their commit, far beyond what is in memory", async () => {
    const { inbox } = await fixture();
    await inbox.enqueue(items(1000));
    expect(inbox.depth(agent)).toBe(1000);
    expect(await drain(inbox)).toEqual(upTo(1000));
    expect(inbox.depth(agent)).toBe(0);
  });

  test("live items precede the backlog, also if they arrive later", async () => {
    const { inbox } = await fixture();
    await inbox.enqueue(items(2, "backlog", 10));
    await inbox.enqueue(items(2));
    expect(await drain(inbox)).toEqual([0, 1, 10, 11]);
  });

  test("the same item is delivered until it is acknowledged", async () => {
    const { inbox } = await fixture();
    await inbox.enqueue(items(2));
    const first = await inbox.next(agent);
    expect(await inbox.next(agent)).toEqual(first);
  });

  test("items in hand are skipped, across pages, and both lanes keep their order", async () => {
    const { inbox } = await fixture();
    await inbox.enqueue([...items(600), ...items(300, "backlog", 600)]);
    const inHand = new Set<number>();
    const handed: unknown[] = [];
    const take = async (): Promise<void> => {
      const item = await inbox.next(agent, (seq) => inHand.has(seq));
      if (item === null) return;
      inHand.add(item.seq);
      handed.push((item.payload as { n: number }).n);
    };
    for (let count = 0; count < 901; count++) await take();
    expect(handed).toEqual(upTo(900));
    expect(inbox.depth(agent)).toBe(900);
    for (const seq of inHand) inbox.acknowledge(agent, seq);
    expect(inbox.depth(agent)).toBe(0);
    expect(await inbox.next(agent)).toBeNull();
  });

  test("an item that waits for a retry holds back its own lane and not the other", async () => {
    const { inbox, clock } = await fixture();
    await inbox.enqueue([...items(2), ...items(1, "backlog", 10)]);
    const first = await inbox.next(agent);
    await inbox.retryLater(agent, first?.seq ?? 0, clock.now() + 1000);
    expect(await drain(inbox)).toEqual([10]);
    expect(inbox.nextDueAt(agent)).toBe(clock.now() + 1000);
    clock.advance(999);
    expect(await inbox.next(agent)).toBeNull();
    clock.advance(1);
    expect(await inbox.next(agent)).toMatchObject({ seq: first?.seq, attempts: 1 });
    expect(await drain(inbox)).toEqual([0, 1]);
  });

  test("an item that is announced after a younger one is still delivered first", async () => {
    const { inbox, database } = await fixture();
    const older = inbox.prepare(items(1, "live", 0));
    const younger = inbox.prepare(items(1, "live", 1));
    await database.batch([...older.statements, ...younger.statements]);
    younger.committed();
    older.committed();
    expect(await drain(inbox)).toEqual([0, 1]);
  });

  test("an item that is in the database but not announced is not delivered early, nor twice", async () => {
    const { inbox, database } = await fixture();
    await inbox.enqueue(items(300));
    const later = inbox.prepare(items(1, "live", 300));
    await database.batch(later.statements);
    expect(await drain(inbox)).toEqual(upTo(300));
    expect(await inbox.next(agent)).toBeNull();
    later.committed();
    later.committed();
    expect(await drain(inbox)).toEqual([300]);
  });
});

describe("ends", () => {
  test("a dead-lettered item is kept with its reason, and the next one is delivered", async () => {
    const { inbox, clock } = await fixture();
    await inbox.enqueue(items(2));
    const first = await inbox.next(agent);
    await inbox.deadLetter(agent, first?.seq ?? 0, "gave up");
    expect(await inbox.dead(agent)).toEqual([
      expect.objectContaining({
        seq: first?.seq,
        payload: { n: 0 },
        reason: "gave up",
        buriedAt: clock.now(),
      }),
    ]);
    expect(await drain(inbox)).toEqual([1]);
    await expect(inbox.deadLetter(agent, first?.seq ?? 0, "again")).rejects.toMatchObject({
      code: "NotFound",
    });
  });

  test("only the newest dead letters are kept, up to a limit", async () => {
    const { inbox, database } = await fixture();
    await inbox.enqueue(items(1));
    await database.batch([
      {
        sql: `WITH RECURSIVE n(seq) AS (SELECT -1 UNION ALL SELECT seq - 1 FROM n WHERE seq > -?)
              INSERT INTO inbox_dead SELECT seq, ?, 'live', '{}', 0, 0, 0, 'old' FROM n`,
        params: [maxDeadLetters, agent],
      },
    ]);
    await inbox.deadLetter(agent, 1, "newest");
    const dead = await inbox.dead(agent, 5000);
    expect(dead).toHaveLength(maxDeadLetters);
    expect([dead[0]?.reason, dead.at(-1)?.seq]).toEqual(["newest", 1 - maxDeadLetters]);
  });

  test("dead letters are limited in bytes too, and the newest stay", async () => {
    const { inbox } = await fixture();
    const payload = "x".repeat(maxPayloadBytes - 2);
    const count = maxDeadLetterBytes / maxPayloadBytes + 2;
    for (let n = 0; n < count; n++) {
      await inbox.enqueue([{ agent, lane: "live", payload }]);
      await inbox.deadLetter(agent, (await inbox.next(agent))?.seq ?? 0, String(n));
    }
    const dead = await inbox.dead(agent);
    expect(dead.map(({ reason }) => Number(reason))).toEqual(upTo(count).slice(2).toReversed());
  });

  test("the size of a source's waiting items is known at once, also after a restart, down to none", async () => {
    const { inbox, restart } = await fixture();
    const payload = "\u00e9".repeat(1000);
    const from = (source: string, some: readonly NewItem[]) => some.map((item) => ({ ...item, source }));
    await inbox.enqueue([
      ...from("a", items(600, "backlog")),
      ...from("a", [{ agent, lane: "live", payload }]),
      ...from("b", items(1)),
      ...items(1),
      ...from("a", [{ agent: "dev.lares.other", lane: "live", payload }]),
    ]);
    const bytes = items(600).reduce((sum, item) => sum + JSON.stringify(item.payload).length, 2002);
    expect(inbox.from(agent, "a")).toEqual({ count: 601, bytes });
    const again = await restart();
    expect(again.from(agent, "a")).toEqual({ count: 601, bytes });
    const first = await again.next(agent);
    await again.retryLater(agent, first?.seq ?? 0, 0);
    expect(again.from(agent, "a")).toEqual({ count: 601, bytes });
    await again.deadLetter(agent, first?.seq ?? 0, "x");
    expect(again.from(agent, "a")).toEqual({ count: 600, bytes: bytes - 2002 });
    await drain(again);
    expect(again.from(agent, "a")).toEqual({ count: 0, bytes: 0 });
    expect(again.from(agent, "b")).toEqual({ count: 0, bytes: 0 });
    await again.enqueue(from("a", items(1)));
    expect(again.from(agent, "a")).toEqual({ count: 1, bytes: 7 });
    await again.clear(agent);
    expect(again.from(agent, "a")).toEqual({ count: 0, bytes: 0 });
  });

  test("clear drops all waiting items, in memory and beyond, and no later ones", async () => {
    const { inbox, restart } = await fixture();
    await inbox.enqueue(items(600));
    await inbox.next(agent);
    const cleared = inbox.clear(agent);
    const added = inbox.enqueue(items(2, "live", 1000));
    await Promise.all([cleared, added]);
    expect(inbox.depth(agent)).toBe(2);
    expect(await drain(await restart())).toEqual([1000, 1001]);
    expect(await drain(inbox)).toEqual([1000, 1001]);
  });

  test("a payload over the limit is refused, with its size", async () => {
    const { inbox } = await fixture();
    const payload = "x".repeat(maxPayloadBytes);
    expect(() => inbox.prepare([{ agent, lane: "live", payload }])).toThrow(/has 1048578 bytes of JSON/);
  });
});

describe("restart", () => {
  test("attempts, due times and order survive, and acknowledged items are not delivered again", async () => {
    const { inbox, clock, restart } = await fixture();
    await inbox.enqueue([...items(3), ...items(1, "backlog", 10)]);
    inbox.acknowledge(agent, (await inbox.next(agent))?.seq ?? 0);
    await inbox.retryLater(agent, (await inbox.next(agent))?.seq ?? 0, clock.now() + 500);
    const second = await restart();
    expect(second.depth(agent)).toBe(3);
    expect(await drain(second)).toEqual([10]);
    clock.advance(500);
    expect(await second.next(agent)).toMatchObject({ payload: { n: 1 }, attempts: 1 });
    expect(await drain(second)).toEqual([1, 2]);
  });

  test("numbers are not reused although everything was acknowledged", async () => {
    const { inbox, restart } = await fixture();
    await inbox.enqueue(items(3));
    const seqs: number[] = [];
    for (let item = await inbox.next(agent); item !== null; item = await inbox.next(agent)) {
      seqs.push(item.seq);
      inbox.acknowledge(agent, item.seq);
    }
    const second = await restart();
    await second.enqueue(items(1));
    expect((await second.next(agent))?.seq).toBeGreaterThan(Math.max(...seqs));
  });

  test("acknowledgements are stored within 20 ms", async () => {
    const { inbox, clock, database } = await fixture();
    await inbox.enqueue(items(1));
    inbox.acknowledge(agent, (await inbox.next(agent))?.seq ?? 0);
    const left = async (): Promise<number> => (await database.query("SELECT seq FROM inbox")).length;
    expect(await left()).toBe(1);
    clock.advance(20);
    await inbox.flush();
    expect(await left()).toBe(0);
  });

  test("acknowledgements that cannot be stored are retried even if none follow, and reported once", async () => {
    const { clock, database } = await fixture();
    const told: string[] = [];
    let isFull = true;
    const failing: Database = {
      ...database,
      query: (...query) => database.query(...query),
      batch: (statements) => (isFull ? Promise.reject(new Error("disk full")) : database.batch(statements)),
    };
    const inbox = await openInbox({
      database: failing,
      clock,
      log: { ...silentLog, error: (message) => void told.push(message) },
    });
    isFull = false;
    await inbox.enqueue(items(1));
    isFull = true;
    inbox.acknowledge(agent, (await inbox.next(agent))?.seq ?? 0);
    clock.advance(20);
    await vi.waitFor(() => expect(told).toHaveLength(1));
    for (const _ of upTo(3)) {
      clock.advance(1000);
      await expect(inbox.flush()).rejects.toThrow("disk full");
    }
    isFull = false;
    clock.advance(1000);
    await vi.waitFor(async () => expect(await database.query("SELECT seq FROM inbox")).toEqual([]));
    expect(told).toHaveLength(1);
  });
});

test("with any operations in any order, every item is delivered once, in order within its lane", async () => {
  const step = fc.oneof(
    fc.record({
      do: fc.constant("enqueue" as const),
      count: fc.integer({ min: 1, max: 400 }),
      lane: fc.constantFrom<LaneName>("live", "backlog"),
    }),
    fc.record({ do: fc.constant("take" as const), count: fc.integer({ min: 1, max: 400 }) }),
    fc.record({ do: fc.constant("retry" as const), delayMs: fc.integer({ min: 0, max: 50 }) }),
    fc.record({ do: fc.constant("advance" as const), byMs: fc.integer({ min: 0, max: 60 }) }),
    fc.record({ do: fc.constant("restart" as const) }),
  );
  const database = await openNearDatabase({ path: ":memory:", migrations: inboxMigrations, log: silentLog });
  onTestFinished(() => database[Symbol.asyncDispose]());
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
      const clock = new ManualClock();
      await database.batch([{ sql: "DELETE FROM inbox" }]);
      let inbox = await openInbox({ database, clock, log: silentLog });
      let made = 0;
      const expected = { live: [] as number[], backlog: [] as number[] };
      const seen = { live: [] as number[], backlog: [] as number[] };
      const take = async (count: number): Promise<void> => {
        for (let taken = 0; taken < count; taken++) {
          const item = await inbox.next(agent);
          if (item === null) return;
          seen[item.lane].push((item.payload as { n: number }).n);
          inbox.acknowledge(agent, item.seq);
        }
      };
      for (const action of steps) {
        if (action.do === "enqueue") {
          const added = items(action.count, action.lane, made);
          expected[action.lane].push(...added.map((_, index) => made + index));
          made += action.count;
          await inbox.enqueue(added);
        } else if (action.do === "take") {
          await take(action.count);
        } else if (action.do === "retry") {
          const item = await inbox.next(agent);
          if (item !== null) await inbox.retryLater(agent, item.seq, clock.now() + action.delayMs);
        } else if (action.do === "advance") {
          clock.advance(action.byMs);
        } else {
          await inbox.flush();
          inbox = await openInbox({ database, clock, log: silentLog });
        }
        expect(inbox.depth(agent)).toBe(made - seen.live.length - seen.backlog.length);
      }
      clock.advance(100);
      await take(Infinity);
      await inbox.flush();
      expect(seen).toEqual(expected);
      expect(inbox.nextDueAt(agent)).toBeNull();
    }),
    { numRuns: 60 },
  );
});

test("a database file carries it between processes", async () => {
  const path = `${await temporaryFolder()}/ledger.sqlite`;
  const { inbox, database } = await fixture(path);
  await inbox.enqueue(items(1));
  await database[Symbol.asyncDispose]();
  expect(await drain((await fixture(path)).inbox)).toEqual([0]);
});

describe("the caller's statements", () => {
  const counted = async (database: Database): Promise<unknown> =>
    (await database.query<{ left: number }>("SELECT left FROM counts")).map(({ left }) => left).at(-1);

  test("run in the transaction that deletes an item, or in the next one if that fails", async () => {
    const migrations = [
      ...inboxMigrations,
      { name: "test", sql: "CREATE TABLE counts (left INTEGER NOT NULL) STRICT" },
    ];
    const database = await openNearDatabase({ path: ":memory:", migrations, log: silentLog });
    onTestFinished(() => database[Symbol.asyncDispose]());
    let left = 0;
    let saved = 0;
    let isBroken = false;
    const inbox = await openInbox({
      database,
      clock: new ManualClock(),
      log: silentLog,
      alongside: () => {
        const now = left;
        return {
          statements:
            now === saved
              ? []
              : [{ sql: `INSERT INTO ${isBroken ? "x" : "counts"} VALUES (?)`, params: [now] }],
          committed: () => void (saved = now),
        };
      },
    });
    const take = async (): Promise<number> => {
      left++;
      return (await inbox.next(agent))?.seq ?? -1;
    };
    await inbox.enqueue(items(3));
    inbox.acknowledge(agent, await take());
    await inbox.flush();
    expect([await counted(database), saved]).toEqual([1, 1]);
    await inbox.deadLetter(agent, await take(), "no");
    expect([await counted(database), saved]).toEqual([2, 2]);
    isBroken = true;
    inbox.acknowledge(agent, await take());
    await expect(inbox.flush()).rejects.toThrow("x");
    const rows = await database.query<{ count: number }>("SELECT count(*) AS count FROM inbox");
    expect([await counted(database), saved, rows[0]?.count]).toEqual([2, 2, 1]);
    isBroken = false;
    await inbox.flush();
    expect([await counted(database), saved, inbox.depth(agent)]).toEqual([3, 3, 0]);
    // Without any item, as at the end.
    left++;
    await inbox[Symbol.asyncDispose]();
    expect(await counted(database)).toBe(4);
  });
});
