import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { kernelFlags } from "../../../kernel/src/platform/processes/spawn-kernel.ts";
import type { Figure } from "../figure.ts";
import type { MeasuredAdds } from "../knowledge-add.ts";

const measuring = fileURLToPath(new URL("../knowledge-add.ts", import.meta.url));

export const add: Figure = {
  name: "add",
  title: "adding items of knowledge one by one and in a stream, while a store host projects and embeds them",
  async run({ isShort }) {
    const output = execFileSync(
      process.execPath,
      [...kernelFlags, measuring, String(isShort ? 1_000 : 10_000)],
      { encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] },
    );
    const { p50, p99, bareP50, samples, rate, foundMs } = JSON.parse(output) as MeasuredAdds;
    return [
      {
        what: "acknowledged, one at a time, p50",
        value: p50,
        unit: "ms",
        target: { atMost: 2 },
        floor: { what: "a bare write", value: bareP50 },
        samples,
        note: `p99 ${p99.toFixed(2)} ms`,
      },
      {
        what: `in a stream of ${samples}`,
        value: rate,
        unit: "items/s",
        target: { atLeast: 1_000 },
        note: `found by a search ${foundMs.toFixed(0)} ms after the last one`,
      },
    ];
  },
};
