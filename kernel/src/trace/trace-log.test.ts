import { appendFile, readdir, readFile, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { newId } from "../base/ids.ts";
import { silentLog } from "../base/log.ts";
import { ManualClock } from "../base/testing/manual-clock.ts";
import type { TraceLevel } from "../base/vocabulary/trace.ts";
import { temporaryFolder } from "../platform/testing/temporary-folder.ts";
import { TraceBuffer } from "./buffer.ts";
import { maxFieldsLength, maxMessageLength, type NewTraceEntry } from "./entry.ts";
import { openTraceLog, type TraceLog, type TraceLogOptions } from "./trace-log.ts";

const entry = (message: string, more: Partial<NewTraceEntry> = {}): NewTraceEntry => ({
  level: "info",
  agent: "dev.lares.test",
  message,
  trace_id: "t",
  span_id: "s",
  ...more,
});

interface Fixture {
  readonly folder: string;
  readonly clock: ManualClock;
  readonly log: TraceLog;
  reopen(options?: Partial<TraceLogOptions>): Promise<TraceLog>;
}

async function fixture(options: Partial<TraceLogOptions> = {}): Promise<Fixture> {
  const folder = await temporaryFolder();
  const clock = new ManualClock("2026-11-20T12:00:00.000Z");
  const reopen = async (more: Partial<TraceLogOptions> = {}): Promise<TraceLog> => {
    const log = await openTraceLog({
      folder,
      clock,
      log: silentLog,
      keepDays: 30,
      redact: (text) => text,
      ...options,
      ...more,
    });
    onTestFinished(() => log[Symbol.asyncDispose]());
    return log;
  };
  return { folder, clock, log: await reopen(), reopen };
}

const messages = async (log: TraceLog, query: Parameters<TraceLog["query"]>[0] = {}): Promise<string[]> =>
  (await log.query(query)).map((one) => one.message);

describe("query", () => {
  test("returns what was just written, newest first, up to the limit", async () => {
    const { log } = await fixture();
    for (let n = 0; n < 5; n++) log.write(entry(`m${n}`));
    expect(await messages(log, { limit: 3 })).toEqual(["m4", "m3", "m2"]);
    expect(await messages(log, { limit: 0 })).toEqual([]);
  });

  test("answers with at most two megabytes, and older entries are found by the time of the last one", async () => {
    const { log, clock } = await fixture();
    const fields = { wide: "f".repeat(15_000) };
    for (let n = 0; n < 410; n++) {
      log.write(entry(`m${n}`, { fields }));
      clock.advance(1000);
      // The last few are not on the disk yet.
      if (n % 40 === 39) await log.flush();
    }
    const seen: string[] = [];
    for (let until: string | undefined; !seen.includes("m0");) {
      const page = await log.query({ limit: 1000, ...(until === undefined ? {} : { until }) });
      expect(JSON.stringify(page).length).toBeLessThan(2 * 1024 * 1024 + 1000);
      expect(page.length).toBeGreaterThan(100);
      // The last entry of a page is the first of the next.
      expect(seen.at(-1) ?? page[0]?.message).toBe(page[0]?.message);
      seen.push(...page.slice(until === undefined ? 0 : 1).map(({ message }) => message));
      until = page.at(-1)?.timestamp;
    }
    expect(seen).toEqual(Array.from({ length: 410 }, (_, n) => `m${409 - n}`));
  });

  test("returns what was written after an entry, across files and restarts, also if that entry was lost", async () => {
    const { log, clock, reopen } = await fixture({ maxFileBytes: 2_000 });
    const ids: string[] = [];
    const write = (to: TraceLog, n: number, level: TraceLevel = "info"): void => {
      ids.push(newId());
      to.write(entry(`m${n}`, { span_id: ids.at(-1)!, level, fields: { wide: "f".repeat(900) } }));
    };
    for (let n = 0; n < 6; n++) {
      write(log, n);
      await log.flush();
      clock.advance(1000);
    }
    // It was sent to clients and lost: the kernel died before the disk had it.
    const lost = newId();
    await log[Symbol.asyncDispose]();
    const next = await reopen();
    for (let n = 6; n < 9; n++) write(next, n, n === 7 ? "debug" : "info");
    expect(await messages(next, { after: ids[3]! })).toEqual(["m8", "m7", "m6", "m5", "m4"]);
    expect(await messages(next, { after: lost })).toEqual(["m8", "m7", "m6"]);
    expect(await messages(next, { after: ids[3]!, level: "info", limit: 3 })).toEqual(["m8", "m6", "m5"]);
    expect(await messages(next, { after: ids.at(-1)! })).toEqual([]);
  });

  async function filled(): Promise<TraceLog> {
    const { log, clock } = await fixture();
    const write = (message: string, level: TraceLevel, agent: string): void =>
      log.write(entry(message, { level, agent }));
    write("Old", "error", "a.one");
    clock.advance(2 * 3_600_000);
    write("debug thing", "debug", "a.one");
    write("warned THING", "warn", "a.two");
    clock.advance(60_000);
    write("info thing", "info", "a.one");
    return log;
  }
  test.each([
    [{ agent: "a.one" }, ["info thing", "debug thing", "Old"]],
    [{ level: "warn" }, ["warned THING", "Old"]],
    [{ level: "info" }, ["info thing", "warned THING", "Old"]],
    [{ text: "ThInG" }, ["info thing", "warned THING", "debug thing"]],
    [{ since: "1h" }, ["info thing", "warned THING", "debug thing"]],
    [{ since: "30s" }, ["info thing"]],
    [{ until: "2026-11-20T13:00:00Z" }, ["Old"]],
    [{ since: "2026-11-20T14:00:00Z", until: "2026-11-20T14:00:30Z" }, ["warned THING", "debug thing"]],
    [{ since: "7d", level: "error", text: "o", agent: "a.one" }, ["Old"]],
  ] as const)("%j", async (query, expected) => {
    expect(await messages(await filled(), query)).toEqual(expected);
  });

  test.each(["yesterday", "7y", "", "99999-01-01T00:00:00Z"])(
    "a time like %j is refused, naming it",
    async (since) => {
      const { log } = await fixture();
      await expect(log.query({ since })).rejects.toMatchObject({
        code: "InvalidParams",
        message: expect.stringContaining(`"since" is "${since}"`),
      });
    },
  );

  test("reads backwards through many blocks and multi-byte characters", async () => {
    const { log } = await fixture();
    const text = "日本語🎉".repeat(100);
    for (let n = 0; n < 500; n++) log.write(entry(`${n} ${text}`));
    expect(await messages(log, { limit: 1000 })).toEqual(
      Array.from({ length: 500 }, (_, n) => `${499 - n} ${text}`),
    );
  });

  test("skips a torn last line, a foreign line and an overlong one; the next entry is intact", async () => {
    const { log, folder, reopen } = await fixture();
    log.write(entry("before"));
    await log[Symbol.asyncDispose]();
    await appendFile(
      join(folder, "current.log"),
      `not json\n{"x":1}\n${"y".repeat(700_000)}\n{"timestamp":"2026-11-20T1`,
    );
    const second = await reopen();
    second.write(entry("after"));
    expect(await messages(second)).toEqual(["after", "before"]);
  });
});

describe("files", () => {
  test("each day gets a file of its own, and a query reads across them", async () => {
    const { log, clock, folder } = await fixture();
    for (const day of ["20", "21", "22"]) {
      log.write(entry(`on ${day}`));
      await log.flush();
      clock.advance(86_400_000);
    }
    log.write(entry("on 23"));
    expect(await messages(log)).toEqual(["on 23", "on 22", "on 21", "on 20"]);
    expect((await readdir(folder)).toSorted()).toEqual([
      "2026-11-20.log",
      "2026-11-21.log",
      "2026-11-22.log",
      "current.log",
    ]);
    expect(await readFile(join(folder, "2026-11-21.log"), "utf8")).toContain("on 21");
    expect(await messages(log, { since: "2026-11-22T00:00:00Z" })).toEqual(["on 23", "on 22"]);
    expect(await messages(log, { until: "2026-11-21T23:00:00Z" })).toEqual(["on 21", "on 20"]);
  });

  test("a file from an earlier day is rotated to that day", async () => {
    const { log, clock, folder, reopen } = await fixture();
    log.write(entry("old"));
    await log[Symbol.asyncDispose]();
    await utimes(join(folder, "current.log"), 0, 0);
    clock.advance(3 * 86_400_000);
    const second = await reopen();
    second.write(entry("new"));
    expect(await messages(second)).toEqual(["new", "old"]);
    expect((await readdir(folder)).toSorted()).toEqual(["2026-11-20.log", "current.log"]);
  });

  test("a day with more than one file's worth has parts, read in the right order", async () => {
    const { log, clock, folder } = await fixture({ maxFileBytes: 2000 });
    for (let n = 0; n < 60; n++) {
      log.write(entry(`m${n}`));
      await log.flush();
    }
    clock.advance(86_400_000);
    log.write(entry("m60"));
    expect(await messages(log, { limit: 1000 })).toEqual(Array.from({ length: 61 }, (_, n) => `m${60 - n}`));
    expect(await readdir(folder)).toEqual(
      expect.arrayContaining(["2026-11-20.1.log", "2026-11-20.2.log", "2026-11-20.log"]),
    );
  });

  test("expired files are removed at the start and at each rotation; other files stay", async () => {
    const { log, clock, folder, reopen } = await fixture({ keepDays: 2 });
    await writeFile(join(folder, "2026-11-01.log"), "");
    await writeFile(join(folder, "2026-11-18.3.log"), "");
    await writeFile(join(folder, "notes.txt"), "");
    await log[Symbol.asyncDispose]();
    const second = await reopen();
    expect((await readdir(folder)).toSorted()).toEqual(["2026-11-18.3.log", "current.log", "notes.txt"]);
    clock.advance(86_400_000);
    second.write(entry("today"));
    await second.flush();
    second.write(entry("tomorrow"));
    clock.advance(86_400_000);
    await second.flush();
    expect((await readdir(folder)).toSorted()).toEqual(["2026-11-21.log", "current.log", "notes.txt"]);
  });

  test("beyond the maximum, the oldest files are removed; one that is removed during a query is skipped", async () => {
    const { log, folder } = await fixture({ maxFileBytes: 2000, maxFiles: 3 });
    const written: string[] = [];
    for (let n = 0; n < 100; n++) {
      written.push(`m${n}`);
      log.write(entry(`m${n}`));
      await log.flush();
    }
    const reading = messages(log, { limit: 1000 });
    for (let n = 0; n < 50; n++) {
      log.write(entry("meanwhile"));
      await log.flush();
    }
    expect((await readdir(folder)).length).toBe(4);
    const found = (await reading).filter((message) => message !== "meanwhile");
    expect(found).toEqual(written.toReversed().slice(0, found.length));
    expect(found.length).toBeLessThan(written.length);
  });

  test("a query that runs while the day changes neither misses nor repeats an entry", async () => {
    const { log, clock } = await fixture();
    for (let n = 0; n < 2000; n++) log.write(entry(`m${n}`));
    const reading = messages(log, { limit: 5000 });
    clock.advance(86_400_000);
    log.write(entry("later"));
    await log.flush();
    const found = await reading;
    expect(found.filter((message) => message !== "later")).toEqual(
      Array.from({ length: 2000 }, (_, n) => `m${1999 - n}`),
    );
  });
});

describe("entries", () => {
  test("are emitted at once, as stored", async () => {
    const { log, clock } = await fixture();
    const heard: unknown[] = [];
    log.entries.on((one) => heard.push(one));
    log.write(entry("hello", { hook: "h", fields: { a: 1, gone: undefined } }));
    const expected = {
      timestamp: new Date(clock.now()).toISOString(),
      level: "info",
      agent: "dev.lares.test",
      hook: "h",
      message: "hello",
      fields: { a: 1 },
      trace_id: "t",
      span_id: "s",
    };
    expect(heard).toEqual([expected]);
    expect(await log.query({})).toEqual([expected]);
  });

  test("are cut to their limits, with a mark", async () => {
    const { log } = await fixture();
    log.write(entry("m".repeat(1_000_000), { fields: { big: "f".repeat(1_000_000) } }));
    const [stored] = await log.query({});
    expect(stored?.message).toHaveLength(maxMessageLength);
    expect(stored?.message).toMatch(/cut\]$/);
    expect(String(stored?.fields?.["cut"])).toHaveLength(maxFieldsLength);
  });

  test("with fields that have no JSON form are stored with a note", async () => {
    const { log } = await fixture();
    const loop: Record<string, unknown> = {};
    loop["self"] = loop;
    log.write(entry("loop", { fields: loop }));
    expect((await log.query({}))[0]).toMatchObject({
      message: "loop",
      fields: { unreadable: expect.stringContaining("circular") },
    });
  });

  test("never contain what a rule matches, in the message, in fields, or beside a field's name", async () => {
    const redact = (text: string): string =>
      text
        .replaceAll(/sk-[a-z0-9]{8,}/g, "[redacted: api key]")
        .replaceAll(/password\s*[:=]\s*\S+/gi, "[redacted: password]");
    const { log, folder } = await fixture({ redact });
    log.write(
      entry("key sk-abcdefgh1 and sk-abcdefgh2", {
        fields: { list: ["sk-abcdefgh3"], deep: { Password: "hunter2" }, count: 3, fine: "as it is" },
      }),
    );
    const [stored] = await log.query({});
    expect(stored).toMatchObject({
      message: "key [redacted: api key] and [redacted: api key]",
      fields: {
        list: ["[redacted: api key]"],
        deep: { Password: "[redacted: password]" },
        count: 3,
        fine: "as it is",
      },
    });
    expect(await readFile(join(folder, "current.log"), "utf8")).not.toMatch(/hunter2|sk-abc/);
  });

  test("contain unchanged what no rule matches, with a name that a rule knows or without", async () => {
    const { log } = await fixture({
      redact: (text) => text.replaceAll(/password: \S{6,}/g, "[redacted: password]"),
    });
    const fields = { password: "short", note: "a: b", "a: b": "c", empty: "" };
    log.write(entry("as it is", { fields }));
    expect((await log.query({}))[0]?.fields).toEqual(fields);
  });
});

test("an overfull buffer drops the least important entries first, counts them, and keeps the order of the rest", () => {
  const buffer = new TraceBuffer(100);
  const add = (level: TraceLevel, name: string): void => buffer.add(level, name.padEnd(20, "."));
  for (const [level, name] of [
    ["debug", "d1"],
    ["warn", "w1"],
    ["info", "i1"],
    ["debug", "d2"],
    ["error", "e1"],
  ] as const)
    add(level, name);
  add("warn", "w2");
  expect(buffer.length).toBe(80);
  add("error", "e2");
  add("error", "e3");
  expect(buffer.take()).toMatchObject({
    text: ["w1", "e1", "w2", "e2", "e3"].map((name) => name.padEnd(20, ".")).join(""),
    dropped: { debug: 2, info: 1 },
  });
  expect(buffer.take()).toMatchObject({ text: "", dropped: null });
});

test("texts that a person has removed are gone from all files, also where they were cut, and new entries follow", async () => {
  const { folder, log, clock } = await fixture();
  const long = `The orchard ${"of plums ".repeat(400)}`;
  log.write(entry("says damson", { values: { said: long, list: ["a damson"] } }));
  await log.flush();
  clock.advance(86_400_000);
  log.write(entry("the next day: damson"));
  log.write(entry("nothing"));
  await log.flush();
  expect((await readdir(folder)).length).toBeGreaterThan(1);
  expect(await log.redact(["damson", long])).toBe(2);
  log.write(entry("afterwards"));
  await log.flush();
  const files = await Promise.all(
    (await readdir(folder)).map((name) => readFile(join(folder, name), "utf8")),
  );
  expect(files.join()).not.toContain("damson");
  expect(files.join()).not.toContain("orchard");
  const mark = "[redacted by the person]";
  expect(await messages(log)).toEqual(["afterwards", "nothing", `the next day: ${mark}`, `says ${mark}`]);
  expect((await log.query({})).at(-1)?.fields).toEqual({
    said: `${mark}… [${long.length} characters, cut]`,
    list: [`a ${mark}`],
  });
  expect(await log.redact(["damson"])).toBe(0);
});
