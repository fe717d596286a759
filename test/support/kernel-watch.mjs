/*
 * Loaded into a kernel by `--import`: at SIGUSR2 it appends a line with how its event loop did since the last one, and with
 * what its heap holds after a collection. Another process cannot see either. Watching begins with the first signal.
 */
import { appendFileSync } from "node:fs";
import { monitorEventLoopDelay } from "node:perf_hooks";
import process from "node:process";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { isMainThread } from "node:worker_threads";

const file = process.env["LARES_KERNEL_WATCH"];

if (file !== undefined && isMainThread && process.argv.includes("kernel")) watch(file);

function watch(path) {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc");
  const loop = monitorEventLoopDelay({ resolution: 1 });
  const cpuMs = () => {
    const { user, system } = process.threadCpuUsage();
    return (user + system) / 1000;
  };
  let before = 0;
  let turns = [];
  let timer = null;
  // Only on request, because waking the loop each millisecond slows down everything else that is measured.
  const begin = () => {
    loop.enable();
    // The loop runs its timers once each turn. CPU time, because a busy machine makes no turn longer.
    timer = setInterval(() => {
      const now = cpuMs();
      turns.push(now - before);
      before = now;
    }, 1).unref();
  };
  process.on("SIGUSR2", () => {
    if (timer === null) begin();
    const late = { p99Ms: loop.percentile(99) / 1e6, worstMs: loop.max / 1e6 };
    turns.sort((one, other) => one - other);
    const cpu = { turnP99Ms: turns[Math.floor(turns.length * 0.99)] ?? 0, turnWorstMs: turns.at(-1) ?? 0 };
    turns = [];
    for (let round = 0; round < 3; round++) collect();
    const { heapUsed, external } = process.memoryUsage();
    appendFileSync(path, `${JSON.stringify({ ...late, ...cpu, heapBytes: heapUsed + external })}\n`);
    before = cpuMs();
    loop.reset();
  });
}
