import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { DatabaseSync } from "node:sqlite";
import { canonicalJson } from "../../../kernel/src/base/json.ts";
import { silentLog } from "../../../kernel/src/base/log.ts";
import type { EmbedderSpec } from "../../../kernel/src/memory-contract/store-settings.ts";
import { InferenceClient } from "../../../kernel/src/inference/client/inference-client.ts";
import { createStore } from "../../../kernel/src/store/client/store-client.ts";
import type { Store, StoreMemory } from "../../../kernel/src/memory-contract/store-port.ts";
import { TestJournal } from "../../../kernel/src/store/testing/test-journal.ts";
import { systemClock } from "../../../kernel/src/platform/clock.ts";
import { until } from "../../support/until.ts";
import { type Conversation, readConversations } from "../conversations.ts";
import { openMessages } from "../message-retrieval.ts";
import { readArticles } from "../articles.ts";
import type { Figure } from "../figure.ts";
import type { Row } from "../report.ts";

const found = 10;
const readyWithinMs = 30 * 60_000;

/** Indexes of turns, best first. */
type Ranking = readonly number[];
type Search = (question: string) => Ranking | Promise<Ranking>;
type Mode = "hybrid" | "text" | "vector";

/** Measures a kernel's own store, and the strongest search that SQLite offers by itself. */
interface Measured {
  readonly way: string;
  readonly category: string;
  readonly recall: number;
}

/** FTS5 over Porter's stems, without the question's stop words: SQLite at its best, in English. */
function plainSearch({ turns }: Conversation): Search {
  const database = new DatabaseSync(":memory:");
  database.exec("CREATE VIRTUAL TABLE turns USING fts5(text, tokenize = 'porter unicode61')");
  const insert = database.prepare("INSERT INTO turns(rowid, text) VALUES (?, ?)");
  for (const [index, { text }] of turns.entries()) insert.run(index, text);
  const select = database.prepare(
    "SELECT rowid FROM turns WHERE turns MATCH ? ORDER BY bm25(turns), rowid LIMIT ?",
  );
  return (question) => {
    const words = question.match(/[\p{L}\p{N}]+/gu) ?? [];
    const telling = words.filter((word) => !stopWords.has(word.toLowerCase()));
    const searched = (telling.length > 0 ? telling : words).map((word) => `"${word}"`).join(" OR ");
    return searched === "" ? [] : select.all(searched, found).map(({ rowid }) => Number(rowid));
  };
}

const stopWords = new Set(
  `a about after all am an and any are as at be because been before being between both but by can could did do does doing
   down during each few for from further had has have having he her here hers herself him himself his how i if in into is
   it its itself just me more most my myself no nor not now of off on once only or other our ours out over own s same she
   should so some such t than that the their theirs them then there these they this those through to too under until up
   very was we were what when where which while who whom why will with would you your yours yourself`.split(
    /\s+/,
  ),
);

/** A conversation as a kernel stores it: each turn an item, in its session, at its time. */
function journalOf(folder: string, conversation: Conversation, index: number): TestJournal {
  const journal = new TestJournal(folder, `extension/dev.bench.talk${index}`);
  journal.append(
    ...conversation.turns.map(({ text, source, timestamp }, turn) => ({
      operation: "store" as const,
      kind: "knowledge" as const,
      id: String(turn),
      data: canonicalJson({
        variant: "Turn",
        data: {},
        text,
        source,
        position: turn,
        ...(timestamp === null ? {} : { timestamp }),
      }),
    })),
  );
  return journal;
}

async function kernelSearch(store: Store, memory: StoreMemory, mode: Mode, nowMs: number): Promise<Search> {
  return async (text) => {
    const page = await store.request("search", memory, { query: { text, mode, limit: found }, nowMs });
    return page.items.map(({ id }) => Number(id));
  };
}

const embedders: Readonly<Record<string, EmbedderSpec>> = {
  "offline default": { kind: "hash" },
  // A model's file, such as the one that `lares models fetch minilm` downloads.
  ...(process.env["LARES_BENCH_MODEL"] === undefined
    ? {}
    : { model: { kind: "onnx" as const, path: process.env["LARES_BENCH_MODEL"] } }),
};

async function measured(conversations: readonly Conversation[]): Promise<Measured[]> {
  const folder = mkdtempSync(join(tmpdir(), "lares-bench-retrieval-"));
  const all: Measured[] = [];
  try {
    for (const [name, embedder] of Object.entries(embedders)) {
      const stateFolder = mkdtempSync(join(folder, "state-"));
      await using inference = new InferenceClient({ clock: systemClock, log: silentLog });
      await using store = createStore({
        stateFolder,
        clock: systemClock,
        log: silentLog,
        embedHere: (...call) => inference.embed(...call),
        notice: () => undefined,
      });
      for (const [index, conversation] of conversations.entries()) {
        const journal = journalOf(stateFolder, conversation, index);
        const settings = { vectors: "exact" as const, embedder, maxVectors: 1_000_000 };
        const memory = { ...journal.memory, settings };
        const last = conversation.turns.at(-1)?.timestamp;
        // The questions are asked the day after everything was said.
        const nowMs = (last == null ? Date.now() : Date.parse(last)) + 24 * 60 * 60_000;
        await store.request("project", memory, {});
        await until(
          "every turn has its vector",
          async () => (await store.request("stats", memory, {})).vectors.count === conversation.turns.length,
          readyWithinMs,
        );
        const ways: Record<string, Search> = {
          ...(name === "offline default" ? { "plain FTS5": plainSearch(conversation) } : {}),
          ...(name === "offline default"
            ? { "text only": await kernelSearch(store, memory, "text", nowMs) }
            : {}),
          [`hybrid, ${name}`]: await kernelSearch(store, memory, "hybrid", nowMs),
          [`vector only, ${name}`]: await kernelSearch(store, memory, "vector", nowMs),
        };
        await using messages = await openMessages(
          mkdtempSync(join(folder, "messages-")),
          conversation,
          embedder,
          (...call) => inference.embed(...call),
        );
        const asMessages =
          (mode: Mode): Search =>
          (text) =>
            messages.search(text, mode, found);
        if (name === "offline default") ways["messages: text only"] = asMessages("text");
        ways[`messages: hybrid, ${name}`] = asMessages("hybrid");
        ways[`messages: vector only, ${name}`] = asMessages("vector");
        for (const { text, category, evidence } of conversation.questions) {
          for (const [way, search] of Object.entries(ways)) {
            const best = await search(text);
            const recall = best.filter((turn) => evidence.has(turn)).length / evidence.size;
            all.push({ way, category, recall });
          }
        }
        await store.request("close", memory, {});
      }
    }
    return all;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const percent = (all: readonly Measured[]): number =>
  (100 * all.reduce((sum, { recall }) => sum + recall, 0)) / Math.max(1, all.length);

interface Reported {
  readonly where: string;
  readonly targets?: Readonly<Record<string, number>>;
  readonly withCategories?: boolean;
}

function rowsOf(all: readonly Measured[], { where, targets = {}, withCategories = false }: Reported): Row[] {
  const plain = percent(all.filter(({ way }) => way === "plain FTS5"));
  return [...new Set(all.map(({ way }) => way))].flatMap((way) => {
    const own = all.filter((each) => each.way === way);
    const names = withCategories ? [...new Set(own.map(({ category }) => category))].toSorted() : [];
    const row = (what: string, of: readonly Measured[], target?: number): Row => ({
      what: `${what}${where}`,
      value: percent(of),
      unit: "%",
      samples: of.length,
      ...(target === undefined ? {} : { target: { atLeast: target } }),
    });
    return [
      {
        ...row(way, own, targets[way]),
        ...(way === "plain FTS5" ? {} : { floor: { what: "plain FTS5", value: plain } }),
      },
      ...names.map((category) =>
        row(
          `${way}: ${category}`,
          own.filter((each) => each.category === category),
          targets[`${way}: ${category}`],
        ),
      ),
    ];
  });
}

const targets = {
  "hybrid, offline default": 69,
  "hybrid, offline default: multi-hop": 40,
  "hybrid, model": 74,
};

export const retrieval: Figure = {
  name: "retrieval",
  title: "recall@10, asked of the kernel: turns that answer a question, and sentences of articles",
  async run({ isShort, say }) {
    const rows: Row[] = [];
    const conversations = readConversations(say);
    if (conversations !== null) {
      if (isShort) return rowsOf(await measured(conversations.slice(1, 2)), { where: "" });
      // Weights were chosen with every other conversation; the other half shows their value.
      const [chosenOn, heldOut] = await Promise.all(
        [0, 1].map((rest) => measured(conversations.filter((_, index) => index % 2 === rest))),
      );
      const both = [...(chosenOn ?? []), ...(heldOut ?? [])];
      rows.push(...rowsOf(both, { where: "", targets, withCategories: true }));
      rows.push(...rowsOf(chosenOn ?? [], { where: " (chosen on)" }));
      rows.push(...rowsOf(heldOut ?? [], { where: " (held out)" }));
    }
    for (const { language, article } of readArticles(say) ?? []) {
      rows.push(...rowsOf(await measured([article]), { where: ` (XQuAD, ${language})` }));
    }
    return rows;
  },
};
