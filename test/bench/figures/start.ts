import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { frame } from "../../support/frames.ts";
import type { Figure } from "../figure.ts";
import { median } from "../statistics.ts";

const executable = fileURLToPath(new URL("../../../kernel/bin/lares.js", import.meta.url));
const peer = fileURLToPath(new URL("../peers/bare-server.cjs", import.meta.url));
const request = frame({ jsonrpc: "2.0", id: 1, method: "initialize", params: { capabilities: {} } });

/** Milliseconds from spawning to the answer's first byte. */
async function startTime(args: readonly string[], home: string): Promise<number> {
  const startedAt = performance.now();
  const child = spawn(process.execPath, args, {
    // Both cache compiled code between starts: the executable by itself, the peer by an option.
    env: {
      PATH: process.env["PATH"] ?? "",
      LARES_HOME: home,
      ...(args[0] === peer ? { NODE_COMPILE_CACHE: join(home, "compiled") } : {}),
    },
    stdio: ["pipe", "pipe", "ignore"],
  });
  child.stdin.write(request);
  await new Promise((resolve) => child.stdout.once("data", resolve));
  const time = performance.now() - startedAt;
  child.stdin.end();
  await new Promise((resolve) => child.once("exit", resolve));
  return time;
}

/** Alternating, so that both meet the same machine. */
export const start: Figure = {
  name: "start",
  title: "from spawn to the answer to `initialize`, beside a bare Node process with vscode-jsonrpc",
  async run({ isShort }) {
    const home = await mkdtemp(join(tmpdir(), "lares-bench-start-"));
    try {
      const lares = [executable, "serve", "--stdio"];
      for (let warm = 0; warm < 2; warm++) {
        await startTime(lares, home); // fills the cache of compiled code
        await startTime([peer], home);
      }
      const times = { lares: [] as number[], bare: [] as number[] };
      for (let round = 0; round < (isShort ? 8 : 40); round++) {
        times.bare.push(await startTime([peer], home));
        times.lares.push(await startTime(lares, home));
      }
      const samples = times.lares.length;
      const ratios = times.lares.map((time, round) => time / (times.bare[round] ?? Number.NaN));
      return [
        {
          what: "spawn to answer, median of pairs",
          value: median(ratios),
          unit: "×",
          target: { atMost: 1.5 },
          samples,
        },
        {
          what: "spawn to answer, best",
          value: Math.min(...times.lares),
          unit: "ms",
          floor: { what: "bare process, best", value: Math.min(...times.bare) },
          samples,
        },
        {
          what: "spawn to answer, median",
          value: median(times.lares),
          unit: "ms",
          floor: { what: "bare process, median", value: median(times.bare) },
          samples,
        },
      ];
    } finally {
      await rm(home, { recursive: true, force: true });
    }
  },
};
