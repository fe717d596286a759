/** A hundred concurrent answers of models, for long enough to see whether memory grows. */
import { readFileSync } from "node:fs";
import { monitorEventLoopDelay } from "node:perf_hooks";
import process from "node:process";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { median } from "../bench/statistics.ts";
import { startTokenProvider, tokensPerSecond } from "../support/token-provider.ts";
import { openEgress, readTokens } from "../support/token-streams.ts";

const streams = 100;
/** Duration of one answer, after which the next one is requested. */
const answerSeconds = 5;
/** LARES_STREAM_SECONDS=600 runs ten minutes. */
const seconds = Number(process.env["LARES_STREAM_SECONDS"] ?? 30);
const mebibyte = 1024 * 1024;
/** How much larger the median of the last third may be than the earlier values. */
const slackBytes = {
  // Its collector takes minutes to settle, at some 430 MiB.
  host: 96 * mebibyte,
  kernel: 8 * mebibyte,
};

// The heap is measured after garbage collection.
setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

/** Returns the resident bytes of a process, if the system reports them. */
function residentBytes(pid: number): number {
  const pages = Number(readFileSync(`/proc/${pid}/statm`, "utf8").split(" ")[1]);
  return pages * 4096;
}

test.skipIf(process.platform !== "linux")(
  `a hundred streams of ${tokensPerSecond} tokens a second lose and mix nothing, and memory stays flat`,
  { timeout: (seconds + 120) * 1000 },
  async () => {
    await using provider = await startTokenProvider();
    await using client = openEgress();
    const rounds = Math.max(3, Math.ceil(seconds / answerSeconds));
    const [host, kernel]: [number[], number[]] = [[], []];
    const loop = monitorEventLoopDelay({ resolution: 1 });
    for (let round = 0; round < rounds; round++) {
      // Loading and compiling in the first round are not part of an answer.
      if (round === 1) loop.enable();
      await Promise.all(
        Array.from({ length: streams }, (_, index) =>
          readTokens(client, provider.host, `s${round}-${index}`, answerSeconds * tokensPerSecond),
        ),
      );
      host.push(residentBytes(client.pid ?? 0));
      collectGarbage();
      kernel.push(process.memoryUsage().heapUsed);
    }
    loop.disable();
    process.stdout.write(
      `${rounds} rounds of ${streams} streams: host ${host.map((bytes) => Math.round(bytes / mebibyte)).join(" ")} MiB, heap of the kernel ${kernel.map((bytes) => Math.round(bytes / mebibyte)).join(" ")} MiB, loop p99 ${(loop.percentile(99) / 1e6).toFixed(1)} ms\n`,
    );
    const third = Math.floor(rounds / 3);
    for (const [samples, slack] of [
      [host, slackBytes.host],
      [kernel, slackBytes.kernel],
    ] as const)
      expect(
        median(samples.slice(-third)),
        samples.map((bytes) => `${Math.round(bytes / mebibyte)} MiB`).join(", "),
      ).toBeLessThan(Math.max(...samples.slice(0, -third)) + slack);
  },
);
