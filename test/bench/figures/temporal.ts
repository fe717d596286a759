import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { Figure } from "../figure.ts";
import type { Row } from "../report.ts";
import type { MeasuredTemporal } from "../temporal-memory.ts";

const measuring = fileURLToPath(new URL("../temporal-memory.ts", import.meta.url));

/** In a process of its own, like the store host, whose work it is. */
export const temporal: Figure = {
  name: "temporal",
  title: "projecting and querying events, beside SQLite with FTS5 alone",
  async run({ isShort }) {
    const [events, samples] = isShort ? [50_000, 10] : [1_000_000, 40];
    const output = execFileSync(process.execPath, [measuring, String(events), String(samples), "--json"], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "inherit"],
    });
    const { projected, queries } = JSON.parse(output) as MeasuredTemporal;
    const perSecond = (ms: number): number => (events / ms) * 1000;
    return [
      {
        what: `projected, ${events} events`,
        value: perSecond(projected.oursMs),
        unit: "events/s",
        target: { atLeast: 30_000 },
        floor: { what: "SQLite alone", value: perSecond(projected.plainMs) },
        note: `the loop's thread was busy for ${((projected.oursProcessorMs * 1000) / events).toFixed(1)} µs an event`,
      },
      ...queries.map(({ what, total, ours, plain }): Row => ({
        what: `${what}, p95`,
        value: ours.p95,
        unit: "ms",
        target: { atMost: 30 },
        floor: { what: "SQLite alone, p95", value: plain.p95 },
        samples,
        note: `p50 ${ours.p50.toFixed(2)} ms, SQLite alone ${plain.p50.toFixed(2)} ms; ${total} match, and are counted`,
      })),
    ];
  },
};
