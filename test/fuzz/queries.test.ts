import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, expect } from "vitest";
import { silentLog } from "../../kernel/src/base/log.ts";
import { ManualClock } from "../../kernel/src/base/testing/manual-clock.ts";
import type { EntryQuery } from "../../kernel/src/base/vocabulary/entry.ts";
import type { TraceEntry } from "../../kernel/src/base/vocabulary/trace.ts";
import { redactSecrets } from "../../kernel/src/secret-scan/redact.ts";
import { maxMessageLength, storedEntry } from "../../kernel/src/trace/entry.ts";
import { openTraceLog } from "../../kernel/src/trace/trace-log.ts";
import { comparePaths, countEntries, queryEntries } from "../../kernel/src/workspace/query.ts";
import { Slices } from "../../kernel/src/base/slices.ts";
import { EntryNode, EntryTree } from "../../kernel/src/workspace/tree.ts";
import { fuzz } from "./support/campaign.ts";

const target = "queries";
const facts = { size: 1, mtimeMs: 0, birthtimeMs: 0, inode: 1, device: 1 };

function treeOf(paths: readonly string[]): EntryTree {
  const tree = new EntryTree();
  let made = 0;
  for (const path of paths) {
    let folder = tree.top;
    const names = path.split("/").filter((name) => name !== "");
    for (const [at, name] of names.entries()) {
      const kind = at === names.length - 1 && !path.endsWith("/") ? "file" : "folder";
      let child = folder.child(name);
      if (child === undefined) tree.add(folder, (child = new EntryNode(`id-${made++}`, name, kind, facts)));
      if (child.children === null) break;
      folder = child;
    }
  }
  return tree;
}

/** A clock on which each look takes a millisecond: pauses come everywhere. */
const slowClock = (): { monotonic: () => number } => {
  let nowMs = 0;
  return { monotonic: () => nowMs++ };
};

const name = fc.constantFrom(
  "a",
  "b",
  "a b",
  "A",
  "z",
  "-",
  "é",
  "e\u0301",
  "a!",
  "aa",
  "a.jpg",
  "b.JPG",
  ".x",
  "💡",
);
const query: fc.Arbitrary<EntryQuery> = fc.record(
  {
    path: fc.constantFrom(
      "**",
      "a/**",
      "*",
      "**/*.jpg",
      "{a,b}/*",
      "a/*/b",
      "é/**",
      "**/a",
      "?",
      "[ab]/**",
      "a",
      "a b/**",
      "a/{b,z/**}",
    ),
    kind: fc.constantFrom("file" as const, "folder" as const),
    media: fc.constantFrom("image" as const, "other" as const),
    extension: fc.constantFrom("jpg", ".JPG", ""),
    text: fc.constantFrom("a", "A", "é", "jpg", ""),
  },
  { requiredKeys: [] },
);

fuzz({
  target,
  property: "pages together are the whole, in order, each once, however the query is paused and cut",
  arbitrary: fc.record({
    paths: fc.array(
      fc
        .tuple(fc.array(name, { minLength: 1, maxLength: 4 }), fc.boolean())
        .map(([names, isFile]) => names.join("/") + (isFile ? "" : "/")),
      { maxLength: 40 },
    ),
    query,
    limit: fc.integer({ min: 1, max: 7 }),
    sliceMs: fc.integer({ min: 1, max: 9 }),
  }),
  runs: 250,
  check: async ({ paths, query, limit, sliceMs }) => {
    const tree = treeOf(paths);
    const visible = (path: string): boolean => !path.includes("!");
    const slices = new Slices(slowClock(), sliceMs);
    const whole = await queryEntries(
      tree,
      { ...query, limit: 1000 },
      visible,
      new Slices({ monotonic: () => 0 }, 9),
    );
    const all = whole.items.map(({ path }) => path);
    expect(all).toEqual(all.toSorted(comparePaths));
    expect(new Set(all).size).toBe(all.length);
    const paged: string[] = [];
    for (let cursor: string | undefined; ;) {
      const page = await queryEntries(
        tree,
        { ...query, limit, ...(cursor === undefined ? {} : { cursor }) },
        visible,
        slices,
      );
      expect(page.items.length).toBeLessThanOrEqual(limit);
      paged.push(...page.items.map(({ path }) => path));
      cursor = page.cursor;
      if (cursor === undefined) break;
      expect(page.items.length, "a page that goes on is full").toBe(limit);
    }
    expect(paged).toEqual(all);
    expect(await countEntries(tree, query, visible, slices)).toBe(all.length);
    // Narrowing by more is filtering the whole by it.
    const everything = await queryEntries(tree, { limit: 1000 }, visible, slices);
    expect(everything.items.filter(({ path }) => all.includes(path)).map(({ path }) => path)).toEqual(all);
  },
});

const redact = redactSecrets;
const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
const code = (length: number): fc.Arbitrary<string> =>
  fc
    .array(fc.nat(letters.length - 1), { minLength: length, maxLength: length })
    // Letters that differ: a token of one repeated letter is an example, not a secret.
    .map((all) =>
      `7${all.map((at, index) => letters[(at + index * 7) % letters.length]).join("")}`.slice(0, length),
    );
const secret = fc.oneof(
  code(36).map((text) => `ghp_${text}`),
  code(16).map((text) => `AKIA${text}`),
  code(30).map((text) => `sk-${text}`),
  code(24).map((text) => `xoxb-${text}`),
  code(20).map((text) => `eyJ${text}.${text}.${text}`),
  code(20).map((text) => `Bearer ${text}`),
  code(40).map((text) => `-----BEGIN RSA PRIVATE KEY-----\n${text}\n-----END RSA PRIVATE KEY-----`),
  code(40).map((text) => `-----BEGIN PRIVATE KEY-----\n${text}`),
);
const around = fc.constantFrom(
  "",
  " ",
  "\n",
  "token=",
  '"',
  "key: ",
  "é",
  "(",
  ",",
  "💡 ",
  "$&",
  "[redacted: x]",
);

let folder = "";
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "lares-fuzz-traces-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

fuzz({
  target,
  property:
    "no secret reaches a trace, in a message or in fields, by name or value, nor half of one at a cut",
  arbitrary: fc.record({
    secret,
    before: around,
    after: fc.constantFrom("", " ", "\n", '"', ",", ")", " end"),
    plain: fc.string({ unit: "grapheme", maxLength: 20 }),
    depth: fc.nat(10),
    padding: fc.oneof(
      fc.constant(0),
      fc.tuple(fc.constantFrom(8192, 16_384, 32_768), fc.nat(120)).map(([length, less]) => length - less),
    ),
    isName: fc.boolean(),
    filler: fc.constantFrom("x ", "AKIAJ7Q2XW4N8ZB3K6TM "),
  }),
  runs: 150,
  check: ({ secret, before, after, plain, depth, padding, isName, filler }) => {
    const core = secret.replace(/^.*?([A-Z0-9]{16,}).*$/s, "$1").slice(0, 14);
    const text = filler.repeat(padding).slice(0, padding) + (padding === 0 ? before : " ") + secret + after;
    let fields: Record<string, unknown> = isName ? { [text]: 1 } : { list: [text] };
    for (let level = 0; level < depth; level++) fields = { deeper: fields };
    const stored = storedEntry(
      { level: "info", agent: "a", message: text, fields, trace_id: "t", span_id: "s" },
      0,
      redact,
    );
    expect(JSON.stringify(stored)).not.toContain(core);
    expect(stored.message.length).toBeLessThanOrEqual(maxMessageLength);
    expect(redact(redact(text))).toBe(redact(text));
    if (!/[a-zA-Z0-9_-]{10}/.test(plain)) expect(redact(plain)).toBe(plain);
  },
});

const level = fc.constantFrom("debug" as const, "info" as const, "warn" as const, "error" as const);
const traceStep = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant("write" as const),
      level,
      agent: fc.constantFrom("a.one", "a.two"),
      text: fc.oneof(
        fc.constantFrom("Hello", "hello\nworld", "\u2028", "x".repeat(9000)),
        fc.string({ unit: "binary", maxLength: 10 }),
      ),
    }),
  },
  fc.record({ do: fc.constant("advance" as const), ms: fc.constantFrom(0, 60, 3_600_000, 86_400_000) }),
  fc.record({ do: fc.constantFrom("flush" as const, "reopen" as const) }),
);

fuzz({
  target,
  property: "a query of traces gives what was written and fits, newest first, over rotation and restarts",
  arbitrary: fc.record({
    steps: fc.array(traceStep, { maxLength: 30, size: "max" }),
    query: fc.record(
      {
        agent: fc.constantFrom("a.one", "a.two"),
        level,
        text: fc.constantFrom("hello", "X", ""),
        limit: fc.nat(12),
        since: fc.constantFrom("30m", "2h", "1d", "1970-01-01T00:00:00Z"),
      },
      { requiredKeys: [] },
    ),
  }),
  runs: 50,
  check: async ({ steps, query }) => {
    const place = mkdtempSync(join(folder, "log-"));
    const clock = new ManualClock("2026-11-20T12:00:00.000Z");
    const open = () =>
      openTraceLog({
        folder: place,
        clock,
        log: silentLog,
        keepDays: 1000,
        redact: (text) => text,
        maxFileBytes: 4000,
      });
    let log = await open();
    const written: TraceEntry[] = [];
    const listen = () => log.entries.on((entry) => written.unshift(entry));
    listen();
    for (const step of steps) {
      if (step.do === "write")
        log.write({ level: step.level, agent: step.agent, message: step.text, trace_id: "t", span_id: "s" });
      else if (step.do === "advance") await clock.advanceAsync(step.ms);
      else await log.flush();
      if (step.do === "reopen") {
        await log[Symbol.asyncDispose]();
        log = await open();
        listen();
      }
    }
    const severity = ["debug", "info", "warn", "error"];
    const spans: Record<string, number> = { "30m": 1_800_000, "2h": 7_200_000, "1d": 86_400_000 };
    const since =
      query.since === undefined
        ? ""
        : new Date(clock.now() - (spans[query.since] ?? clock.now())).toISOString();
    const expected = written.filter(
      (entry) =>
        (query.agent === undefined || entry.agent === query.agent) &&
        severity.indexOf(entry.level) >= severity.indexOf(query.level ?? "debug") &&
        entry.message.toLowerCase().includes((query.text ?? "").toLowerCase()) &&
        entry.timestamp >= since,
    );
    const found = await log.query(query);
    expect(found).toEqual(JSON.parse(JSON.stringify(expected.slice(0, query.limit ?? 100))));
    await log[Symbol.asyncDispose]();
    for (const file of readdirSync(place)) expect(file).toMatch(/^(current|\d{4}-\d{2}-\d{2}(\.\d+)?)\.log$/);
    rmSync(place, { recursive: true });
  },
});
