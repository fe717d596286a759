/**
 * Measures adding items of knowledge, while a store host projects and embeds them: `node test/bench/knowledge-add.ts
 * ITEMS`. One JSON object on stdout.
 */
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { silentLog } from "../../kernel/src/base/log.ts";
import { memoryMigrations } from "../../kernel/src/memory/records/heads.ts";
import { openMemory } from "../../kernel/src/memory/memory.ts";
import { createStore } from "../../kernel/src/store/client/store-client.ts";
import { systemClock } from "../../kernel/src/platform/clock.ts";
import { openDatabase } from "../../kernel/src/platform/database/database.ts";
import { percentile } from "./statistics.ts";
import { benchItems } from "./temporal-events.ts";

const items = Number(process.argv[2]);
/** Items that an agent adds in one turn of the loop while a stream of items arrives. */
const itemsPerTurn = 20;
/** Bytes of each journal line besides the item's data. */
const fixedBytes = 420;

const folder = mkdtempSync(join(tmpdir(), "lares-bench-add-"));

export interface MeasuredAdds {
  readonly p50: number;
  readonly p99: number;
  readonly bareP50: number;
  readonly samples: number;
  /** Items a second, twenty in a turn. */
  readonly rate: number;
  /** Time from the last answer until a search finds the item. */
  readonly foundMs: number;
}

async function run(): Promise<MeasuredAdds> {
  await using database = await openDatabase({
    path: join(folder, "ledger.sqlite"),
    migrations: memoryMigrations,
    log: silentLog,
  });
  await using store = createStore({
    stateFolder: folder,
    clock: systemClock,
    log: silentLog,
    notice: () => undefined,
  });
  await using memory = await openMemory({
    stateFolder: folder,
    database,
    store,
    storeSettings: () => ({ vectors: "auto", embedder: { kind: "hash" }, maxVectors: 1_000_000 }),
    clock: systemClock,
    log: silentLog,
    storageLimitBytes: () => Infinity,
    retentionDays: () => null,
    prunePolicy: () => null,
  });
  const agent = await memory.open("extension/dev.bench.add");
  // The host starts with the first query.
  await agent.search({ text: "nothing" });
  const texts = [...benchItems(items)].map(({ text }) => text);
  const add = (text: string) => agent.addKnowledge({ variant: "Fact", data: {}, text });
  const file = openSync(join(folder, "bare"), "a");
  const [lone, bare]: [number[], number[]] = [[], []];
  const half = Math.floor(items / 2);
  for (const text of texts.slice(0, half)) {
    const beganAt = performance.now();
    await add(text);
    const addedAt = performance.now();
    writeSync(file, `${text}${"x".repeat(fixedBytes)}\n`);
    lone.push(addedAt - beganAt);
    bare.push(performance.now() - addedAt);
    await new Promise((resolve) => setImmediate(resolve));
  }
  closeSync(file);
  const beganAt = performance.now();
  for (let at = half; at < items; at += itemsPerTurn) {
    await Promise.all(texts.slice(at, at + itemsPerTurn).map(add));
    await new Promise((resolve) => setImmediate(resolve));
  }
  const answeredAt = performance.now();
  const rate = ((items - half) / (answeredAt - beganAt)) * 1000;
  const last = await add("the very last item is about a zymurgical quokka");
  const found = await agent.search({ text: "zymurgical quokka" });
  if (!found.items.some(({ id }) => id === last.id)) throw new Error("The last item is not found.");
  return {
    p50: percentile(lone, 0.5),
    p99: percentile(lone, 0.99),
    bareP50: percentile(bare, 0.5),
    samples: lone.length,
    rate,
    foundMs: performance.now() - answeredAt,
  };
}

try {
  console.log(JSON.stringify(await run()));
} finally {
  rmSync(folder, { recursive: true, force: true });
}
