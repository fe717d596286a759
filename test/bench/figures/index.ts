import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { Figure } from "../figure.ts";
import type { Row } from "../report.ts";

const measuring = fileURLToPath(new URL("../workspace-index.ts", import.meta.url));

/** In a process of its own, because other data in this one would slow its garbage collector. */
export const index: Figure = {
  name: "index",
  title: "indexing a large tree, first and again, beside a bare recursive readdir + stat of it",
  async run({ isShort }) {
    const files = isShort ? 5_000 : 100_000;
    const output = execFileSync(process.execPath, ["--expose-gc", measuring, String(files), "--json"], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "inherit"],
    });
    const { recursiveMs, bareSynchronousMs, bareAsynchronousMs, bareProcessorMs, starts } = JSON.parse(
      output,
    ) as Measured;
    return starts.flatMap(
      ({ ms, processorMs, loopProcessorMs, longestTurnMs, heapMb, peakMb }, at): Row[] => {
        const what = at === 0 ? "first index" : "next start";
        return [
          {
            what: `${what}, ${files} files`,
            value: ms / recursiveMs,
            unit: "×",
            target: { atMost: at === 0 ? 4 : 1.5 },
            note: `${ms.toFixed(0)} ms; Node's own recursive readdir and an lstat each take ${recursiveMs.toFixed(0)} ms, which is what the ratio is to; a walk written by hand ${bareSynchronousMs.toFixed(0)} ms with synchronous calls and ${bareAsynchronousMs.toFixed(0)} ms with promises; longest turn of the loop ${longestTurnMs.toFixed(0)} ms; ${heapMb.toFixed(0)} MB of heap, ${peakMb.toFixed(0)} MB resident at most`,
          },
          { what: `${what}, to a walk by hand, synchronous`, value: ms / bareSynchronousMs, unit: "×" },
          { what: `${what}, to a walk by hand, with promises`, value: ms / bareAsynchronousMs, unit: "×" },
          { what: `${what}, processor time, all threads`, value: processorMs / bareProcessorMs, unit: "×" },
          { what: `${what}, processor time, the loop`, value: loopProcessorMs / bareProcessorMs, unit: "×" },
        ];
      },
    );
  },
};

interface Measured {
  readonly recursiveMs: number;
  readonly bareSynchronousMs: number;
  readonly bareAsynchronousMs: number;
  readonly bareProcessorMs: number;
  readonly starts: readonly {
    readonly ms: number;
    readonly processorMs: number;
    readonly loopProcessorMs: number;
    readonly longestTurnMs: number;
    readonly heapMb: number;
    readonly peakMb: number;
  }[];
}
