// Measures temporal memory's projection and queries beside SQLite with FTS5 alone, in turns, over the same events:
// `node test/bench/temporal-memory.ts [events] [samples] [--json]`.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isoTime } from "../../kernel/src/base/clock.ts";
import { openDuck } from "../../kernel/src/store/projection/duck.ts";
import type { JournalRecord } from "../../kernel/src/store/projection/port.ts";
import { temporalCount, temporalQuery } from "../../kernel/src/store/projection/temporal-query.ts";
import { temporalTables } from "../../kernel/src/store/projection/temporal.ts";
import { openTextIndex } from "../../kernel/src/store/projection/text-index.ts";
import type { TemporalQuery } from "../../kernel/src/memory-contract/queries.ts";
import { PlainEvents } from "./peers/plain-events.ts";
import { percentile } from "./statistics.ts";
import { type BenchEvent, benchEvents, firstMs } from "./temporal-events.ts";

interface MeasuredQuery {
  readonly what: string;
  readonly total: number;
  readonly ours: { readonly p50: number; readonly p95: number };
  readonly plain: { readonly p50: number; readonly p95: number };
}
export interface MeasuredTemporal {
  readonly events: number;
  readonly projected: { readonly oursMs: number; readonly plainMs: number; readonly oursProcessorMs: number };
  readonly queries: readonly MeasuredQuery[];
}

const batchSize = 8192;
const [events = 1_000_000, samples = 40] = process.argv
  .slice(2)
  .filter((argument) => argument !== "--json")
  .map(Number);

const folder = mkdtempSync(join(tmpdir(), "lares-bench-"));
try {
  const measured = await measure();
  if (process.argv.includes("--json")) console.log(JSON.stringify(measured));
  else print(measured);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function measure(): Promise<MeasuredTemporal> {
  await using duck = await openDuck({ folder });
  const file = await duck.attach(join(folder, "temporal.duckdb"));
  const index = openTextIndex(join(folder, "text.sqlite"));
  using plain = new PlainEvents(join(folder, "plain.sqlite"));
  await file.transaction((sql) => temporalTables.create(sql));

  let [oursMs, plainMs, oursProcessorMs] = [0, 0, 0];
  for (const batch of batches(benchEvents(events))) {
    // The journal's lines are parsed here as well, because that is part of projecting.
    const lines = batch.map((event) => JSON.stringify(recordOf(event)));
    const processorMs = threadProcessorMs();
    oursMs += await timed(async () => {
      const records = lines.map((line) => JSON.parse(line) as JournalRecord);
      // This thread works while DuckDB's threads do.
      const tables = file.transaction((sql) => temporalTables.apply(sql, records));
      index.apply(records, { seq: records.at(-1)?.seq ?? 0, hash: "0".repeat(64) });
      await tables;
    });
    oursProcessorMs += threadProcessorMs() - processorMs;
    plainMs += await timed(() => plain.append(batch));
  }

  const nowMs = firstMs + events * 1000;
  const [sinceMs, untilMs] = [firstMs + events * 200, firstMs + events * 800];
  const page = async (query: TemporalQuery): Promise<number> =>
    (await temporalQuery(file, index, { limit: 50, ...query }, nowMs)).total;
  const span = { since: isoTime(sinceMs), until: isoTime(untilMs) };
  const queries: MeasuredQuery[] = [];
  const both = async (what: string, ours: () => Promise<number>, peer: () => number): Promise<void> => {
    queries.push(await inTurns(what, ours, peer));
  };
  await both(
    "time range and variant, newest 50",
    () => page({ variant: "variant3", ...span }),
    () => plain.byTime("variant3", sinceMs, untilMs).total,
  );
  const words = {
    rare: "needle",
    mid: "word1b",
    common: "word5",
    "most common": "word0",
    "two common": "word0 word1",
  };
  for (const [how, match] of Object.entries(words)) {
    const what = `newest 50 with ${how === "two common" ? "two common words" : `a ${how} word`}`;
    await both(
      what,
      () => page({ text: { match } }),
      () => plain.byText(match).total,
    );
  }
  for (const [field, value] of [
    ["city", "graz"],
    ["user", "user77"],
  ] as const) {
    await both(
      `count of a field's value (${field})`,
      async () => (await temporalCount(file, index, { where: [{ field, op: "eq", value }] }, nowMs)).count,
      () => plain.countOf(field, value),
    );
  }
  index.close();
  return { events, projected: { oursMs, plainMs, oursProcessorMs }, queries };
}

async function inTurns(
  what: string,
  ours: () => Promise<number>,
  plain: () => number,
): Promise<MeasuredQuery> {
  const total = await ours();
  if (plain() !== total) throw new Error(`${what}: ${total} and ${plain()} are not the same answer.`);
  const [oursMs, plainMs]: [number[], number[]] = [[], []];
  // A peer that takes seconds is measured only as often as needed.
  const maxPlainMs = 10_000;
  for (let sample = 0; sample < samples; sample++) {
    oursMs.push(await timed(ours));
    if (plainMs.reduce((sum, ms) => sum + ms, 0) < maxPlainMs) plainMs.push(await timed(plain));
  }
  const of = (all: readonly number[]): MeasuredQuery["ours"] => ({
    p50: percentile(all, 0.5),
    p95: percentile(all, 0.95),
  });
  return { what, total, ours: of(oursMs), plain: of(plainMs) };
}

function recordOf({ row, id, variant, timestampMs, data }: BenchEvent): JournalRecord {
  return {
    seq: row,
    writtenMs: timestampMs,
    operation: "store",
    kind: "temporal",
    id,
    data: { variant, timestamp: isoTime(timestampMs), data: { ...data } },
  };
}

function* batches(all: Iterable<BenchEvent>): Iterable<BenchEvent[]> {
  let batch: BenchEvent[] = [];
  for (const event of all) {
    batch.push(event);
    if (batch.length < batchSize) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

async function timed(run: () => unknown): Promise<number> {
  const startedMs = performance.now();
  await run();
  return performance.now() - startedMs;
}

/** CPU time of the loop's thread, which a projection keeps busy. */
function threadProcessorMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

function print({ events, projected, queries }: MeasuredTemporal): void {
  const rate = (ms: number): string => `${Math.round((events / ms) * 1000)}/s`;
  console.log(
    `${events} events projected: ${rate(projected.oursMs)}, SQLite alone ${rate(projected.plainMs)}`,
  );
  for (const { what, total, ours, plain } of queries) {
    const of = ({ p50, p95 }: MeasuredQuery["ours"]): string =>
      `p50 ${p50.toFixed(2)} p95 ${p95.toFixed(2)} ms`;
    console.log(`${what} (${total}): ${of(ours)}; SQLite alone ${of(plain)}`);
  }
}
