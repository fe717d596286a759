/*
 * Loaded into a kernel by `--import`: writes a line for each turn of its event loop that used much CPU time. CPU time, not
 * time that passes: a busy machine makes no turn longer. With LARES_LOOP_PROFILE the line also says where the time went.
 */
import { appendFileSync } from "node:fs";
import { Session } from "node:inspector";
import process from "node:process";
import { isMainThread } from "node:worker_threads";

const file = process.env["LARES_LOOP_WATCH"];
/** Milliseconds of CPU time from which on a turn is written down. */
const leastMs = 20;

if (file !== undefined && isMainThread && process.argv.includes("kernel")) watch(file);

function watch(path) {
  const profiler = process.env["LARES_LOOP_PROFILE"] === undefined ? null : startProfiler();
  const cpuMs = () => {
    const { user, system } = process.threadCpuUsage();
    return (user + system) / 1000;
  };
  let before = cpuMs();
  // The loop runs its timers once each turn.
  setInterval(() => {
    const usedMs = cpuMs() - before;
    if (usedMs >= leastMs)
      appendFileSync(path, `${JSON.stringify({ ms: Math.round(usedMs), ...profiler?.(usedMs) })}\n`);
    before = cpuMs();
  }, 1).unref();
}

/** Returns what says where the last turn's time went. */
function startProfiler() {
  const session = new Session();
  session.connect();
  session.post("Profiler.enable");
  session.post("Profiler.setSamplingInterval", { interval: 1000 });
  session.post("Profiler.start");
  return (usedMs) => {
    let stacks = [];
    session.post("Profiler.stop", (_error, answer) => {
      if (answer !== undefined) stacks = hottest(answer.profile, usedMs);
    });
    session.post("Profiler.start");
    return { stacks };
  };
}

function hottest({ nodes, samples = [], endTime, timeDeltas = [] }, usedMs) {
  const parents = new Map();
  const byId = new Map(nodes.map((node) => [node.id, node]));
  for (const { id, children = [] } of nodes) for (const child of children) parents.set(child, id);
  const counts = new Map();
  let at = endTime;
  for (let index = samples.length - 1; index >= 0 && endTime - at < usedMs * 1000; index--) {
    at -= timeDeltas[index] ?? 0;
    const names = [];
    for (let id = samples[index]; id !== undefined && names.length < 12; id = parents.get(id)) {
      const { functionName, url, lineNumber } = byId.get(id).callFrame;
      names.push(`${functionName} ${url.split("/").slice(-2).join("/")}:${lineNumber + 1}`);
    }
    const stack = names.join(" < ");
    counts.set(stack, (counts.get(stack) ?? 0) + 1);
  }
  return [...counts].toSorted((one, two) => two[1] - one[1]).slice(0, 4);
}
