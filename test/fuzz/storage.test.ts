import {
  appendFileSync,
  cpSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, expect } from "vitest";
import { isLaresError } from "../../kernel/src/base/errors.ts";
import { silentLog } from "../../kernel/src/base/log.ts";
import { ManualClock } from "../../kernel/src/base/testing/manual-clock.ts";
import { openInbox } from "../../kernel/src/inbox/inbox.ts";
import { inboxMigrations } from "../../kernel/src/inbox/migrations.ts";
import { memoryMigrations } from "../../kernel/src/memory/records/heads.ts";
import { openMemory } from "../../kernel/src/memory/memory.ts";
import { FakeStore, fakeSettings } from "../../kernel/src/memory/testing/fake-store.ts";
import { openDatabase, type Database } from "../../kernel/src/platform/database/database.ts";
import { fuzz } from "./support/campaign.ts";

const target = "storage";
const agents = ["dev.test.one", "dev.test.two"] as const;

let folder = "";
let runs = 0;
let database: Database;
const freshFolder = (): string => mkdtempSync(join(folder, `run-${runs++}-`));
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "lares-fuzz-storage-"));
  database = await openDatabase({
    path: join(folder, "ledger.sqlite"),
    migrations: [
      ...inboxMigrations,
      ...memoryMigrations,
      {
        name: "fuzz-rows",
        sql: "CREATE TABLE fuzz_rows (id INTEGER PRIMARY KEY, value TEXT NOT NULL) STRICT",
      },
    ],
    log: silentLog,
  });
});
afterAll(async () => {
  await database[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

const agent = fc.constantFrom(...agents);
const inboxStep = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant("enqueue" as const),
      agent,
      lane: fc.constantFrom("live" as const, "backlog" as const),
      count: fc.oneof(fc.integer({ min: 1, max: 4 }), fc.constantFrom(1, 260)),
      bytes: fc.constantFrom(0, 0, 3000),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant("take" as const), agent, count: fc.integer({ min: 1, max: 6 }) }),
  },
  fc.record({
    do: fc.constantFrom("retry" as const, "deadLetter" as const, "clear" as const),
    agent,
    delayMs: fc.nat(50),
  }),
  fc.record({ do: fc.constant("advance" as const), ms: fc.nat(60) }),
  fc.record({ do: fc.constant("prepare-late" as const), agent }),
  fc.record({ do: fc.constantFrom("crash" as const, "restart" as const, "flush" as const) }),
);

fuzz({
  target,
  property:
    "the inbox gives everything that was acknowledged to its sender, in order, at least once, and only that",
  arbitrary: fc.array(inboxStep, { maxLength: 30, size: "max" }),
  runs: 40,
  check: async (steps) => {
    let clock = new ManualClock();
    await database.batch([{ sql: "DELETE FROM inbox" }, { sql: "DELETE FROM inbox_dead" }]);
    let inbox = await openInbox({ database, clock, log: silentLog });
    let made = 0;
    type Item = { n: number; lane: string; attempts: number; dueAt: number; isUnflushed: boolean };
    const model = new Map<string, Item[]>(agents.map((name) => [name, []]));
    const buried = new Map<string, number[]>(agents.map((name) => [name, []]));
    const waiting = (name: string): Item[] =>
      (model.get(name) ?? []).filter(({ isUnflushed }) => !isUnflushed);
    const head = (name: string): Item | undefined => {
      const heads = ["live", "backlog"].map((lane) => waiting(name).find((item) => item.lane === lane));
      return heads.find((item) => item !== undefined && item.dueAt <= clock.now());
    };
    for (const one of steps) {
      if (one.do === "enqueue" || one.do === "prepare-late") {
        const count = one.do === "enqueue" ? one.count : 1;
        const lane = one.do === "enqueue" ? one.lane : "live";
        const items = Array.from({ length: count }, () => ({
          agent: one.agent,
          lane,
          payload: { n: made++, filling: "x".repeat(one.do === "enqueue" ? one.bytes : 1) },
        }));
        if (one.do === "enqueue") await inbox.enqueue(items);
        else {
          // Committed with another transaction; queried in between, announced afterwards.
          const prepared = inbox.prepare(items);
          await database.batch(prepared.statements);
          await inbox.next(one.agent);
          prepared.committed();
        }
        model.get(one.agent)?.push(
          ...items.map(({ payload }) => ({
            n: payload.n,
            lane,
            attempts: 0,
            dueAt: 0,
            isUnflushed: false,
          })),
        );
      } else if (one.do === "advance") clock.advance(one.ms);
      else if (one.do === "flush" || one.do === "restart" || one.do === "crash") {
        // Acknowledgements that a crash lost are delivered again; everything else is as before.
        if (one.do !== "crash") {
          await inbox.flush();
          for (const [name, items] of model)
            model.set(
              name,
              items.filter(({ isUnflushed }) => !isUnflushed),
            );
        }
        if (one.do !== "flush") {
          // The dead one writes nothing more: what it had sent is stored, and its timers do not fire.
          clock = new ManualClock(clock.now());
          await database.query("SELECT 1");
          inbox = await openInbox({ database, clock, log: silentLog });
          const rows = await database.query<{ agent: string; payload: string }>(
            "SELECT agent, payload FROM inbox ORDER BY seq",
          );
          for (const [name, items] of model) {
            const found = new Set(
              rows
                .filter((row) => row.agent === name)
                .map((row) => (JSON.parse(row.payload) as { n: number }).n),
            );
            expect(
              items.filter((item) => !item.isUnflushed && !found.has(item.n)),
              "lost",
            ).toEqual([]);
            const known = new Set(items.map(({ n }) => n));
            expect(
              [...found].filter((n) => !known.has(n)),
              "came back although it was gone",
            ).toEqual([]);
            model.set(
              name,
              items.filter(({ n }) => found.has(n)).map((item) => ({ ...item, isUnflushed: false })),
            );
          }
        }
      } else if ("agent" in one && one.do === "clear") {
        await inbox.clear(one.agent);
        model.set(one.agent, []);
      } else if ("agent" in one) {
        const delayMs = "delayMs" in one ? one.delayMs : 0;
        for (let turn = 0; turn < (one.do === "take" ? one.count : 1); turn++) {
          const item = await inbox.next(one.agent);
          const expected = head(one.agent);
          expect(item === null ? null : [(item.payload as { n: number }).n, item.attempts]).toEqual(
            expected === undefined ? null : [expected.n, expected.attempts],
          );
          if (item === null || expected === undefined) break;
          if (one.do === "take") {
            inbox.acknowledge(one.agent, item.seq);
            expected.isUnflushed = true;
          } else if (one.do === "retry") {
            await inbox.retryLater(one.agent, item.seq, clock.now() + delayMs);
            Object.assign(expected, { attempts: expected.attempts + 1, dueAt: clock.now() + delayMs });
          } else {
            await inbox.deadLetter(one.agent, item.seq, "given up");
            buried.get(one.agent)?.unshift(expected.n);
            model.set(
              one.agent,
              (model.get(one.agent) ?? []).filter((other) => other !== expected),
            );
          }
        }
      }
      for (const name of agents) expect([name, inbox.depth(name)]).toEqual([name, waiting(name).length]);
    }
    for (const name of agents) {
      const dead = await inbox.dead(name, 100);
      expect(dead.map(({ payload }) => (payload as { n: number }).n)).toEqual(
        (buried.get(name) ?? []).slice(0, 100),
      );
    }
    await inbox.flush();
  },
});

const memoryStep = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant("swap" as const),
      count: fc.integer({ min: 1, max: 5 }),
      bytes: fc.constantFrom(1, 200, 2000),
    }),
  },
  fc.record({
    do: fc.constantFrom(
      "sync" as const,
      "conflict" as const,
      "verify" as const,
      "close" as const,
      "crash" as const,
    ),
  }),
  fc.record({
    do: fc.constant("torn" as const),
    at: fc.nat(),
    text: fc.constantFrom("", '{"data":', "\u0000\u0000", "{", '{"data":{"revision":1'),
  }),
  fc.record({
    do: fc.constant("flip" as const),
    at: fc.nat(),
    by: fc.integer({ min: 1, max: 255 }),
    undone: fc.boolean(),
  }),
  fc.record({
    do: fc.constant("checkpoint" as const),
    text: fc.constantFrom(
      "",
      "{}",
      "null",
      '{"version":1,"seq":99999,"salt":"","data":{"revision":9,"state":0}}',
    ),
  }),
);

fuzz({
  target,
  property:
    "a memory keeps every acknowledged swap over crashes and torn ends, and a flipped byte is never believed",
  arbitrary: fc.array(memoryStep, { maxLength: 14, size: "max" }),
  runs: 40,
  check: async (steps) => {
    let stateFolder = freshFolder();
    await database.batch([{ sql: "DELETE FROM memory_heads" }]);
    const clock = new ManualClock();
    const start = () =>
      openMemory({
        stateFolder,
        database,
        clock,
        log: silentLog,
        store: new FakeStore(),
        storeSettings: () => fakeSettings,
        storageLimitBytes: () => 1e9,
        retentionDays: () => null,
        prunePolicy: () => null,
        segmentBytes: 3000,
      });
    const journal = (): string => join(stateFolder, "extensions", agents[0], "memory/journal");
    const segments = (): string[] =>
      readdirSync(journal())
        .toSorted()
        .map((name) => join(journal(), name));
    let memory = await start();
    let open = await memory.open(`extension/${agents[0]}`);
    let [revision, state]: [number, unknown] = [0, null];
    const expectState = (): void => expect(open.read()).toEqual({ revision, state });
    const reopen = async (change: () => void): Promise<void> => {
      // Everything that the operating system has, as after the death of the process; the old one continues elsewhere.
      const next = freshFolder();
      cpSync(stateFolder, next, { recursive: true });
      await memory[Symbol.asyncDispose]();
      stateFolder = next;
      change();
      memory = await start();
    };
    for (const one of steps) {
      if (one.do === "swap") {
        for (let turn = 0; turn < one.count; turn++) {
          const wanted = { n: revision + 1, text: "é".repeat(one.bytes) };
          expect(await open.swap(revision, wanted)).toEqual({ revision: revision + 1 });
          [revision, state] = [revision + 1, wanted];
        }
      } else if (one.do === "conflict") {
        const error: unknown = await open.swap(revision + 1, null).catch((reason: unknown) => reason);
        expect(isLaresError(error, "Conflict")).toBe(true);
      } else if (one.do === "sync") await open.sync();
      else if (one.do === "verify")
        expect(await open.verify()).toMatchObject({ ok: true, records: revision });
      else if (one.do === "close") {
        await memory[Symbol.asyncDispose]();
        memory = await start();
        open = await memory.open(`extension/${agents[0]}`);
      } else if (one.do === "crash" || one.do === "torn" || one.do === "checkpoint") {
        await reopen(() => {
          const last = segments().at(-1);
          if (one.do === "torn" && last !== undefined) appendFileSync(last, one.text);
          if (one.do === "checkpoint") writeFileSync(join(journal(), "../working.json"), one.text);
        });
        open = await memory.open(`extension/${agents[0]}`);
      } else if ("by" in one) {
        if (revision === 0) continue;
        await open.sync();
        let restore = (): void => undefined;
        await reopen(() => {
          const all = segments();
          const path = all[one.at % all.length] ?? "";
          const whole = readFileSync(path);
          if (whole.length === 0) return;
          restore = () => writeFileSync(path, whole);
          const at = one.at % whole.length;
          writeFileSync(
            path,
            whole.map((byte, index) => (index === at ? byte ^ one.by : byte)),
          );
        });
        const refusal: unknown = await memory.open(`extension/${agents[0]}`).catch((error: unknown) => error);
        if (isLaresError(refusal, "StorageError")) {
          expect(refusal.facts["firstBad"]).toMatchObject({ seq: expect.any(Number) as number });
          expect(await memory.verify(`extension/${agents[0]}`)).toMatchObject({ ok: false });
        } else if (readFileSync(segments()[0] ?? "").length > 0)
          expect(await memory.verify(`extension/${agents[0]}`)).toMatchObject({
            ok: true,
            records: revision,
          });
        restore();
        open = await memory.open(`extension/${agents[0]}`);
      }
      expectState();
    }
    expect(await open.verify()).toMatchObject({ ok: true, records: revision });
    await memory[Symbol.asyncDispose]();
  },
});

const statement = fc.oneof(
  fc.record({ kind: fc.constant("insert" as const), id: fc.nat(9), value: fc.string({ maxLength: 4 }) }),
  fc.record({ kind: fc.constant("replace" as const), id: fc.nat(9), value: fc.string({ maxLength: 4 }) }),
  fc.record({ kind: fc.constant("delete" as const), id: fc.nat(9), value: fc.constant("") }),
  fc.record({ kind: fc.constant("wrong" as const), id: fc.nat(9), value: fc.constant("") }),
);
const sqlOf = {
  insert: "INSERT INTO fuzz_rows (id, value) VALUES (?, ?)",
  replace: "INSERT OR REPLACE INTO fuzz_rows (id, value) VALUES (?, ?)",
  delete: "DELETE FROM fuzz_rows WHERE id = ? AND ? = ''",
  wrong: "INSERT INTO no_such_table VALUES (?, ?)",
} as const;

fuzz({
  target,
  property: "batches sent at once are each done whole or not at all, in order, whoever else fails",
  arbitrary: fc.array(fc.array(statement, { minLength: 1, maxLength: 4 }), { maxLength: 20 }),
  runs: 120,
  check: async (batches) => {
    await database.batch([{ sql: "DELETE FROM fuzz_rows" }]);
    let model = new Map<number, string>();
    const expected = batches.map((batch) => {
      const next = new Map(model);
      for (const { kind, id, value } of batch) {
        if (kind === "wrong" || (kind === "insert" && next.has(id))) return false;
        if (kind === "delete") next.delete(id);
        else next.set(id, value);
      }
      model = next;
      return true;
    });
    const outcomes = await Promise.allSettled(
      batches.map((batch) =>
        database.batch(
          batch.map(({ kind, id, value }) => ({
            sql: sqlOf[kind],
            params: [id, value.toWellFormed().replaceAll("\0", "")],
          })),
        ),
      ),
    );
    expect(outcomes.map(({ status }) => status === "fulfilled")).toEqual(expected);
    const rows = await database.query<{ id: number; value: string }>(
      "SELECT id, value FROM fuzz_rows ORDER BY id",
    );
    expect(rows.map(({ id, value }) => [id, value])).toEqual(
      [...model]
        .toSorted(([one], [other]) => one - other)
        .map(([id, value]) => [id, value.toWellFormed().replaceAll("\0", "")]),
    );
  },
});
