import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { silentLog } from "../../kernel/src/base/log.ts";
import { VectorRows, vectorMigrations } from "../../kernel/src/conversations/vectors/vector-rows.ts";
import { openDatabase } from "../../kernel/src/platform/database/database.ts";
import { bytesOfVector } from "../../kernel/src/platform/database/similarity.ts";
import { clusteredVectors } from "../../kernel/src/store/vectors/testing/vectors.ts";
import type { RunOptions } from "./figure.ts";
import type { Row } from "./report.ts";
import { median } from "./statistics.ts";

const dimensions = 384;
const conversations = 50;
const storedAtOnce = 32;
/** As many entries as a search of messages asks for. */
const wanted = 100;

/** Milliseconds of processor time that the whole process takes for a task: others may work on this machine meanwhile. */
async function processorTime(task: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  await task();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

/** Measures a search among the vectors of messages, beside a comparison of all of them in one array. */
export async function messageVectorRows({ isShort, say }: RunOptions): Promise<Row[]> {
  const [count, queries] = isShort ? [12_000, 10] : [100_000, 40];
  say(`${count} vectors of messages`);
  const next = clusteredVectors(dimensions, 7, count);
  const all = new Int8Array(count * dimensions);
  const folder = await mkdtemp(join(tmpdir(), "lares-bench-messages-"));
  try {
    await using database = await openDatabase({
      path: join(folder, "message-vectors.sqlite"),
      migrations: vectorMigrations,
      log: silentLog,
    });
    const rows = new VectorRows(database);
    const each = Math.ceil(count / conversations);
    for (let seq = 0; seq < count;) {
      const [conversation, last] = [`c${Math.floor(seq / each)}`, Math.min(count, seq + storedAtOnce)];
      const entries = [];
      for (; seq < last && conversation === `c${Math.floor(seq / each)}`; seq++) {
        const vector = next();
        all.set(new Int8Array(bytesOfVector(vector).buffer), seq * dimensions);
        entries.push({ seq, entry: `e${String(seq).padStart(9, "0")}`, vectors: [vector] });
      }
      await rows.store({ conversation, space: "s", seq }, entries, count);
    }
    const stretches = Array.from({ length: conversations }, (_, at) => ({
      conversation: `c${at}`,
      through: count,
    }));
    let right = 0;
    const [searching, comparing]: [number[], number[]] = [[], []];
    for (let query = 0; query < queries + 3; query++) {
      const vector = next();
      let found: Awaited<ReturnType<VectorRows["near"]>> = [];
      let truth: readonly number[] = [];
      const search = await processorTime(async () => {
        found = await rows.near(stretches, "s", vector, { least: -1, limit: wanted });
      });
      const compare = await processorTime(
        () => (truth = best(all, new Int8Array(bytesOfVector(vector).buffer))),
      );
      // The first ones are compiled meanwhile.
      if (query < 3) continue;
      searching.push(search);
      comparing.push(compare);
      const seqs = new Set(found.map(({ seq }) => seq));
      right += truth.filter((seq) => seqs.has(seq)).length;
    }
    const what = `messages, ${count} vectors`;
    return [
      {
        what: `${what}: processor time of a search, p50`,
        value: median(searching),
        unit: "ms",
        target: { atMost: 60 },
        floor: { what: "comparing all in one array", value: median(comparing) },
        samples: queries,
      },
      {
        what: `${what}: recall@${wanted} of an exact search`,
        value: right / (queries * wanted),
        unit: "",
        target: { atLeast: 0.98 },
        samples: queries,
      },
    ];
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Compares a query with each vector, without anything around it. */
function best(all: Int8Array, query: Int8Array): readonly number[] {
  const count = all.length / dimensions;
  const similarities = new Float64Array(count);
  for (let index = 0, from = 0; index < count; index++, from += dimensions) {
    let product = 0;
    let squares = 0;
    for (let at = 0; at < dimensions; at++) {
      const own = all[from + at]!;
      product = (product + Math.imul(own, query[at]!)) | 0;
      squares = (squares + Math.imul(own, own)) | 0;
    }
    similarities[index] = product / Math.sqrt(squares);
  }
  const least = similarities.toSorted().at(-wanted) ?? 0;
  return [...similarities.keys()].filter((index) => similarities[index]! >= least).slice(0, wanted);
}
