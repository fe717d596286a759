/**
 * Ways to keep a vector in fewer bytes, beside each other in one process:
 * `node test/bench/quantizers.ts <vectors> <queries> <kind> [index …]`, kind "clustered" or "hash" (what the embedder
 * `hash` makes of this checkout's lines). At rest: the codebook (product quantization and what it leaves over) and a
 * byte for each number, with one step for all ("int8") or for each 32 ("blocks"). Each index that is named is built in
 * FAISS: "flat", "sq8", "pq" (takes minutes), and "codebook", "int8" and "blocks" as "flat" over vectors that were at
 * rest so. Prints JSON.
 */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdtemp, rm, stat } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { createHashEmbedder } from "../../kernel/src/store/embedding/hash.ts";
import { ExactIndex } from "../../kernel/src/store/vectors/exact.ts";
import type { GraphEngine } from "../../kernel/src/store/vectors/graph.ts";
import { GraphIndex } from "../../kernel/src/store/vectors/graph-index.ts";
import type { VectorIndex } from "../../kernel/src/store/vectors/port.ts";
import { trainCodebook } from "../../kernel/src/store/vectors/quantize.ts";
import { clusteredVectors } from "../../kernel/src/store/vectors/testing/vectors.ts";
import { int8 } from "./peers/int8.ts";
import { load } from "./report.ts";
import { percentile } from "./statistics.ts";

export interface AtRestMeasured {
  readonly bytesPerVector: number;
  /** Processor seconds. */
  readonly trainSeconds: number;
  /** Processor time for one vector. */
  readonly encodeMicros: number;
  readonly decodeMicros: number;
  /** Recall@10 of an exact search where every vector was at rest so, and where one in five was. */
  readonly recall: number;
  readonly someRecall: number;
}
export interface IndexMeasured {
  readonly recall: number;
  readonly trainSeconds: number;
  readonly buildSeconds: number;
  readonly p50Ms: number;
  readonly p95Ms: number;
  /** The library's graph with the vectors in it, as it is written. */
  readonly graphBytesPerVector: number;
  /** That and the vectors kept beside it. */
  readonly fileBytesPerVector: number;
}
export interface QuantizersMeasured {
  readonly count: number;
  readonly flat: { readonly p50Ms: number; readonly p95Ms: number };
  readonly atRest: Readonly<Record<string, AtRestMeasured>>;
  readonly indexes: Readonly<Record<string, IndexMeasured>>;
  readonly load: number;
}

const dimensions = 384;
const wanted = 10;
const [count, queryCount, kind] = [Number(process.argv[2]), Number(process.argv[3]), process.argv[4]];

const cpuSeconds = async (run: () => unknown): Promise<number> => {
  const before = process.cpuUsage();
  await run();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1e6;
};

async function allVectors(): Promise<Float32Array[]> {
  const all = count + queryCount;
  if (kind !== "hash") return Array.from({ length: all }, clusteredVectors(dimensions, 7, count));
  const paths = execFileSync("git", ["ls-files", "-z", "*.ts", "*.tsx", "*.md"], { encoding: "utf8" }).split(
    "\0",
  );
  const lines = new Set<string>();
  for (const path of paths.filter((each) => each !== ""))
    for (const line of readFileSync(path, "utf8").split("\n"))
      if (/(?:\p{L}+\W+){5}/u.test(line)) lines.add(line.trim());
  const texts = [...lines];
  // Spread evenly, and every so many a question: what lies beside each other is alike.
  const spread = Array.from({ length: all }, (_, at) => texts[(at * 7_919) % texts.length]!);
  if (texts.length < all) throw new Error(`There are ${texts.length} lines only.`);
  return await createHashEmbedder({}).embed(spread, "item");
}

const given = await allVectors();
const vectors = given.slice(0, count);
const queries = given.slice(count);
const exactOf = (each: (at: number) => Float32Array): ExactIndex => {
  const index = new ExactIndex(dimensions);
  for (let at = 0; at < count; at++) index.put(at + 1, each(at));
  return index;
};
const found = (index: VectorIndex, query: Float32Array): number[] =>
  index.search(query, wanted).map(({ label }) => label);
let truths: readonly ReadonlySet<number>[] = [];
function searched(index: VectorIndex): { recall: number; p50Ms: number; p95Ms: number } {
  for (const query of queries.slice(0, 20)) found(index, query);
  let right = 0;
  const times = queries.map((query, at) => {
    const begun = performance.now();
    const labels = found(index, query);
    const took = performance.now() - begun;
    right += labels.filter((label) => truths[at]?.has(label)).length;
    return took;
  });
  return {
    recall: right / (queries.length * wanted),
    p50Ms: percentile(times, 0.5),
    p95Ms: percentile(times, 0.95),
  };
}

const flat = exactOf((at) => vectors[at]!);
truths = queries.map((query) => new Set(found(flat, query)));
const { p50Ms, p95Ms } = searched(flat);

const decodedBy: Record<string, Float32Array[]> = {};
const atRest: Record<string, AtRestMeasured> = {};
async function measureAtRest(
  name: string,
  train: () => Promise<{
    encode(vector: Float32Array): Uint8Array;
    decode(code: Uint8Array): Float32Array;
  }>,
): Promise<void> {
  let coding: Awaited<ReturnType<typeof train>> | undefined;
  const trainSeconds = await cpuSeconds(async () => (coding = await train()));
  let codes: Uint8Array[] = [];
  const encodeSeconds = await cpuSeconds(() => (codes = vectors.map((vector) => coding!.encode(vector))));
  let decoded: Float32Array[] = [];
  const decodeSeconds = await cpuSeconds(() => (decoded = codes.map((code) => coding!.decode(code))));
  decodedBy[name] = decoded;
  atRest[name] = {
    bytesPerVector: codes[0]!.byteLength,
    trainSeconds,
    encodeMicros: (encodeSeconds / count) * 1e6,
    decodeMicros: (decodeSeconds / count) * 1e6,
    recall: searched(exactOf((at) => decoded[at]!)).recall,
    someRecall: searched(exactOf((at) => (at % 5 === 0 ? decoded : vectors)[at]!)).recall,
  };
}
await measureAtRest("codebook", () => trainCodebook(vectors, dimensions));
await measureAtRest("int8", () => Promise.resolve(int8(dimensions, dimensions)));
await measureAtRest("blocks", () => Promise.resolve(int8(dimensions, 32)));

interface Library {
  readonly Index: {
    fromFactory(dimensions: number, description: string, metric: number): FaissIndex;
    fromBuffer(bytes: Buffer): FaissIndex;
  };
}
interface FaissIndex {
  train(numbers: number[]): void;
  add(numbers: number[]): void;
  search(numbers: number[], count: number): { readonly labels: number[] };
  write(path: string): void;
  toBuffer(): Buffer;
}
process.env["OMP_NUM_THREADS"] ??= "1";
process.env["OPENBLAS_NUM_THREADS"] ??= "1";

/** As `faiss.ts` makes its own, with vectors of another kind in it; learned from 4,096 of them. */
function engineOf(storage: string): GraphEngine {
  const library = createRequire(import.meta.url)("faiss-node") as Library;
  return {
    name: "faiss",
    version: "bench",
    create: () => {
      const index = library.Index.fromFactory(dimensions, `HNSW16,${storage}`, 1);
      const step = count / 4_096;
      const sample = Array.from({ length: 4_096 }, (_, at) => vectors[Math.floor(at * step)]!);
      index.train(sample.flatMap((vector) => Array.from(vector)));
      const bytes = index.toBuffer();
      const expansions = Buffer.alloc(8);
      expansions.writeInt32LE(40, 0);
      expansions.writeInt32LE(16, 4);
      const place = bytes.subarray(0, 4_096).indexOf(expansions);
      if (place < 0) throw new Error("The library's own expansions are not where they were.");
      bytes.writeInt32LE(100, place);
      bytes.writeInt32LE(256, place + 4);
      const graph = library.Index.fromBuffer(bytes);
      let size = 0;
      return {
        get size() {
          return size;
        },
        mostAsked: 256,
        add(rows, added) {
          for (let row = 0; row < added; row += 16)
            graph.add(Array.from(rows.subarray(row * dimensions, Math.min(added, row + 16) * dimensions)));
          size += added;
        },
        search: (query, asked) => graph.search(Array.from(query), asked).labels,
        write: (path) => graph.write(path),
      };
    },
    read: () => null,
    mostBytesPerVector: () => dimensions * 4 + 512,
  };
}

const storages: Readonly<Record<string, string>> = { sq8: "SQ8", pq: "PQ96" };
const indexes: Record<string, IndexMeasured> = {};
const folder = await mkdtemp(join(tmpdir(), "lares-bench-quantizers-"));
try {
  for (const name of process.argv.slice(5)) {
    const engine = engineOf(storages[name] ?? "Flat");
    let index: GraphIndex | undefined;
    const trainSeconds = await cpuSeconds(() => (index = new GraphIndex(engine, dimensions)));
    const buildSeconds = await cpuSeconds(() => {
      for (const [at, vector] of (decodedBy[name] ?? vectors).entries()) index!.put(at + 1, vector);
    });
    await index!.save(folder, { seq: 1, hash: "", embedder: "" });
    const { size } = await stat(join(folder, "knowledge.faiss"));
    const fileBytesPerVector = size / count;
    const graphBytesPerVector = fileBytesPerVector - dimensions * 2 - 8;
    const search = searched(index!);
    console.error(count, name, load().toFixed(2), JSON.stringify({ ...search, trainSeconds, buildSeconds }));
    indexes[name] = { ...search, trainSeconds, buildSeconds, graphBytesPerVector, fileBytesPerVector };
  }
} finally {
  await rm(folder, { recursive: true, force: true });
}
const measured: QuantizersMeasured = { count, flat: { p50Ms, p95Ms }, atRest, indexes, load: load() };
console.log(JSON.stringify(measured));
