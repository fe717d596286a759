import { spawn } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inState, tool, type ExtensionSpec } from "../../support/bench.ts";
import { installBuilt } from "../../support/installed.ts";
import { runNode } from "../../support/run-node.ts";
import { Bed } from "../bed.ts";
import { type Figure, pause, type RunOptions } from "../figure.ts";
import { photosPerSecond } from "../photo-library.ts";
import type { Row } from "../report.ts";
import { percentile } from "../statistics.ts";

const anything = { type: "object" };
const toolNamed = (name: string) => ({ name, description: name, handler: name, parameters: anything });

const caller: ExtensionSpec = {
  id: "dev.bench.caller",
  program: `
import { defineAgent } from "@lares/sdk";
export default defineAgent({
  tools: {
    // Times come from the guest's own clock, in batches, because it counts milliseconds.
    async many({ batches, each }, ctx) {
      const times = [];
      for (let batch = 0; batch < batches; batch++) {
        const begun = Date.now();
        for (let n = 0; n < each; n++) await ctx.tools.call("dev.bench.callee/echo", { n });
        times.push((Date.now() - begun) / each);
      }
      return times;
    },
  },
});
`,
  manifest: { permissions: { call_tools: ["dev.bench.callee/echo"] }, tools: [toolNamed("many")] },
};
const callee: ExtensionSpec = {
  id: "dev.bench.callee",
  program: `
import { defineAgent } from "@lares/sdk";
export default defineAgent({ tools: { async echo({ n }) { return n; } } });
`,
  manifest: { tools: [toolNamed("echo")] },
};

/** Returns the milliseconds of one call from agent to agent and back, as means of batches. */
async function callTimes(executable: string, batches: number): Promise<number[]> {
  await using bed = await Bed.open({ extensions: [caller, callee] }, executable);
  const many = (count: number) => tool<number[]>(bed.client, caller.id, "many", { batches: count, each: 20 });
  await many(5);
  return await many(batches);
}

const answering = (answer: number): string => `
import { defineAgent } from "@lares/sdk";
export default defineAgent({ tools: { async answer() { return ${String(answer)}; } } });
`;

/** Returns the milliseconds from a saved program to the first answer of the new code. */
async function savedTimes(executable: string, rounds: number): Promise<number[]> {
  const id = "dev.bench.saved";
  const extension = { id, program: answering(0), manifest: { tools: [toolNamed("answer")] } };
  await using bed = await Bed.open({ extensions: [extension] }, executable);
  const { client, bench } = bed;
  await tool(client, id, "answer");
  const times: number[] = [];
  for (let round = 1; round <= rounds; round++) {
    const { trust } = await bench.status(client);
    await pause(300);
    const begun = performance.now();
    await writeFile(join(bench.extensionFolder(id), "agent.ts"), answering(round));
    await bench.accept(client, trust.digest);
    for (;;) {
      const answer = await tool<number>(client, id, "answer").catch(() => null);
      if (answer === round) break;
    }
    times.push(performance.now() - begun);
  }
  return times;
}

/** Returns the milliseconds from `lares install` of a package of a mebibyte to the end of its first event. */
async function installTimes(executable: string, rounds: number): Promise<number[]> {
  const times: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const configured = ({ base }: { readonly base: string }) => ({ XDG_CONFIG_HOME: join(base, "config") });
    await using bed = await Bed.open({ files: { "notes/a.txt": "a" } }, executable, configured);
    const { bench } = bed;
    const environment = configured(bench);
    const source = {
      id: "dev.bench.packed",
      program: `
import { defineAgent } from "@lares/sdk";
import { words } from "./words.ts";
export default defineAgent({ hooks: { async seen(event, ctx) { ctx.trace.info("handled", { words: words.length }); } } });
`,
      // Distinct words, so that the bundler cannot drop any.
      files: {
        "words.ts": `export const words = ${JSON.stringify(Array.from({ length: 90_000 }, (_, n) => `word ${n}`))};\n`,
      },
      manifest: {
        permissions: { read_entries: true },
        hooks: [{ on: "EntryCreated", handler: "seen" }],
      },
    };
    await bench.writeExtension(source);
    const run = async (...args: string[]): Promise<string> => {
      const env = { ...process.env, LARES_HOME: bench.home, NO_COLOR: "1", ...environment };
      const { code, stdout, stderr } = await runNode([executable, ...args], { cwd: bench.root, env });
      if (code !== 0) throw new Error(`lares ${args.join(" ")}: ${stderr}`);
      return stdout;
    };
    await run("keys", "new");
    const packed = JSON.parse(
      await run("pack", bench.extensionFolder(source.id), "--json", "-o", join(bench.base, "x.lares")),
    ) as { file: string };
    const handled = bed.trace(
      "its first event",
      ({ agent, message }) => agent === source.id && message === "handled",
    );
    const begun = performance.now();
    await run("install", packed.file, "--yes");
    await handled;
    times.push(performance.now() - begun);
  }
  return times;
}

/** Resident memory of the kernel and its children, mebibytes, and their CPU time, milliseconds. */
function processesOf(kernelPid: number): { readonly mebibytes: number; readonly cpuMs: number } {
  const children = readFileSync(`/proc/${kernelPid}/task/${kernelPid}/children`, "utf8").trim().split(" ");
  let mebibytes = 0;
  let cpuMs = 0;
  for (const pid of [String(kernelPid), ...children.filter((one) => one !== "")]) {
    try {
      const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, "utf8");
      mebibytes += Number(/^Pss:\s+(\d+) kB/m.exec(rollup)?.[1] ?? 0) / 1024;
      cpuMs += cpuMsOf(pid);
    } catch (error) {
      // The child has ended since it was listed.
      if (!["ENOENT", "ESRCH"].includes((error as NodeJS.ErrnoException).code ?? "")) throw error;
    }
  }
  return { mebibytes, cpuMs };
}

/** CPU time of a process's threads, milliseconds; exact, while `stat` counts in ticks, which are longer than a short wake. */
function cpuMsOf(pid: string | number): number {
  let nanoseconds = 0;
  for (const thread of readdirSync(`/proc/${pid}/task`))
    nanoseconds += Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, "utf8").split(" ")[0]);
  return nanoseconds / 1e6;
}

/** Many agents, each with its own folder and events; only a few are loaded at a time. */
async function manyAgents(
  executable: string,
  { agents, events, say }: { agents: number; events: number; say: RunOptions["say"] },
): Promise<Row[]> {
  const id = (at: number): string => `dev.bench.many${String(at).padStart(4, "0")}`;
  const each = events / agents;
  const active = 16;
  const spec = (at: number): ExtensionSpec => ({
    id: id(at),
    program: `
import { defineAgent } from "@lares/sdk";
export default defineAgent({
  memory: { plan: { seen: 0 } },
  hooks: { async seen(event, ctx) { await ctx.memory.plan.update((plan) => ({ seen: plan.seen + 1 })); } },
  tools: { async count(_, ctx) { return (await ctx.memory.plan.read()).seen; } },
});
`,
    manifest: {
      permissions: { read_entries: true },
      resources: { max_memory_mb: 64 },
      hooks: [{ on: "EntryCreated", handler: "seen" }],
      tools: [toolNamed("count")],
    },
    grants: { locations: [`in/${String(at)}/`] },
  });
  const folders = Array.from({ length: agents }, (_, at) => [`in/${String(at)}/.keep`, ""] as const);
  const begun = performance.now();
  await using bed = await Bed.open(
    {
      files: Object.fromEntries(folders),
      extensions: Array.from({ length: agents }, (_, at) => spec(at)),
      lares: { limits: { active_agents: active } },
    },
    executable,
  );
  const { client, bench, kernelPid } = bed;
  say(`ready after ${((performance.now() - begun) / 1000).toFixed(1)} s`);
  const rest = async (): Promise<void> => {
    for (;;) {
      const { idle, ready } = await client.request<{ idle: boolean; ready: boolean }>("lares/status");
      if (idle && ready) return;
      await pause(100);
    }
  };
  await rest();
  const sentAt = performance.now();
  for (let n = 0; n < each; n++)
    for (let at = 0; at < agents; at++) await writeFile(bench.path(`in/${String(at)}/${String(n)}.txt`), "x");
  let most = 0;
  const watch = setInterval(() => (most = Math.max(most, processesOf(kernelPid).mebibytes)), 500);
  // The index reports the last files some milliseconds after they were written.
  await pause(2000);
  await rest();
  clearInterval(watch);
  const took = performance.now() - sentAt;
  say(`handled after ${(took / 1000).toFixed(1)} s`);
  let right = 0;
  // As many at a time as may be loaded.
  for (let first = 0; first < agents; first += active) {
    const asked = Array.from({ length: Math.min(active, agents - first) }, (_, at) => first + at);
    const counts = await Promise.all(asked.map((at) => tool<number>(client, id(at), "count")));
    // The folder's own event and that of `.keep` came before.
    right += counts.filter((count) => count === each + 1).length;
  }
  say(`counted after ${((performance.now() - sentAt) / 1000).toFixed(1)} s`);
  await inState(client, id(0), "Active", "Unloaded");
  // The engine collects the heaps of idle threads several times, eight seconds apart.
  await pause(60_000);
  // What a process costs here that does nothing but be woken now and then, as the kernel is by its check of the roots.
  const bare = spawn(process.execPath, ["-e", "setInterval(() => {}, 5000)"], { stdio: "ignore" });
  const barePid = bare.pid ?? 0;
  await pause(2000);
  const [before, bareBefore] = [processesOf(kernelPid), cpuMsOf(barePid)];
  const idleMs = 30_000;
  await pause(idleMs);
  const [after, bareAfter] = [processesOf(kernelPid), cpuMsOf(barePid)];
  bare.kill();
  most = Math.max(most, after.mebibytes);
  const share = (from: number, to: number): number => (100 * (to - from)) / idleMs;
  return [
    {
      what: `${agents} agents, ${active} loaded at most, ${events} events: agents that handled each of theirs once`,
      value: (100 * right) / agents,
      unit: "%",
      target: { atLeast: 100 },
      samples: agents,
    },
    {
      what: "the most memory of the kernel and its children meanwhile",
      value: most,
      unit: "MB",
      target: { atMost: 1200 },
    },
    {
      what: "their CPU time at rest, of one core",
      value: share(before.cpuMs, after.cpuMs),
      unit: "%",
      target: { atMost: 1 },
      floor: { what: "a bare process with one timer", value: share(bareBefore, bareAfter) },
    },
    { what: "events a second, each waking its agent", value: (1000 * events) / took, unit: "events/s" },
  ];
}

const latency = (what: string, samples: readonly number[], atMost: number): Row => ({
  what,
  value: percentile(samples, 0.5),
  unit: "ms",
  target: { atMost },
  samples: samples.length,
});

export const together: Figure = {
  name: "together",
  title: "agents that call each other, code that is saved, packages, and a thousand agents; as installed",
  async run({ isShort, say }) {
    const folder = mkdtempSync(join(tmpdir(), "lares-bench-built-"));
    try {
      const executable = installBuilt(folder);
      const calls = await callTimes(executable, isShort ? 10 : 200);
      say("calls: done");
      const saved = await savedTimes(executable, isShort ? 2 : 10);
      say("saved code: done");
      const installed = await installTimes(executable, isShort ? 1 : 5);
      say("packages: done");
      const photos = isShort ? 200 : 2000;
      const photoRate = await photosPerSecond(photos, executable);
      say("photos: done");
      const [agents, events] = isShort ? [40, 80] : [1000, 10_000];
      const many = await manyAgents(executable, { agents, events, say });
      return [
        latency("a tool call from one agent to another and back, p50", calls, 1.5),
        latency("a program is saved → its new code answers, p50", saved, 1000),
        latency("a package of 1 MiB: install, verified, to its first event, p50", installed, 2000),
        {
          what: `photos a second: EXIF of ${photos} read in the sandbox and noted, by the extension Photos`,
          value: photoRate,
          unit: "items/s",
          target: { atLeast: 200 },
          samples: photos,
        },
        ...many,
      ];
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
};
