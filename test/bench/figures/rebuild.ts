import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { Figure } from "../figure.ts";
import type { MeasuredRebuild } from "../store-memory.ts";

const measuring = fileURLToPath(new URL("../store-memory.ts", import.meta.url));

export const rebuild: Figure = {
  name: "rebuild",
  title: "every projection of a memory built again from its journal, in a store host of its own",
  async run({ isShort }) {
    const events = isShort ? 50_000 : 1_000_000;
    const output = execFileSync(process.execPath, [measuring, "rebuild", String(events)], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "inherit"],
    });
    const { ms, plainMs, progress, longestSilenceMs } = JSON.parse(output) as MeasuredRebuild;
    return [
      {
        what: `${events} events, full text included`,
        value: ms,
        unit: "ms",
        target: { atMost: 60_000 },
        floor: { what: "the same journal read into SQLite with FTS5 alone", value: plainMs },
        note: `told ${progress} times how far it is, after ${longestSilenceMs.toFixed(0)} ms at the latest`,
      },
    ];
  },
};
