import fc from "fast-check";
import { expect, test } from "vitest";
import type { ModelMessage } from "../base/vocabulary/model.ts";
import { dialects } from "../models/dialect.ts";
import { normalize } from "../models/normalize.ts";
import { buildContext, contextOf, sectionNames, type SuffixPart } from "./context.ts";
import { History } from "./history.ts";
import { nextPrefix, prefixOf, readPrefix, type ContextPrefix } from "./prefix.ts";
import { nothingCarried } from "./carried.ts";
import { growthFactor, growthOf } from "./testing/growth.ts";
import { LogWriter, logs } from "./testing/logs.ts";

const prefix = prefixOf({
  identity: [{ name: "SOUL.md", text: "You are calm." }],
  role: "You talk.",
  tools: [{ name: "branch", description: "Thinks", parameters: { type: "object" } }],
  skills: [{ name: "tidy", description: "How to\ntidy" }],
  blocks: [{ name: "project", description: "What it is", text: "A garden.\nWith trees." }],
  bulletin: "All is well.",
  summaries: [{ text: "They met.", covers: [1, 4], sources: ["web"], tainted: true }],
  carried: { ...nothingCarried, tasks: [{ id: "w1", text: "Count." }] },
  after: 4,
});
const build = (log: LogWriter, suffix: readonly SuffixPart[] = [], given: ContextPrefix = prefix) =>
  buildContext({ prefix: given, entries: log.entries, process: "c", model: "lab/m", suffix });

const withoutCache = (message: ModelMessage): ModelMessage => {
  const { cache: _, ...rest } = message;
  return rest;
};

test("a request has the eight sections in order, and cache points before the history, and at its end", () => {
  const log = new LogWriter();
  log.turn("Hello", ["text"]);
  log.says("And?");
  const { messages, tools, sections: sectionsOf } = build(log, [{ name: "status", text: "Nothing runs." }]);
  const sections = sectionsOf();
  expect(sections.map(({ name }) => name)).toEqual(sectionNames);
  expect(sections.filter(({ cached }) => cached !== true).map(({ name }) => name)).toEqual(["suffix"]);
  expect(tools).toEqual(prefix.tools);
  expect(messages[0]).toEqual({
    role: "system",
    cache: true,
    text: expect.stringMatching(
      /^You are calm\.\n\nYou talk\.\n\nLines that .*\n\nSkills.*\n- "tidy": "How to\\ntidy"\n\n\[the block "project": "What it is"\]\n\| A garden\.\n\| With trees\.\n\n\[the bulletin\]\n\| All is well\.$/u,
    ) as string,
  });
  expect(messages[1]).toEqual({
    role: "user",
    cache: true,
    parts: [
      {
        type: "text",
        text: '[summary of the entries 1 to 4; sources: "web"]\n| They met.\n\n[open task of the process "w1"]\n| Count.',
      },
    ],
  });
  expect(messages.at(-1)).toEqual({ role: "system", text: '["status"]\n| Nothing runs.' });
  expect(messages.map(({ role, cache }) => (cache === true ? `${role}*` : role))).toEqual([
    "system*",
    "user*",
    "user",
    "assistant",
    "tool",
    "assistant*",
    "user",
    "system",
  ]);
});

test("for no provider a cache point includes the suffix", () => {
  const log = new LogWriter();
  for (let turn = 0; turn < 3; turn++) {
    log.turn("Hello", ["text"]);
    log.says("And?");
    const suffix = [{ name: "status", text: "now" }];
    for (const dialect of Object.values(dialects)) {
      const { messages } = normalize(
        { model: "lab/m", messages: build(log, suffix).messages },
        dialect,
      ).request;
      expect(messages.at(-1)?.cache).toBeUndefined();
      expect(messages.filter(({ cache }) => cache === true).length).toBeGreaterThanOrEqual(2);
    }
  }
});

test("over 50 turns with a status that changes, each request begins with the bytes of the one before", () => {
  const log = new LogWriter();
  let sent = "";
  let system = "";
  const send = (): void => {
    const context = build(log, [{ name: "status", text: `${log.seq} entries; it is ${log.seq} o'clock` }]);
    const { messages } = normalize({ model: "lab/m", messages: context.messages }, dialects.openai).request;
    const bytes = JSON.stringify(messages.slice(0, -1).map(withoutCache)).slice(0, -1);
    expect(bytes.startsWith(sent)).toBe(true);
    expect(bytes).not.toContain("o'clock");
    if (system !== "") expect(JSON.stringify(context.messages.slice(0, 2))).toBe(system);
    system = JSON.stringify(context.messages.slice(0, 2));
    sent = bytes;
  };
  for (let turn = 0; turn < 50; turn++) {
    log.says(`Question ${turn}`);
    send();
    const message = log.request();
    if (turn % 3 === 0) log.says("One more thing");
    log.answer(message, "Let me see.", turn % 5 === 4);
    if (turn % 5 === 4) {
      log.state("Cancelled");
      continue;
    }
    log.call(`t${turn}`);
    if (turn % 4 === 0) log.add({ kind: "block", name: "project", text: `Turn ${turn}` });
    log.result(`t${turn}`, { turn });
    log.add({ kind: "conclusion", process: "b1", text: "Found." });
    send();
    log.answer(log.request(), "Here.");
    log.usage(100 + turn);
    log.add({ kind: "pin", entry: "u1", pinned: true });
  }
  expect(sent.length).toBeGreaterThan(5_000);
});

test("the size is the provider's last count of this prefix and model, and an estimate of what is new", () => {
  const log = new LogWriter();
  log.turn("Hello", []);
  expect(build(log).tokens).toBe(
    build(log)
      .sections()
      .reduce((sum, { tokens }) => sum + tokens, 0),
  );
  log.usage(7_000, 2_000);
  const counted = (more: object = {}): number =>
    buildContext({ prefix: prefixOf({}), entries: log.entries, process: "c", model: "lab/m", ...more })
      .tokens;
  expect(counted()).toBeGreaterThan(9_000);
  expect(counted()).toBeLessThan(9_100);
  log.says("word ".repeat(1_000));
  expect(counted()).toBeGreaterThan(9_900);
  expect(counted({ model: "other/m" })).toBeLessThan(5_000);
  expect(counted({ prefixSeq: log.seq })).toBeLessThan(5_000);
});

test("a history that took entries for earlier requests gives the same bytes as one that takes them all at once", () => {
  fc.assert(
    fc.property(logs, fc.integer({ min: 1, max: 5 }), (entries, step) => {
      const options = { process: "c", model: "lab/m", files: new Map() };
      const speakers = new Set(["person", "model", "kernel"]);
      const history = new History({ ...options, speakers, countedFrom: prefix.after });
      for (let from = 0; from < entries.length; from += step) {
        for (const entry of entries.slice(from, from + step)) history.take(entry);
        const { sections, ...context } = contextOf({ prefix, history, model: "lab/m" });
        const { sections: expected, ...all } = buildContext({
          prefix,
          entries: entries.slice(0, from + step),
          process: "c",
          model: "lab/m",
        });
        expect(JSON.stringify(context)).toBe(JSON.stringify(all));
        expect(sections()).toEqual(expected());
      }
    }),
    { numRuns: 200 },
  );
});

test("a stored prefix gives the same bytes", () => {
  fc.assert(
    fc.property(logs, (entries) => {
      const read = readPrefix(JSON.parse(JSON.stringify(prefix)));
      if (read === null) throw new Error("The prefix was not read.");
      const input = { entries, process: "c", model: "lab/m" };
      expect(JSON.stringify(buildContext({ ...input, prefix: read }))).toBe(
        JSON.stringify(buildContext({ ...input, prefix })),
      );
    }),
    { numRuns: 50 },
  );
});

test("what no kernel stored is not read as a prefix", () => {
  const read = (change: object) => readPrefix({ ...prefix, ...change });
  expect(read({})).toEqual(prefix);
  for (const change of [
    { version: 2 },
    { role: 1 },
    { after: 5 },
    { after: -1 },
    { identity: [{ name: "x" }] },
    { tools: [{ name: "x", description: "", parameters: [] }] },
    {
      summaries: [
        { text: "x", covers: [1, 2] },
        { text: "y", covers: [4, 4] },
      ],
    },
    { summaries: [{ text: "x", covers: [1] }] },
    { summaries: [{ text: "x", covers: [1, 4], tainted: false }] },
    { carried: null },
    { carried: { ...nothingCarried, strings: [{ text: "x", by: "who" }] } },
    { bulletin: "x".repeat(9 * 1024 * 1024) },
    { skills: Array.from({ length: 10_001 }, () => ({ name: "", description: "" })) },
  ])
    expect(read(change)).toBeNull();
  for (const other of [null, 1, "x", [], {}]) expect(readPrefix(other)).toBeNull();
});

test("a summary follows the last one, or replaces whole ones", () => {
  const summary = (from: number, to: number) => ({ text: "s", covers: [from, to] as const });
  const next = (from: number, to: number) =>
    nextPrefix(prefix, { summary: summary(from, to), carried: nothingCarried, bulletin: "New" });
  expect(next(5, 9)).toMatchObject({ bulletin: "New", role: "You talk.", after: 9 });
  expect(next(5, 9).summaries.map(({ covers }) => covers)).toEqual([
    [1, 4],
    [5, 9],
  ]);
  expect(next(1, 9).summaries.map(({ covers }) => covers)).toEqual([[1, 9]]);
  for (const [from, to] of [
    [6, 9],
    [3, 9],
    [5, 4],
    [1, 4],
  ] as const)
    expect(() => next(from, to)).toThrow(RangeError);
});

test("eight times as many entries take about eight times as long", () => {
  const log = (turns: number): LogWriter => {
    const writer = new LogWriter();
    for (let turn = 0; turn < turns; turn++) writer.turn(`Question ${turn}`, ["some text", { turn }]);
    return writer;
  };
  const small = log(250);
  const large = log(250 * growthFactor);
  expect(large.seq).toBeGreaterThan(20_000);
  expect(
    growthOf(
      () => build(small),
      () => build(large),
    ),
  ).toBeLessThan(growthFactor / 2);
});
