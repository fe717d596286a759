import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { Figure } from "../figure.ts";
import { messageVectorRows } from "../message-vectors.ts";
import type { Row } from "../report.ts";
import type { VectorsMeasured } from "../vector-search.ts";

const measuring = fileURLToPath(new URL("../vector-search.ts", import.meta.url));

/** In a process of its own, because its memory is measured. */
function measured(count: number, queries: number, kind: "clustered" | "random"): VectorsMeasured {
  const output = execFileSync(
    process.execPath,
    ["--expose-gc", measuring, String(count), String(queries), kind],
    { encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] },
  );
  return JSON.parse(output) as VectorsMeasured;
}

function searchRows(
  what: string,
  queries: number,
  searched: VectorsMeasured["search"],
  bare?: VectorsMeasured["bare"],
): Row[] {
  const floorOf = (value: number | undefined): Pick<Row, "floor"> =>
    value === undefined ? {} : { floor: { what: "bare usearch f16", value } };
  return [
    {
      what: `${what}: recall@10`,
      value: searched.recall,
      unit: "",
      target: { atLeast: 0.98 },
      samples: queries,
      ...floorOf(bare?.recall),
    },
    { what: `${what}: p50`, value: searched.p50Ms, unit: "ms", samples: queries, ...floorOf(bare?.p50Ms) },
    {
      what: `${what}: p95`,
      value: searched.p95Ms,
      unit: "ms",
      target: { atMost: 5 },
      samples: queries,
      ...floorOf(bare?.p95Ms),
    },
  ];
}

export const vectors: Figure = {
  name: "vectors",
  title: "the default vector engine through the memory's port, 384 dimensions, beside bare usearch",
  async run({ isShort, say }) {
    const [count, randomCount, queries] = isShort ? [12_000, 10_000, 50] : [100_000, 20_000, 300];
    say(`${count} clustered vectors`);
    const clustered = measured(count, queries, "clustered");
    say(`${randomCount} random vectors`);
    const random = measured(randomCount, queries, "random");
    const { engine, bare } = clustered;
    const rows: Row[] = [
      ...searchRows(`${engine}, ${count} clustered`, queries, clustered.search, bare),
      ...searchRows("one in 100 let through", queries, clustered.filtered),
      {
        what: "asked for all of them",
        value: clustered.everythingMs,
        unit: "ms",
        note: "exact, and sorted: bounded by the number of vectors",
      },
      {
        what: "exact, 10000 vectors: p95",
        value: clustered.exactMs,
        unit: "ms",
        target: { atMost: 5 },
        samples: queries,
      },
      {
        what: `${engine}, ${randomCount} random: recall@10`,
        value: random.search.recall,
        unit: "",
        floor: { what: "bare usearch f16", value: random.bare.recall },
        samples: queries,
        note: `no direction is like another, so a graph has nothing to follow; p95 ${random.search.p95Ms.toFixed(2)} ms, bare ${random.bare.p95Ms.toFixed(2)}`,
      },
      {
        what: "bytes in memory, a vector",
        value: clustered.bytesPerVector,
        unit: "",
        floor: { what: "its 384 floats", value: 384 * 4 },
        note: `resident memory of the process, after collecting; ${clustered.fileBytesPerVector.toFixed(0)} bytes on the disk`,
      },
      {
        what: "building",
        value: clustered.buildSeconds * 1000,
        unit: "ms",
        floor: { what: "bare usearch, in batches of 1000", value: bare.buildSeconds * 1000 },
        note: "making the vectors, a few seconds at most, is in both",
      },
      {
        what: "saving",
        value: clustered.saveMs,
        unit: "ms",
        floor: { what: "writing as many bytes, and fsync", value: clustered.bareWriteMs },
      },
      {
        what: "loading, proven",
        value: clustered.loadMs,
        unit: "ms",
        floor: { what: "reading as many bytes", value: clustered.bareReadMs },
      },
      {
        what: "recall@10 lost, all vectors cold",
        value: clustered.coldLoss,
        unit: "",
        target: { atMost: 0.02 },
        samples: queries,
        note: `only where an index is built again from what is at rest: while it stands, tiers change nothing in it; one in five cold: ${clustered.someColdLoss.toFixed(3)}`,
      },
    ];
    return [...rows, ...(await messageVectorRows({ isShort, say }))];
  },
};
