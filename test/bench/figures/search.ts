import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { Figure } from "../figure.ts";
import type { Row } from "../report.ts";
import type { MeasuredSearch } from "../store-memory.ts";

const measuring = fileURLToPath(new URL("../store-memory.ts", import.meta.url));

export const search: Figure = {
  name: "search",
  title:
    "search over items of knowledge, from the kernel to the store host and back, beside FTS5's BM25 alone",
  async run({ isShort }) {
    const [items, samples] = isShort ? [5_000, 20] : [100_000, 200];
    const output = execFileSync(process.execPath, [measuring, "search", String(items), String(samples)], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "inherit"],
    });
    const measured = JSON.parse(output) as MeasuredSearch;
    const { plain, engine, readyMs } = measured;
    const row = (mode: "hybrid" | "text" | "vector", more: Partial<Row>): Row => ({
      what: `${mode}, best 10 of ${items}, p95`,
      value: measured[mode].p95,
      unit: "ms",
      floor: { what: "FTS5 alone, p95", value: plain.p95 },
      samples,
      note: `p50 ${measured[mode].p50.toFixed(1)} ms, FTS5 alone ${plain.p50.toFixed(1)}`,
      ...more,
    });
    return [
      row("hybrid", { target: { atMost: 40 } }),
      {
        what: "processor time of the host for one hybrid question",
        value: measured.hybridProcessorMs,
        unit: "ms",
        samples,
      },
      row("text", {}),
      row("vector", {}),
      {
        what: `${items} items projected, embedded and indexed (${engine})`,
        value: readyMs,
        unit: "ms",
      },
    ];
  },
};
