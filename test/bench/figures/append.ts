import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { kernelFlags } from "../../../kernel/src/platform/processes/spawn-kernel.ts";
import type { Figure } from "../figure.ts";
import type { MeasuredAppends, MeasuredBare } from "../memory-append.ts";
import type { Row } from "../report.ts";

const measuring = fileURLToPath(new URL("../memory-append.ts", import.meta.url));

/** In a process of its own, started like a kernel, so that its growth is the memory's. */
function measured(events: number, ...flags: readonly string[]): unknown {
  const output = execFileSync(process.execPath, [...kernelFlags, measuring, String(events), ...flags], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
  });
  return JSON.parse(output);
}

export const append: Figure = {
  name: "append",
  title:
    "appending events to a memory: alone, with sync, in a stream; and proving the journal when it is opened",
  async run({ isShort, say }) {
    const events = isShort ? 50_000 : 1_000_000;
    const bare = measured(events, "--bare") as MeasuredBare;
    say("bare: done");
    const { lone, synced, bareSynced, opening, ...appends } = measured(events) as MeasuredAppends;
    const write = (share: "p50" | "p99"): NonNullable<Row["floor"]> => ({
      what: "a bare write",
      value: appends.bare[share],
    });
    return [
      {
        what: "acknowledged, one at a time, p50",
        value: lone.p50,
        unit: "ms",
        target: { atMost: 0.05 },
        floor: write("p50"),
        samples: lone.samples,
      },
      {
        what: "acknowledged, one at a time, p99",
        value: lone.p99,
        unit: "ms",
        target: { atMost: 1 },
        floor: write("p99"),
        samples: lone.samples,
      },
      {
        what: "with sync(), p50, to a bare write + fdatasync",
        value: synced.p50 / bareSynced.p50,
        unit: "×",
        target: { atMost: 3 },
        samples: synced.samples,
        note: `${synced.p50.toFixed(2)} ms, p99 ${synced.p99.toFixed(2)}; bare ${bareSynced.p50.toFixed(2)} ms, p99 ${bareSynced.p99.toFixed(2)}`,
      },
      {
        what: `in a stream of ${events}`,
        value: appends.rate,
        unit: "events/s",
        target: { atLeast: 30_000 },
        floor: { what: "bare writes of the lines", value: bare.rate },
      },
      {
        what: `resident memory, from event ${events / 10} to ${events}`,
        value: appends.grownMb,
        unit: "MB",
        target: { atMost: 20 },
        floor: { what: "bare writes of the lines", value: bare.grownMb },
      },
      {
        what: "heap in use by then, after collecting",
        value: appends.liveMb,
        unit: "MB",
        floor: { what: "bare writes of the lines", value: bare.liveMb },
      },
      {
        what: `opening: ${opening.records} records proven`,
        value: opening.ms,
        unit: "ms",
        floor: { what: "SHA-256 of the files", value: opening.hashMs },
        note: `longest turn of the loop ${opening.longestTurnMs.toFixed(1)} ms of processor time`,
      },
    ];
  },
};
