import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isoTime } from "../../../kernel/src/base/clock.ts";
import { silentLog } from "../../../kernel/src/base/log.ts";
import { buildContext } from "../../../kernel/src/context/context.ts";
import { prefixOf } from "../../../kernel/src/context/prefix.ts";
import { Conversations } from "../../../kernel/src/conversations/conversations.ts";
import { conversationMigrations } from "../../../kernel/src/conversations/migrations.ts";
import type { NewEntry } from "../../../kernel/src/conversations/records.ts";
import { DiskTimer } from "../../../kernel/src/journal/disk-timer.ts";
import { systemClock } from "../../../kernel/src/platform/clock.ts";
import { openDatabase } from "../../../kernel/src/platform/database/database.ts";
import { until } from "../../support/until.ts";
import type { Figure, RunOptions } from "../figure.ts";
import { type DiskUse, MindSession } from "../mind-session.ts";
import type { Row } from "../report.ts";
import { median, percentile } from "../statistics.ts";
import { crowd } from "../talk-crowd.ts";
import { prefixes } from "../talk-prefixes.ts";
import { askedLast, beginning, timeResuming } from "../talk-resuming.ts";
import { recollections } from "../talk-recollection.ts";

const MIND = "bench.mind";
const storedMessages = 10_000;

/** Answers of the model; a call in the same words a third time in a row would be asked about, so two take turns. */
const read = (process: string, when: string, path: string, delayMs = 0): string =>
  `  - { process: ${process}, when: ${when}, call: [{ tool: files/read, arguments: { path: ${path} } }], delay_ms: ${delayMs}, repeat: true }`;
const spawn = (when: string, tasks: readonly string[]): string =>
  `  - { process: channel, when: ${when}, call: [${tasks.map((task) => `{ tool: spawn_worker, arguments: { task: ${task} } }`).join(", ")}], repeat: true }`;
const words = 400;
const script = `
turns:
${read("channel", "read one", "a.md")}
${read("channel", "read two", "b.md")}
  - { process: channel, when: hello, say: "Hi there", repeat: true }
  - { process: channel, when: long, say: "${"word ".repeat(words)}", repeat: true }
${read("worker", "busy", "c.md", 100)}
${read("worker", "gamma", "d.md", 100)}
${read("worker", "delta", "c.md", 100)}
${read("worker", "count", "e.md", 300)}
${read("worker", "epsilon", "f.md", 300)}
  - { process: worker, when: zeta, say: "Both files are read", delay_ms: 300, repeat: true }
  - { process: worker, delay_ms: 600000, say: "late", repeat: true }
${spawn(
  "eight wait",
  Array.from({ length: 8 }, (_, index) => `t${index}`),
)}
${spawn(
  "eight work",
  Array.from({ length: 8 }, (_, index) => `busy${index}`),
)}
${spawn("two count", ["count0", "count1"])}
  - { process: channel, say: "ok", repeat: true }
`;
const files = {
  "a.md": "alpha\n",
  "b.md": "beta\n",
  "c.md": "gamma\n",
  "d.md": "delta\n",
  "e.md": "epsilon\n",
  "f.md": "zeta\n",
};

/** Turns that are measured beside workers that call tools, which make a limited number of calls. */
const turnsBesideWorkers = 20;

const firsts = (all: readonly { readonly first: number }[]): number[] => all.map(({ first }) => first);
const ends = (all: readonly { readonly end: number }[]): number[] => all.map(({ end }) => end);

async function turns(talk: MindSession, { isShort, say }: RunOptions): Promise<Row[]> {
  const samples = isShort ? 15 : 100;
  const conversation = await talk.begin();
  const times = async (...texts: readonly string[]) => {
    const all = [];
    for (let round = 0; round < samples + 5; round++)
      all.push(await talk.say(conversation, texts[round % texts.length] ?? ""));
    return all.slice(5);
  };
  const plain = await times("hello");
  const floor: number[] = [];
  for (let round = 0; round < samples; round++) {
    const began = performance.now();
    await talk.client.request("lares/conversations/get", { id: conversation.id });
    floor.push(performance.now() - began);
  }
  const before = await talk.logBytes(conversation);
  const reading = await times("read one", "read two");
  const bytes = ((await talk.logBytes(conversation)) - before) / (samples + 5);
  say("turns: done");
  const counted = isShort ? 10 : 40;
  const hello = await talk.diskUseOf(async () => {
    for (let turn = 0; turn < counted; turn++) await talk.say(conversation, "hello");
  });
  const calling = await talk.diskUseOf(async () => {
    for (let turn = 0; turn < counted; turn++)
      await talk.say(conversation, `read ${turn % 2 ? "one" : "two"}`);
  });
  const long = await talk.diskUseOf(() => talk.say(conversation, "a long one"));
  say("the disk: done");
  await talk.say(conversation, "eight wait");
  const waiting = await times("hello");
  await talk.client.request("lares/conversations/cancel", { id: conversation.id });
  const working: { first: number; end: number }[] = [];
  while (working.length < samples) {
    const beside = await talk.begin();
    await talk.say(beside, "eight work");
    for (let turn = 0; turn < Math.min(samples, turnsBesideWorkers); turn++)
      working.push(await talk.say(beside, "hello"));
    await talk.client.request("lares/conversations/cancel", { id: beside.id });
  }
  say("beside workers: done");
  const asked = { what: "lares/conversations/get, p50", value: median(floor) };
  const first = (what: string, all: readonly { readonly first: number }[], note = ""): Row => ({
    what,
    value: percentile(firsts(all), 0.95),
    unit: "ms",
    target: { atMost: 15 },
    floor: asked,
    samples: all.length,
    note: `p50 ${median(firsts(all)).toFixed(1)} ms${note}`,
  });
  return [
    first("message → first piece of the answer at the client, p95", plain),
    first("the same beside eight workers that wait for their models, p95", waiting),
    first("the same beside eight workers that each call a tool every 100 ms, p95", working),
    {
      what: "a turn with one call, to its end at the client, p50",
      value: median(ends(reading)),
      unit: "ms",
      target: { atMost: 10 },
      floor: asked,
      samples,
      note: `p95 ${percentile(ends(reading), 0.95).toFixed(1)} ms; two requests to the model, whose own time is 0`,
    },
    { what: "bytes of the log for such a turn", value: bytes / 1e3, unit: "KB" },
    ...diskRows("a turn without a call", hello, counted),
    ...diskRows("a turn with one call", calling, counted),
    ...diskRows(`an answer of ${words} pieces`, long, 1, { atMost: words / 20 }),
  ];
}

/** The bytes that the kernel wrote, indexes and anchors included; flushes are left out where they cannot be counted. */
function diskRows(what: string, use: DiskUse, turnCount: number, target?: Row["target"]): Row[] {
  const written: Row = {
    what: `${what}: written by the kernel, in all its files`,
    value: use.writtenBytes / turnCount / 1e3,
    unit: "KB",
    samples: turnCount,
  };
  if (use.flushes === null) return [{ ...written, note: "flushes were not counted: strace is missing here" }];
  const flushed: Row = {
    what: `${what}: flushes`,
    value: use.flushes / turnCount,
    unit: "",
    samples: turnCount,
    ...(target === undefined ? {} : { target }),
  };
  return [written, flushed];
}

const maker = { process: "c", turn: "t", created: isoTime(Date.UTC(2026, 10, 26)) };

function message(index: number): NewEntry {
  const isPerson = index % 2 === 0;
  return {
    ...maker,
    id: `m${index}`,
    turn: `m${index - (index % 2)}`,
    origin: isPerson ? "person" : "model",
    kind: "message",
    role: isPerson ? "user" : "assistant",
    parts: [{ type: "text", text: `This is message ${index} of a long conversation about ordinary things.` }],
  };
}

/** A conversation of 10,000 messages, of which the last ones are behind a compaction. */
async function stored({ isShort, say }: RunOptions): Promise<Row[]> {
  const folder = await mkdtemp(join(tmpdir(), "lares-bench-"));
  try {
    await using database = await openDatabase({
      path: join(folder, "ledger.sqlite"),
      migrations: conversationMigrations,
      log: silentLog,
    });
    const open = (): Conversations =>
      new Conversations({
        stateFolder: folder,
        database,
        clock: systemClock,
        log: silentLog,
        disk: new DiskTimer(systemClock),
        maxBytes: () => Infinity,
      });
    let id = "";
    let after = 0;
    {
      await using all = open();
      using opened = await all.create(MIND);
      ({ id } = opened.log);
      await opened.log.append([beginning]);
      for (let index = 0; index < storedMessages; index += 100) {
        const entries = await opened.log.append(Array.from({ length: 100 }, (_, at) => message(index + at)));
        if (index < storedMessages - 200) after = entries.at(-1)?.seq ?? 0;
      }
      await askedLast(opened.log, after);
      await until("the checkpoint", async () => {
        const heads = await database.query("SELECT 1 FROM conversation_heads WHERE checkpoint IS NOT NULL");
        return heads.length > 0;
      });
    }
    say("stored: done");
    const rounds = isShort ? 5 : 20;
    const timeOpening = async (all: Conversations): Promise<number> => {
      const began = performance.now();
      using _opened = await all.open(id);
      return performance.now() - began;
    };
    const [opening, context, resuming, proving]: [number[], number[], number[], number[]] = [[], [], [], []];
    for (let round = 0; round < rounds; round++) {
      await using all = open();
      opening.push(await timeOpening(all));
      const built = performance.now();
      const entries = await all.entries(id, { after, limit: storedMessages });
      const prefix = prefixOf({ after, summaries: [{ text: "What was said before.", covers: [1, after] }] });
      buildContext({ prefix, entries, process: "c", model: "lab/m" });
      context.push(performance.now() - built);
    }
    for (let round = 0; round < rounds; round++) resuming.push(await timeResuming(MIND, open));
    await database.batch([{ sql: "UPDATE conversation_heads SET checkpoint = NULL" }]);
    for (let round = 0; round < rounds; round++) {
      await using all = open();
      proving.push(await timeOpening(all));
    }
    return [
      {
        what: `opening a conversation of ${storedMessages.toLocaleString("en")} messages from its checkpoint, p95`,
        value: percentile(opening, 0.95),
        unit: "ms",
        target: { atMost: 100 },
        samples: opening.length,
      },
      {
        what: "continuing it where a kernel died during a request: opened, and its model asked again, p95",
        value: percentile(resuming, 0.95),
        unit: "ms",
        target: { atMost: 100 },
        floor: { what: "opening it, p50", value: median(opening) },
        samples: resuming.length,
        note: `p50 ${median(resuming).toFixed(1)} ms`,
      },
      {
        what: "opening it without a checkpoint, so that the whole log is proven, p95",
        value: percentile(proving, 0.95),
        unit: "ms",
        samples: proving.length,
      },
      {
        what: "its context behind the last compaction, read and built, p95",
        value: percentile(context, 0.95),
        unit: "ms",
        target: { atMost: 20 },
        samples: context.length,
      },
    ];
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

export const talk: Figure = {
  name: "talk",
  title: "conversations: how long an answer takes beside the model's own time, and long ones",
  run: async (options) => {
    const rows: Row[] = [];
    {
      await using talk = await MindSession.open({ script, files });
      rows.push(...(await turns(talk, options)), ...(await crowd(talk, options, "two count")));
    }
    return [
      ...rows,
      ...(await prefixes(options)),
      ...(await recollections(options)),
      ...(await stored(options)),
    ];
  },
};
