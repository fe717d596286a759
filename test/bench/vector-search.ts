/**
 * Measures vectors in a process of their own: `node --expose-gc test/bench/vector-search.ts <vectors> <queries>
 * <kind>`, kind "clustered" or "random". Prints the results as JSON; everything uses the port, with the engine that
 * `auto` chooses.
 */
import { mkdtemp, open, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { Index, type MetricKind, type ScalarKind } from "usearch";
import { Engines } from "../../kernel/src/store/vectors/engines.ts";
import type { EngineName } from "../../kernel/src/memory-contract/store-settings.ts";
import type { Neighbour, VectorIndex } from "../../kernel/src/store/vectors/port.ts";
import { decodeVector, encodeVector } from "../../kernel/src/store/vectors/quantize.ts";
import { clusteredVectors, randomVectors } from "../../kernel/src/store/vectors/testing/vectors.ts";
import { residentMb } from "./bed.ts";
import { percentile } from "./statistics.ts";

export interface VectorsMeasured {
  readonly engine: EngineName;
  readonly buildSeconds: number;
  readonly bytesPerVector: number;
  readonly fileBytesPerVector: number;
  readonly search: Searched;
  /** The filter accepts one in a hundred. */
  readonly filtered: Searched;
  readonly bare: Searched & { readonly buildSeconds: number };
  readonly exactMs: number;
  readonly everythingMs: number;
  readonly saveMs: number;
  readonly bareWriteMs: number;
  readonly loadMs: number;
  readonly bareReadMs: number;
  /** Recall@10 that an exact search loses if every vector is cold, and if one in five is. */
  readonly coldLoss: number;
  readonly someColdLoss: number;
}
interface Searched {
  readonly recall: number;
  readonly p50Ms: number;
  readonly p95Ms: number;
}

const dimensions = 384;
const wanted = 10;
const coldVectors = 20_000;
const [count, queryCount, kind] = [Number(process.argv[2]), Number(process.argv[3]), process.argv[4]];

/** The same vectors each time, so that only the index's own are in memory. */
function eachVector(take: (vector: Float32Array, label: number) => void): Float32Array[] {
  const next = kind === "random" ? randomVectors(dimensions, 7) : clusteredVectors(dimensions, 7, count);
  for (let label = 1; label <= count; label++) take(next(), label);
  return Array.from({ length: queryCount }, next);
}

function measure(truths: readonly Set<number>[], search: (query: Float32Array) => number[]): Searched {
  for (const query of queries.slice(0, 20)) search(query);
  let right = 0;
  let all = 0;
  const times = queries.map((query, at) => {
    const begun = performance.now();
    const found = search(query);
    const took = performance.now() - begun;
    right += found.filter((label) => truths[at]!.has(label)).length;
    all += truths[at]!.size;
    return took;
  });
  return { recall: right / all, p50Ms: percentile(times, 0.5), p95Ms: percentile(times, 0.95) };
}

const labelsOf = (found: readonly Neighbour[]): number[] => found.map(({ label }) => label);
const seconds = (begun: number): number => (performance.now() - begun) / 1000;
const collect = (globalThis as { gc?: () => void }).gc ?? (() => undefined);
async function bestOf(times: number, run: () => Promise<unknown>): Promise<number> {
  let best = Infinity;
  for (let time = 0; time < times; time++) {
    const begun = performance.now();
    await run();
    best = Math.min(best, performance.now() - begun);
  }
  return best;
}

const engines = new Engines();
const engine = await engines.choose("auto", Math.max(count, 10_000), null);
await engines.createIndex({ engine, dimensions });
eachVector(() => undefined);
collect();
const before = residentMb(process.pid);
const index = await engines.createIndex({ engine, dimensions });
const begun = performance.now();
const queries = eachVector((vector, label) => index.put(label, vector));
const buildSeconds = seconds(begun);
collect();
const bytesPerVector = ((residentMb(process.pid) - before) * 1e6) / count;

const exact = await engines.createIndex({ engine: "exact", dimensions });
eachVector((vector, label) => exact.put(label, vector));
const isAccepted = (label: number): boolean => label % 100 === 0;
const truths = queries.map((query) => new Set(labelsOf(exact.search(query, wanted))));
const filteredTruths = queries.map((query) => new Set(labelsOf(exact.search(query, wanted, isAccepted))));
const everythingMs = await bestOf(3, () => Promise.resolve(index.search(queries[0]!, Infinity)));

const folder = await mkdtemp(join(tmpdir(), "lares-bench-vectors-"));
try {
  const path = join(folder, `knowledge.${engine}`);
  const watermark = { seq: 1, hash: "", embedder: "" };
  const saveMs = await bestOf(3, () => index.save(folder, watermark));
  const { size } = await stat(path);
  const loadMs = await bestOf(3, async () => {
    const loaded = await engines.loadIndex(folder, index.shape);
    if (loaded.index === null) throw new Error(loaded.reason);
  });
  const bytes = await readFile(path);
  const bareReadMs = await bestOf(3, () => readFile(path));
  const bareWriteMs = await bestOf(3, async () => {
    await using file = await open(join(folder, "bare"), "w");
    await file.writeFile(bytes);
    await file.sync();
  });
  const search = measure(truths, (query) => labelsOf(index.search(query, wanted)));
  const filtered = measure(filteredTruths, (query) => labelsOf(index.search(query, wanted, isAccepted)));
  const measured: VectorsMeasured = {
    engine,
    buildSeconds,
    bytesPerVector,
    fileBytesPerVector: size / count,
    search,
    filtered,
    bare: measureBare(),
    exactMs: await exactAt10000(),
    everythingMs,
    saveMs,
    bareWriteMs,
    loadMs,
    bareReadMs,
    ...(kind === "random" ? { coldLoss: Number.NaN, someColdLoss: Number.NaN } : await coldLosses()),
  };
  console.log(JSON.stringify(measured));
} finally {
  await rm(folder, { recursive: true, force: true });
}

/** usearch as its own examples use it, with half precision. */
function measureBare(): VectorsMeasured["bare"] {
  const bare = new Index({
    dimensions,
    metric: "cos" as MetricKind,
    quantization: "f16" as ScalarKind,
    connectivity: 0,
    expansion_add: 0,
    expansion_search: 0,
    multi: false,
  });
  const begun = performance.now();
  const batch = 1_000;
  const vectors = new Float32Array(batch * dimensions);
  eachVector((vector, label) => {
    const at = (label - 1) % batch;
    vectors.set(vector, at * dimensions);
    if (at + 1 < batch && label < count) return;
    const labels = BigUint64Array.from({ length: at + 1 }, (_, row) => BigInt(label - at + row));
    bare.add(labels, vectors.subarray(0, (at + 1) * dimensions), 0);
  });
  const buildSeconds = seconds(begun);
  const searched = measure(truths, (query) => Array.from(bare.search(query, wanted, 1).keys, Number));
  return { ...searched, buildSeconds };
}

async function exactAt10000(): Promise<number> {
  using small = await engines.createIndex({ engine: "exact", dimensions });
  for (let label = 1; label <= Math.min(count, 10_000); label++) small.put(label, exact.vectorOf(label)!);
  return measure(truths, (query) => labelsOf(small.search(query, wanted))).p95Ms;
}

async function coldLosses(): Promise<{ coldLoss: number; someColdLoss: number }> {
  const shown = Array.from({ length: Math.min(count, coldVectors) }, (_, at) => exact.vectorOf(at + 1)!);
  const fill = async (isCold: (at: number) => boolean): Promise<VectorIndex> => {
    const filled = await engines.createIndex({ engine: "exact", dimensions });
    for (const [at, vector] of shown.entries())
      filled.put(
        at + 1,
        isCold(at) ? decodeVector({ tier: "cold", bytes: encodeVector(vector, "cold") }) : vector,
      );
    return filled;
  };
  const top = (one: VectorIndex) => (query: Float32Array) => labelsOf(one.search(query, wanted));
  const right = top(await fill(() => false));
  const truths = queries.map((query) => new Set(right(query)));
  const loss = (one: VectorIndex): number => 1 - measure(truths, top(one)).recall;
  return { coldLoss: loss(await fill(() => true)), someColdLoss: loss(await fill((at) => at % 5 === 0)) };
}
