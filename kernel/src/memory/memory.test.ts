import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { canonicalJson, type JsonValue } from "../base/json.ts";
import { silentLog } from "../base/log.ts";
import type { Database } from "../platform/database/database.ts";
import { openNearDatabase } from "../platform/testing/near-database.ts";
import { memoryMigrations } from "./records/heads.ts";
import type { AgentMemory } from "./agent-memory.ts";
import { type MemoryFixture, memoryFixture, testKey } from "./testing/memory-fixture.ts";
import { maxStateBytes } from "./working.ts";

/** A database other than the fixture's: what is stored in it is lost. */
async function deafDatabase(): Promise<Database> {
  const database = await openNearDatabase({ path: ":memory:", migrations: memoryMigrations, log: silentLog });
  onTestFinished(() => database[Symbol.asyncDispose]());
  return database;
}

/** As a file system shows a page that did not reach the disk. */
function zeroed(bytes: Buffer, from: number, to: number): Buffer {
  return Buffer.from(bytes).fill(0, from, to);
}

/** `count` swaps one after the other; each state is its number. */
async function swaps(agent: AgentMemory, count: number): Promise<void> {
  for (let n = 0; n < count; n++) {
    const { revision } = agent.read();
    await agent.swap(revision, { n: revision + 1 });
  }
}

describe("swap", () => {
  test("begins empty at revision 0, and counts", async () => {
    const { within } = await memoryFixture();
    await within(async (agent) => {
      expect(agent.read()).toEqual({ revision: 0, state: null });
      expect(await agent.swap(0, { pending: ["a"] })).toEqual({ revision: 1 });
      expect(agent.read()).toEqual({ revision: 1, state: { pending: ["a"] } });
    });
  });

  test("of two concurrent swaps at one revision exactly one wins, and the other gets the current revision", async () => {
    const { within } = await memoryFixture();
    await within(async (agent) => {
      const outcomes = await Promise.allSettled([agent.swap(0, "first"), agent.swap(0, "second")]);
      expect(outcomes.map((outcome) => outcome.status)).toEqual(["fulfilled", "rejected"]);
      expect(outcomes[1]).toMatchObject({ reason: { code: "Conflict", facts: { revision: 1 } } });
      expect(agent.read()).toEqual({ revision: 1, state: "first" });
      expect(agent.stats().records).toBe(1);
    });
  });

  test("later changes to the caller's object do not change the stored state", async () => {
    const { within } = await memoryFixture();
    await within(async (agent) => {
      const state = { list: [1] };
      await agent.swap(0, state);
      state.list.push(2);
      expect(agent.read().state).toEqual({ list: [1] });
    });
  });

  test("a value without a JSON form is refused, and one that looks like the journal's own fields is only data", async () => {
    const { within } = await memoryFixture();
    const state = { data: 1, x: 1, salt: "abc", z: ',"salt":"', kind: '"kind":"temporal"' };
    await within(async (agent) => {
      for (const bad of [NaN, "half a pair: \ud800"]) {
        await expect(agent.swap(0, bad)).rejects.toMatchObject({ code: "InvalidParams" });
      }
      await agent.swap(0, state);
      expect(await agent.verify()).toMatchObject({ ok: true, records: 1 });
    });
    await within(async (agent) => expect(agent.read()).toEqual({ revision: 1, state }));
  });

  test("a state over its limit is refused with its size, and nothing is written", async () => {
    const { within } = await memoryFixture();
    await within(async (agent) => {
      await expect(agent.swap(0, "x".repeat(maxStateBytes - 1))).rejects.toMatchObject({
        code: "LimitExceeded",
        facts: { limit: "working_state_bytes", value: maxStateBytes + 1 },
      });
      expect(agent.stats().sizeBytes).toBe(0);
      await agent.swap(0, "x".repeat(maxStateBytes - 2));
    });
    await within(async (agent) => expect(agent.read().state).toHaveLength(maxStateBytes - 2));
  });

  test("over max_storage_mb is refused with the limit's name, nothing is written, and a higher limit applies at once", async () => {
    const { within } = await memoryFixture();
    let limit = 3000;
    await within(
      async (agent) => {
        await agent.swap(0, "small");
        await expect(agent.swap(1, "x".repeat(3000))).rejects.toMatchObject({
          code: "LimitExceeded",
          message: expect.stringContaining("makes it smaller"),
          facts: { limit: "max_storage_mb" },
        });
        expect([agent.read(), agent.stats().records]).toEqual([{ revision: 1, state: "small" }, 1]);
        limit = 10_000;
        await agent.swap(1, "x".repeat(3000));
        expect(await agent.verify()).toMatchObject({ ok: true, records: 2 });
      },
      { storageLimitBytes: () => limit },
    );
  });
});

describe("the journal's records", () => {
  test("contain what an independent reader can prove: data_hash, hash, and the chain from 64 zeros", async () => {
    const { within, journal } = await memoryFixture();
    const states: JsonValue[] = [{ b: 1, a: 'ä\u0000\n"😀' }, [1e21, 0.1, -0], null, "text"];
    const stats = await within(async (agent) => {
      for (const [revision, state] of states.entries()) await agent.swap(revision, state);
      return agent.stats();
    });
    const digest = (value: unknown): string =>
      createHash("sha256").update(canonicalJson(value)).digest("hex");
    const lines = (await readFile(join(journal, "000001.ndjson"), "utf8")).trimEnd().split("\n");
    let previous = "0".repeat(64);
    lines.forEach((line, index) => {
      const { data, salt, hash, ...chained } = JSON.parse(line) as Record<string, unknown>;
      expect(Object.keys(chained).toSorted()).toEqual([
        "data_hash",
        "id",
        "kind",
        "operation",
        "previous_hash",
        "seq",
        "timestamp",
      ]);
      expect(chained).toMatchObject({
        seq: index + 1,
        kind: "working",
        operation: "update",
        previous_hash: previous,
        timestamp: "2026-11-20T12:00:00.000Z",
      });
      expect(data).toEqual({ revision: index + 1, state: JSON.parse(JSON.stringify(states[index])) });
      expect(salt).toMatch(/^[0-9a-f]{32}$/);
      expect(chained["data_hash"]).toBe(digest({ salt, data }));
      expect(hash).toBe(digest(chained));
      previous = hash as string;
    });
    expect(stats).toMatchObject({ records: 4, head: previous });
  });

  test("roll over to the next segment by size, and are read back across all of them", async () => {
    const { within, journal } = await memoryFixture();
    await within((agent) => swaps(agent, 20), { segmentBytes: 1500 });
    expect((await readdir(journal)).length).toBeGreaterThan(3);
    await within(async (agent) => {
      expect(agent.read()).toEqual({ revision: 20, state: { n: 20 } });
      await swaps(agent, 5);
      expect(await agent.verify()).toMatchObject({ ok: true, records: 25 });
    });
  });
});

describe("the checkpoint", () => {
  async function checkpointed(): Promise<MemoryFixture & { path: string }> {
    const made = await memoryFixture();
    await made.within((agent) => swaps(agent, 5));
    return { ...made, path: join(made.folder, "working.json") };
  }

  test("is written at the end, and contains the readable state", async () => {
    const { path } = await checkpointed();
    expect(JSON.parse(await readFile(path, "utf8"))).toMatchObject({
      version: 1,
      seq: 5,
      data: { revision: 5, state: { n: 5 } },
    });
  });

  test.each([
    ["damaged", () => "{ not json"],
    ["changed", (text: string) => text.replace('{"n":5}', '{"n":6}')],
    ["of a version that is not there", () => '{"version":9}'],
    ["too large", () => "x".repeat(3_000_000)],
  ])("is recreated from the journal when it is %s", async (_name, change) => {
    const { within, path } = await checkpointed();
    const good = await readFile(path, "utf8");
    await writeFile(path, change(good));
    await within(async (agent) => expect(agent.read()).toEqual({ revision: 5, state: { n: 5 } }));
    expect(await readFile(path, "utf8")).toBe(good);
  });

  test("that is behind the journal is ignored", async () => {
    const { within, path } = await checkpointed();
    const old = await readFile(path, "utf8");
    await within((agent) => swaps(agent, 3));
    await writeFile(path, old);
    await within(async (agent) => expect(agent.read()).toEqual({ revision: 8, state: { n: 8 } }));
  });
});

describe("opening", () => {
  test("gives all callers the same memory, and a new one after it was closed", async () => {
    const { start } = await memoryFixture();
    await using memory = await start();
    const [first, second] = await Promise.all([memory.open(testKey), memory.open(testKey)]);
    expect(second).toBe(first);
    await first.swap(0, 1);
    const closing = first[Symbol.asyncDispose]();
    const third = await memory.open(testKey);
    await closing;
    expect(third.read()).toEqual({ revision: 1, state: 1 });
    await expect(first.swap(1, 2)).rejects.toMatchObject({ code: "StorageError" });
    await third.swap(1, 2);
  });

  test("a memory whose head was lost with its kernel exists, and one that was never opened does not", async () => {
    const { within, start } = await memoryFixture();
    await within((agent) => swaps(agent, 1), { database: await deafDatabase() });
    await using memory = await start();
    expect(memory.stats(testKey).records).toBe(0);
    expect(await memory.exists(testKey)).toBe(true);
    expect(await memory.exists("extension/test.other")).toBe(false);
  });

  test("a torn last line is cut and reported, and later records are intact", async () => {
    const { within, journal, warnings } = await memoryFixture();
    await within((agent) => swaps(agent, 3));
    const path = join(journal, "000001.ndjson");
    const whole = await readFile(path);
    await writeFile(path, Buffer.concat([whole, Buffer.from('{"data":{"revision":4,"sta')]));
    await within(async (agent) => {
      expect(agent.read().revision).toBe(3);
      await swaps(agent, 1);
    });
    expect(warnings).toEqual([expect.stringContaining("never reached the disk whole")]);
    await within(async (agent) => expect(await agent.verify()).toMatchObject({ ok: true, records: 4 }));
  });

  const page = 512;
  test.each<[string, (tail: Buffer) => Buffer]>([
    ["is missing", () => Buffer.alloc(0)],
    ["is there up to the middle of a record", (tail) => tail.subarray(0, Math.floor(tail.length / 2))],
    ["is zeros", (tail) => Buffer.alloc(tail.length)],
    ["is more zeros than a record may have bytes", () => Buffer.alloc(3 * 1024 * 1024)],
    ["has zeros in the middle and whole records behind", (tail) => zeroed(tail, page, 2 * page)],
    ["begins with zeros, with whole records behind", (tail) => zeroed(tail, 0, page)],
    ["ends in zeros", (tail) => zeroed(tail, tail.length - page, tail.length)],
  ])("after a power cut, where what was never waited for %s, all that was stays", async (_name, cut) => {
    const { folder, start, within, journal, warnings } = await memoryFixture();
    const path = join(journal, "000001.ndjson");
    await within((agent) => swaps(agent, 3));
    const cuts: number[] = [];
    {
      // The database loses what follows, which is allowed because nobody waited for it.
      await using memory = await start({ database: await deafDatabase() });
      const agent = await memory.open(testKey);
      await swaps(agent, 10);
      const whole = await readFile(path);
      const lines = whole.toString().split(/(?<=\n)/);
      const synced = Buffer.byteLength(lines.slice(0, 3).join(""));
      await writeFile(`${path}.cut`, Buffer.concat([whole.subarray(0, synced), cut(whole.subarray(synced))]));
    }
    await rename(`${path}.cut`, path);
    await rm(join(folder, "working.json"));
    await within(
      async (agent) => {
        const { revision, state } = agent.read();
        expect(revision).toBeGreaterThanOrEqual(3);
        expect(state).toEqual({ n: revision });
        expect(await agent.verify()).toMatchObject({ ok: true, records: revision });
        await swaps(agent, 1);
      },
      { cutOff: (_key, bytes) => cuts.push(bytes) },
    );
    expect(cuts).toHaveLength(warnings.length);
    await within(async (agent) => expect(await agent.verify()).toMatchObject({ ok: true }));
  });

  test("zeros in synced records are damage, also if records follow", async () => {
    const { start, within, journal } = await memoryFixture();
    const path = join(journal, "000001.ndjson");
    await within(async (agent) => {
      await swaps(agent, 3);
      await agent.sync();
    });
    const bad = zeroed(await readFile(path), 700, 800);
    await writeFile(path, bad);
    await using memory = await start();
    await expect(memory.open(testKey)).rejects.toMatchObject({ facts: { firstBad: { seq: 2 } } });
    expect(await readFile(path)).toEqual(bad);
  });

  test("sync waits until the anchor survives a power cut; other writes do not", async () => {
    const { start, clock, database } = await memoryFixture();
    const asked: (string | undefined)[] = [];
    const heard: Database = {
      query: (...args) => database.query(...args),
      batch: (statements, options) => {
        asked.push(options?.durability);
        return database.batch(statements, options);
      },
      [Symbol.asyncDispose]: async () => undefined,
    };
    await using memory = await start({ database: heard });
    const agent = await memory.open(testKey);
    await swaps(agent, 1);
    clock.advance(50);
    await vi.waitUntil(() => asked.length === 1);
    await agent.sync();
    await swaps(agent, 1);
    await agent.sync();
    await agent.sync();
    expect(asked).toEqual(["process", "power", "power"]);
  });

  test("a damaged journal is refused with its first bad record, left unchanged, and continues once repaired", async () => {
    const { start, within, journal } = await memoryFixture();
    await within((agent) => swaps(agent, 5));
    const path = join(journal, "000001.ndjson");
    const good = await readFile(path);
    const bad = Buffer.from(good.toString().replace('"n":3', '"n":4'));
    await writeFile(path, bad);
    await using memory = await start();
    await expect(memory.open(testKey)).rejects.toMatchObject({
      code: "StorageError",
      message: expect.stringContaining("damaged at seq 3: its data_hash does not match its data"),
      facts: { firstBad: { seq: 3 } },
    });
    expect(await memory.verify(testKey)).toMatchObject({ ok: false, records: 2, firstBad: { seq: 3 } });
    expect(await readFile(path)).toEqual(bad);
    await writeFile(path, good);
    expect(await memory.verify(testKey)).toMatchObject({ ok: true, records: 5 });
    expect((await memory.open(testKey)).read().revision).toBe(5);
  });

  test("for a journal cut at a record's end, or an older copy, the error names the first missing record", async () => {
    const { start, within, journal } = await memoryFixture();
    await within((agent) => swaps(agent, 3));
    const old = await readFile(join(journal, "000001.ndjson"));
    await within((agent) => swaps(agent, 3));
    await writeFile(join(journal, "000001.ndjson"), old);
    await using memory = await start();
    await expect(memory.open(testKey)).rejects.toMatchObject({ facts: { firstBad: { seq: 4 } } });
    expect(memory.stats(testKey).records).toBe(6);
  });

  test("a valid journal that was rewritten as a whole is detected by its anchored head", async () => {
    const one = await memoryFixture();
    const other = await memoryFixture();
    for (const each of [one, other]) await each.within((agent) => swaps(agent, 3));
    await writeFile(join(one.journal, "000001.ndjson"), await readFile(join(other.journal, "000001.ndjson")));
    await expect(one.within(async () => undefined)).rejects.toMatchObject({
      facts: { firstBad: { seq: 3 } },
    });
  });

  test("an anchor that lags behind the journal, as after a crash between the two, is not damage", async () => {
    const { within, database } = await memoryFixture();
    await within((agent) => swaps(agent, 2));
    const [row] = await database.query("SELECT * FROM memory_heads");
    await within((agent) => swaps(agent, 3));
    await database.batch([
      {
        sql: "UPDATE memory_heads SET seq = ?, hash = ?, size = ?",
        params: [row?.["seq"] ?? null, row?.["hash"] ?? null, row?.["size"] ?? null],
      },
    ]);
    await within(async (agent) => expect(agent.read().revision).toBe(5));
  });

  test("an id that is not an extension's is refused before any file is touched", async () => {
    const { start } = await memoryFixture();
    await using memory = await start();
    await expect(memory.open("extension/../../evil")).rejects.toMatchObject({ code: "InvalidParams" });
  });

  test("a folder in place of a segment is reported as a StorageError", async () => {
    const { within, journal } = await memoryFixture();
    await mkdir(join(journal, "000001.ndjson"), { recursive: true });
    await expect(within(async () => undefined)).rejects.toMatchObject({ code: "StorageError" });
  });
});

describe("durability", () => {
  test("a write is anchored within 50 ms without a sync", async () => {
    const { start, clock, database } = await memoryFixture();
    await using memory = await start();
    const agent = await memory.open(testKey);
    await swaps(agent, 3);
    const anchored = (): Promise<readonly unknown[]> => database.query("SELECT seq FROM memory_heads");
    expect(await anchored()).toEqual([]);
    clock.advance(50);
    await expect.poll(anchored).toEqual([{ seq: 3 }]);
  });

  test("sync resolves when all earlier writes are anchored, including those in progress", async () => {
    const { start, database } = await memoryFixture();
    await using memory = await start();
    const agent = await memory.open(testKey);
    const first = agent.swap(0, 1);
    const early = agent.sync();
    await first;
    await swaps(agent, 1);
    await Promise.all([early, agent.sync()]);
    expect(await database.query("SELECT seq, hash, size FROM memory_heads")).toEqual([
      { seq: 2, hash: agent.stats().head, size: agent.stats().sizeBytes },
    ]);
  });

  test("verify of an open memory detects changes on the disk", async () => {
    const { within, journal } = await memoryFixture();
    await within(async (agent) => {
      await swaps(agent, 4);
      const path = join(journal, "000001.ndjson");
      const good = await readFile(path, "utf8");
      await writeFile(path, good.replace('"n":2', '"n":7'));
      expect(await agent.verify()).toMatchObject({ ok: false, records: 1, firstBad: { seq: 2 } });
      await writeFile(path, good);
      expect(await agent.verify()).toMatchObject({ ok: true, records: 4 });
    });
  });
});
