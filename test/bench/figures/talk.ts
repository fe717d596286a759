import { mkdtemp, readdir, rm, stat, writeFile, mkdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isoTime } from "../../../kernel/src/base/clock.ts";
import { silentLog } from "../../../kernel/src/base/log.ts";
import type { Conversation, Entry } from "../../../kernel/src/base/vocabulary/conversation.ts";
import { buildContext } from "../../../kernel/src/context/context.ts";
import { prefixOf } from "../../../kernel/src/context/prefix.ts";
import { Conversations } from "../../../kernel/src/conversations/conversations.ts";
import { conversationMigrations } from "../../../kernel/src/conversations/migrations.ts";
import type { NewEntry } from "../../../kernel/src/conversations/records.ts";
import { DiskTimer } from "../../../kernel/src/journal/disk-timer.ts";
import { systemClock } from "../../../kernel/src/platform/clock.ts";
import { openDatabase } from "../../../kernel/src/platform/database/database.ts";
import { Bench } from "../../support/bench.ts";
import type { Client } from "../../support/client.ts";
import { hear } from "../bed.ts";
import type { Figure, RunOptions } from "../figure.ts";
import type { Row } from "../report.ts";
import { median, percentile } from "../statistics.ts";

const MIND = "bench.mind";
const storedMessages = 10_000;

/** A call that is made three times in a row in the same words is asked about, so two take turns. */
const reads = ["one", "two"]
  .map(
    (which, index) =>
      `  - { process: channel, when: read ${which}, call: [{ tool: files/read, arguments: { path: a.md, length: ${index + 1} } }], repeat: true }`,
  )
  .join("\n");
const script = `
turns:
${reads}
  - { process: channel, when: hello, say: "Hi there", repeat: true }
  - { process: channel, when: "the text", say: "It says something", repeat: true }
  - { process: worker, delay_ms: 600000, say: "late", repeat: true }
  - { process: channel, when: eight, call: [${Array.from({ length: 8 }, (_, index) => `{ tool: spawn_worker, arguments: { task: "t${index}" } }`).join(", ")}] }
  - { process: channel, say: "ok", repeat: true }
`;

/** A kernel with a mind that follows a script, and a client that follows one conversation. */
class Talk implements AsyncDisposable {
  readonly bench: Bench;
  readonly client: Client;
  readonly id: string;
  #delta: ((at: number) => void) | null = null;
  #rested: ((at: number) => void) | null = null;

  private constructor(bench: Bench, client: Client, id: string) {
    this.bench = bench;
    this.client = client;
    this.id = id;
    hear(client, "lares/conversations/delta", () => this.#delta?.(performance.now()));
    hear(client, "lares/conversations/entry", (params) => {
      const { entry } = params as { entry: Entry };
      if (
        entry.kind === "process" &&
        entry.value.kind === "channel" &&
        entry.value.state === "WaitingForInput"
      )
        this.#rested?.(performance.now());
    });
  }

  static async open(): Promise<Talk> {
    const bench = await Bench.create({
      files: { "a.md": "the text\n" },
      extensions: [
        {
          id: MIND,
          manifest: {
            name: "A mind",
            permissions: { use_models: [{ category: "chat" }], read_entries: true },
            mind: { tools: ["files/*"], direct_tools: ["files/read"] },
          },
        },
      ],
    });
    const config = join(bench.base, "config", "lares");
    await mkdir(config, { recursive: true });
    await writeFile(join(config, "script.yaml"), script);
    const models = { providers: { script: { api: "scripted", script: "script.yaml" } } };
    await writeFile(join(config, "lares.yaml"), JSON.stringify({ version: 1, models }));
    const client = await bench.open({ environment: { XDG_CONFIG_HOME: join(bench.base, "config") } });
    const { id } = await client.request<Conversation>("lares/conversations/open", { agent: MIND });
    const talk = new Talk(bench, client, id);
    await client.request("lares/conversations/follow", { id });
    return talk;
  }

  /** Milliseconds from a message to the first piece of its answer, and to the end of the turn. */
  async say(text: string): Promise<{ readonly first: number; readonly end: number }> {
    const first = new Promise<number>((resolve) => (this.#delta = resolve));
    const rested = new Promise<number>((resolve) => (this.#rested = resolve));
    const began = performance.now();
    await this.client.request("lares/conversations/send", { id: this.id, text });
    return { first: (await first) - began, end: (await rested) - began };
  }

  /** Bytes of the conversation's log. */
  async logBytes(): Promise<number> {
    const { stateFolder } = await this.bench.status(this.client);
    const folder = join(stateFolder, "conversations", this.id, "log");
    const sizes = await Promise.all(
      (await readdir(folder)).map(async (name) => (await stat(join(folder, name))).size),
    );
    return sizes.reduce((sum, size) => sum + size, 0);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.bench[Symbol.asyncDispose]();
  }
}

async function turns({ isShort, say }: RunOptions): Promise<Row[]> {
  await using talk = await Talk.open();
  const samples = isShort ? 15 : 100;
  const times = async (...texts: readonly string[]) => {
    const all = [];
    for (let round = 0; round < samples + 5; round++)
      all.push(await talk.say(texts[round % texts.length] ?? ""));
    return all.slice(5);
  };
  const plain = await times("hello");
  const floor: number[] = [];
  for (let round = 0; round < samples; round++) {
    const began = performance.now();
    await talk.client.request("lares/conversations/get", { id: talk.id });
    floor.push(performance.now() - began);
  }
  const before = await talk.logBytes();
  const reading = await times("read one", "read two");
  const bytes = ((await talk.logBytes()) - before) / (samples + 5);
  say("turns: done");
  await talk.say("eight");
  const busy = await times("hello");
  say("beside workers: done");
  const firsts = (all: readonly { readonly first: number }[]): number[] => all.map(({ first }) => first);
  const asked = { what: "lares/conversations/get, p50", value: median(floor) };
  return [
    {
      what: "message → first piece of the answer at the client, p95",
      value: percentile(firsts(plain), 0.95),
      unit: "ms",
      target: { atMost: 15 },
      floor: asked,
      samples,
      note: `p50 ${median(firsts(plain)).toFixed(1)} ms; the message waits for the disk`,
    },
    {
      what: "the same beside eight workers that wait for their models, p95",
      value: percentile(firsts(busy), 0.95),
      unit: "ms",
      target: { atMost: 15 },
      floor: asked,
      samples,
      note: `p50 ${median(firsts(busy)).toFixed(1)} ms`,
    },
    {
      what: "a turn with one call, to its end at the client, p50",
      value: median(reading.map(({ end }) => end)),
      unit: "ms",
      target: { atMost: 10 },
      floor: asked,
      samples,
      note: `p95 ${percentile(
        reading.map(({ end }) => end),
        0.95,
      ).toFixed(1)} ms; two requests to the model, whose own time is 0`,
    },
    { what: "bytes of the log for such a turn", value: bytes / 1e6, unit: "MB" },
  ];
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
      for (let index = 0; index < storedMessages; index += 100) {
        const entries = await opened.log.append(Array.from({ length: 100 }, (_, at) => message(index + at)));
        if (index < storedMessages - 200) after = entries.at(-1)?.seq ?? 0;
      }
    }
    say("stored: done");
    const [opening, context]: [number[], number[]] = [[], []];
    for (let round = 0; round < (isShort ? 5 : 20); round++) {
      await using all = open();
      const began = performance.now();
      using _opened = await all.open(id);
      opening.push(performance.now() - began);
      const built = performance.now();
      const entries = await all.entries(id, { after, limit: storedMessages });
      const prefix = prefixOf({ after, summaries: [{ text: "What was said before.", covers: [1, after] }] });
      buildContext({ prefix, entries, process: "c", model: "lab/m" });
      context.push(performance.now() - built);
    }
    return [
      {
        what: `opening a conversation of ${storedMessages.toLocaleString("en")} messages, p95`,
        value: percentile(opening, 0.95),
        unit: "ms",
        target: { atMost: 100 },
        samples: opening.length,
        note: "without a checkpoint: the whole log is proven",
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
  run: async (options) => [...(await turns(options)), ...(await stored(options))],
};
