/**
 * Measures appends to a memory's journal, beside bare writes of as many bytes: `node test/bench/memory-append.ts EVENTS
 * [--bare]`. One JSON object on stdout. `--bare`: creates the same events and writes their lines, without a memory.
 */
import {
  closeSync,
  createReadStream,
  fdatasyncSync,
  mkdtempSync,
  openSync,
  readdirSync,
  rmSync,
  writeSync,
} from "node:fs";
import { createHash } from "node:crypto";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { silentLog } from "../../kernel/src/base/log.ts";
import { memoryMigrations } from "../../kernel/src/memory/records/heads.ts";
import { openMemory } from "../../kernel/src/memory/memory.ts";
import { FakeStore, fakeSettings } from "../../kernel/src/memory/testing/fake-store.ts";
import { systemClock } from "../../kernel/src/platform/clock.ts";
import { openDatabase } from "../../kernel/src/platform/database/database.ts";
import { settleHeap } from "../../kernel/src/platform/processes/heap.ts";
import { percentile } from "./statistics.ts";

/** Events that an agent sends in one turn of the loop while a stream of events arrives. */
const eventsPerTurn = 20;
/** Bytes of each journal line besides the event's data: salt, hashes, the fixed fields. */
const fixedBytes = 420;

const events = Number(process.argv[2]);
const isBare = process.argv.includes("--bare");
const folder = mkdtempSync(join(tmpdir(), "lares-bench-append-"));

interface Event {
  readonly variant: string;
  readonly data: { readonly path: string; readonly place: readonly string[]; readonly n: number };
}
const eventOf = (n: number): Event => ({
  variant: "photo",
  data: { path: `photos/2026/IMG_${n}.jpg`, place: ["lisbon", "beach"], n },
});
const lineOf = (event: Event): Buffer => Buffer.from(`${JSON.stringify(event)}${"x".repeat(fixedBytes)}\n`);
const pauseMs = 5;
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const residentMb = (): number => process.memoryUsage.rss() / 1024 / 1024;

/** Returns events a second, the growth of the process after the first tenth, and the heap in use at the end. */
async function stream(
  append: (event: Event) => Promise<unknown>,
): Promise<{ rate: number; grownMb: number; liveMb: number }> {
  let before = residentMb();
  const startedAt = performance.now();
  for (let n = 0; n < events; n += eventsPerTurn) {
    if (n === events / 10) before = residentMb();
    await Promise.all(Array.from({ length: eventsPerTurn }, (_, index) => append(eventOf(n + index))));
    await turn();
  }
  const rate = (events / (performance.now() - startedAt)) * 1000;
  const grownMb = residentMb() - before;
  // Not earlier: a collection on the way would hide the growth.
  setFlagsFromString("--expose-gc");
  (runInNewContext("gc") as () => void)();
  return { rate, grownMb, liveMb: process.memoryUsage().heapUsed / 1024 / 1024 };
}

async function timed(run: () => unknown): Promise<number> {
  const startedAt = performance.now();
  await run();
  return performance.now() - startedAt;
}

async function bareRun() {
  const file = openSync(join(folder, "bare"), "a");
  const result = await stream(async (event) => writeSync(file, lineOf(event)));
  closeSync(file);
  return result;
}

async function wholeRun() {
  await using database = await openDatabase({
    path: join(folder, "ledger.sqlite"),
    migrations: memoryMigrations,
    log: silentLog,
  });
  const open = () =>
    openMemory({
      stateFolder: folder,
      database,
      store: new FakeStore(),
      storeSettings: () => fakeSettings,
      clock: systemClock,
      log: silentLog,
      storageLimitBytes: () => Infinity,
      retentionDays: () => null,
      prunePolicy: () => null,
    });
  const key = "extension/dev.bench.append";
  const memory = await open();
  const agent = await memory.open(key);
  // As the kernel does after its start.
  await settleHeap();
  const streamed = await stream((event) => agent.appendEvent(event));

  // One at a time, alternating with a bare write; with some pauses, so that background syncs are included.
  const file = openSync(join(folder, "bare"), "a");
  const lone: number[] = [];
  const bare: number[] = [];
  for (let n = 0; n < Math.min(20_000, events / 5); n++) {
    lone.push(await timed(() => agent.appendEvent(eventOf(n))));
    bare.push(await timed(() => writeSync(file, lineOf(eventOf(n)))));
    if (n % 100 === 0) await new Promise((resolve) => setTimeout(resolve, pauseMs));
    else await turn();
  }
  const synced: number[] = [];
  const bareSynced: number[] = [];
  for (let n = 0; n < Math.min(500, events / 50); n++) {
    synced.push(
      await timed(async () => {
        await agent.appendEvent(eventOf(n));
        await agent.sync();
      }),
    );
    bareSynced.push(
      await timed(() => {
        writeSync(file, lineOf(eventOf(n)));
        fdatasyncSync(file);
      }),
    );
  }
  closeSync(file);
  const { records } = agent.stats();
  await memory[Symbol.asyncDispose]();

  const hashMs = await timed(async () => {
    const journal = join(folder, "extensions/dev.bench.append/memory/journal");
    const digest = createHash("sha256");
    for (const name of readdirSync(journal)) {
      for await (const piece of createReadStream(join(journal, name))) digest.update(piece as Buffer);
    }
    digest.digest();
  });
  // In processor time of the loop's thread: on a busy machine the real time of a turn depends on others.
  let longestTurnMs = 0;
  let last = process.threadCpuUsage();
  const watching = setInterval(() => {
    const { user, system } = process.threadCpuUsage(last);
    longestTurnMs = Math.max(longestTurnMs, (user + system) / 1000);
    last = process.threadCpuUsage();
  }, 1);
  await using again = await open();
  const openMs = await timed(() => again.open(key));
  clearInterval(watching);
  const of = (samples: readonly number[]) => ({
    p50: percentile(samples, 0.5),
    p99: percentile(samples, 0.99),
    samples: samples.length,
  });
  return {
    ...streamed,
    lone: of(lone),
    bare: of(bare),
    synced: of(synced),
    bareSynced: of(bareSynced),
    opening: { records, ms: openMs, hashMs, longestTurnMs },
  };
}

export type MeasuredBare = Awaited<ReturnType<typeof bareRun>>;
export type MeasuredAppends = Awaited<ReturnType<typeof wholeRun>>;

try {
  console.log(JSON.stringify(isBare ? await bareRun() : await wholeRun()));
} finally {
  rmSync(folder, { recursive: true, force: true });
}
