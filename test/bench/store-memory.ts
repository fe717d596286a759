/**
 * Measures a store host with a whole memory: `node test/bench/store-memory.ts rebuild EVENTS` or `… search ITEMS
 * SAMPLES [ENGINE]`. One JSON object on stdout. This process replaces the kernel, so the way to the host and back is
 * included.
 */
import { createReadStream, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { canonicalJson } from "../../kernel/src/base/json.ts";
import { isoTime } from "../../kernel/src/base/clock.ts";
import { silentLog } from "../../kernel/src/base/log.ts";
import { createStore } from "../../kernel/src/store/client/store-client.ts";
import type { Store, StoreMemory, StoreNotice } from "../../kernel/src/memory-contract/store-port.ts";
import type { EngineChoice } from "../../kernel/src/memory-contract/store-settings.ts";
import { TestJournal } from "../../kernel/src/store/testing/test-journal.ts";
import { systemClock } from "../../kernel/src/platform/clock.ts";
import { until } from "../support/until.ts";
import { PlainEvents } from "./peers/plain-events.ts";
import { PlainItems } from "./peers/plain-items.ts";
import { percentile } from "./statistics.ts";
import { type BenchEvent, benchEvents, benchItems, benchQuestions } from "./temporal-events.ts";

const recordsPerSegment = 100_000;
const batchSize = 8192;
const readyWithinMs = 30 * 60_000;
const what = process.argv[2];
const [count = 0, samples = 0] = process.argv.slice(3, 5).map(Number);
const vectors = (process.argv[5] ?? "auto") as EngineChoice;

export interface MeasuredRebuild {
  readonly events: number;
  readonly ms: number;
  /** The number of progress reports, and the longest time between two of them. */
  readonly progress: number;
  readonly longestSilenceMs: number;
  readonly plainMs: number;
}

export interface MeasuredSearch {
  readonly items: number;
  readonly engine: string;
  readonly hybrid: Percentiles;
  readonly text: Percentiles;
  readonly vector: Percentiles;
  readonly plain: Percentiles;
  /** Processor time of the store host, all its threads, for one hybrid query; the machine may be busy with others. */
  readonly hybridProcessorMs: number;
  /** Time from an empty store until the last item had its vector. */
  readonly readyMs: number;
}
interface Percentiles {
  readonly p50: number;
  readonly p95: number;
  /** The share of queries whose item was among the ten. */
  readonly found: number;
}

const folder = mkdtempSync(join(tmpdir(), "lares-bench-store-"));
try {
  const measured = what === "rebuild" ? await rebuild() : await search();
  console.log(JSON.stringify(measured));
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function rebuild(): Promise<MeasuredRebuild> {
  const journal = new TestJournal(folder, "extension/dev.bench.rebuild", recordsPerSegment);
  for (const batch of batches(benchEvents(count))) {
    journal.append(
      ...batch.map(({ id, variant, timestampMs, data }) => ({
        operation: "store" as const,
        kind: "temporal" as const,
        id,
        data: canonicalJson({ variant, timestamp: isoTime(timestampMs), data: { ...data } }),
      })),
    );
  }
  const told: number[] = [];
  await using store = storeOf((notice) => {
    if (notice.kind === "progress" && notice.what === "projections") told.push(performance.now());
  });
  const memory = asServed(journal.memory);
  // The host starts and projects the journal; this result is discarded.
  await store.request("stats", { ...memory, end: { seq: 0, hash: "0".repeat(64) } }, {});
  const beganAt = performance.now();
  await store.request("rebuild", memory, {});
  const endedAt = performance.now();
  const { count: events } = await store.request("temporal.count", memory, { query: {}, nowMs: 0 });
  const found = await store.request("temporal.query", memory, {
    query: { text: { match: "needle" }, limit: 1 },
    nowMs: 0,
  });
  if (events !== count || found.total !== Math.ceil((count - 6) / 50_000)) {
    throw new Error(`Rebuilt are ${events} events, ${found.total} of them with the needle.`);
  }
  const silences = [...told, endedAt].map((at, index) => at - (told[index - 1] ?? beganAt));
  return {
    events,
    ms: endedAt - beganAt,
    progress: told.length,
    longestSilenceMs: Math.max(...silences),
    plainMs: await plainRebuild(journal),
  };
}

/** Reads the same journal into SQLite with its indexes and one full-text table. */
async function plainRebuild(journal: TestJournal): Promise<number> {
  using plain = new PlainEvents(join(folder, "plain.sqlite"));
  const beganAt = performance.now();
  let row = 0;
  let batch: BenchEvent[] = [];
  for (const path of journal.segments()) {
    for await (const line of createInterface({ input: createReadStream(path) })) {
      const { id, data } = JSON.parse(line) as {
        id: string;
        data: { variant: string; timestamp: string; data: BenchEvent["data"] };
      };
      row += 1;
      batch.push({
        row,
        id,
        variant: data.variant,
        timestampMs: Date.parse(data.timestamp),
        data: data.data,
      });
      if (batch.length < batchSize) continue;
      plain.append(batch);
      batch = [];
    }
  }
  plain.append(batch);
  return performance.now() - beganAt;
}

async function search(): Promise<MeasuredSearch> {
  const journal = new TestJournal(folder, "extension/dev.bench.search", recordsPerSegment);
  using plain = new PlainItems();
  for (const batch of batches(benchItems(count))) {
    plain.append(batch);
    journal.append(
      ...batch.map(({ id, text, relatedTo }) => ({
        operation: "store" as const,
        kind: "knowledge" as const,
        id,
        data: canonicalJson({
          variant: "Fact",
          data: {},
          text,
          ...(relatedTo === null ? {} : { relations: [{ to: relatedTo, relation: "RelatedTo" }] }),
        }),
      })),
    );
  }
  await using store = storeOf(() => undefined);
  const memory = asServed(journal.memory);
  const beganAt = performance.now();
  await store.request("project", memory, {});
  await until(
    "every item has its vector, in the engine that is to serve",
    async () => {
      const { vectors: now, rebuilding } = await store.request("stats", memory, {});
      return now.count === count && rebuilding === undefined;
    },
    readyWithinMs,
  );
  const readyMs = performance.now() - beganAt;
  const questions = benchQuestions(count, samples);
  const nowMs = Date.now();
  const ask = async (text: string, mode: "hybrid" | "text" | "vector"): Promise<string[]> =>
    (await store.request("search", memory, { query: { text, mode, limit: 10 }, nowMs })).items.map(
      ({ id }) => id,
    );
  const ways = {
    hybrid: (text: string) => ask(text, "hybrid"),
    text: (text: string) => ask(text, "text"),
    vector: (text: string) => ask(text, "vector"),
    plain: (text: string) => Promise.resolve(plain.best(text)),
  };
  const times = { hybrid: [], text: [], vector: [], plain: [] } as Record<keyof typeof ways, number[]>;
  const found = { hybrid: 0, text: 0, vector: 0, plain: 0 };
  // The first queries load what is loaded lazily; they do not count.
  for (const { text } of questions.slice(0, 5)) for (const way of Object.values(ways)) await way(text);
  for (const { text, id } of questions) {
    for (const [name, way] of Object.entries(ways) as [keyof typeof ways, (typeof ways)["plain"]][]) {
      const askedAt = performance.now();
      const ids = await way(text);
      times[name].push(performance.now() - askedAt);
      if (ids.includes(id)) found[name] += 1;
    }
  }
  const of = (name: keyof typeof ways): Percentiles => ({
    p50: percentile(times[name], 0.5),
    p95: percentile(times[name], 0.95),
    found: found[name] / questions.length,
  });
  const { vectors: served } = await store.request("stats", memory, {});
  const usedMs = processorMs(store);
  for (const { text } of questions) await ways.hybrid(text);
  return {
    hybridProcessorMs: (processorMs(store) - usedMs) / questions.length,
    items: count,
    engine: served.engine,
    hybrid: of("hybrid"),
    text: of("text"),
    vector: of("vector"),
    plain: of("plain"),
    readyMs,
  };
}

function storeOf(notice: (notice: StoreNotice) => void): Store {
  return createStore({ stateFolder: folder, clock: systemClock, log: silentLog, notice });
}

/** Processor time of the store host so far; the system counts in steps of 10 ms. */
function processorMs({ pid }: Store): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

/** The memory with a kernel's default settings. */
function asServed(memory: StoreMemory): StoreMemory {
  return { ...memory, settings: { vectors, embedder: { kind: "hash" }, maxVectors: 1_000_000 } };
}

function* batches<Each>(all: Iterable<Each>): Iterable<Each[]> {
  let batch: Each[] = [];
  for (const each of all) {
    batch.push(each);
    if (batch.length < batchSize) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}
