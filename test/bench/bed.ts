import { readdirSync, readFileSync } from "node:fs";
import { Bench, type BenchSpec, type ExtensionSpec } from "../support/bench.ts";
import type { Client } from "../support/client.ts";
import { FrameReader } from "../support/frames.ts";

interface TraceSeen {
  readonly agent: string;
  readonly level: string;
  readonly message: string;
  readonly timestamp: string;
  readonly fields?: Record<string, unknown>;
  /** On this process's monotonic clock, in milliseconds. */
  readonly at: number;
}

/** Calls `heard` for notifications of a method as soon as their bytes arrive. */
export function hear(client: Client, method: string, heard: (params: unknown) => void): void {
  const reader = new FrameReader();
  client.process.stdout.on("data", (chunk: Buffer) => {
    for (const message of reader.push(chunk)) {
      if (message.method === method) heard(message["params"]);
    }
  });
}

/** A workspace with agents in a kernel of its own, and a client that follows the agents' traces. */
export class Bed implements AsyncDisposable {
  readonly bench: Bench;
  readonly client: Client;
  readonly kernelPid: number;
  #waiting: { matches(trace: TraceSeen): boolean; resolve(trace: TraceSeen): void }[] = [];

  private constructor(bench: Bench, client: Client, kernelPid: number) {
    this.bench = bench;
    this.client = client;
    this.kernelPid = kernelPid;
    hear(client, "lares/traces/entry", (params) => {
      const { entry } = params as { entry: Omit<TraceSeen, "at"> };
      const trace = { ...entry, at: performance.now() };
      for (const waiting of this.#waiting.filter((one) => one.matches(trace))) {
        this.#waiting.splice(this.#waiting.indexOf(waiting), 1);
        waiting.resolve(trace);
      }
    });
  }

  /** `executable` defaults to the checkout's. `environment` returns additional variables for the kernel. */
  static async open(
    spec: BenchSpec,
    executable?: string,
    environment?: (bench: Bench) => Record<string, string>,
  ): Promise<Bed> {
    const bench = await Bench.create(spec);
    try {
      const client = await bench.connect({
        trusted: true,
        ...(executable === undefined ? {} : { executable }),
        ...(environment === undefined ? {} : { environment: environment(bench) }),
      });
      const { pid } = await bench.ready(client);
      await client.request("lares/traces/follow", {});
      return new Bed(bench, client, pid);
    } catch (error) {
      await bench[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** Resolves to the next trace that matches; call it before its cause. */
  trace(what: string, matches: (trace: TraceSeen) => boolean, timeoutMs = 120_000): Promise<TraceSeen> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(
        () => reject(new Error(`no trace of ${what} within ${timeoutMs} ms`)),
        timeoutMs,
      );
      this.#waiting.push({ matches, resolve: (trace) => (clearTimeout(timer), resolve(trace)) });
    });
  }

  /** The kernel's child process in which the guests run. */
  get sandboxPid(): number {
    for (const name of readdirSync("/proc")) {
      if (!/^\d+$/.test(name)) continue;
      try {
        const parent = Number(fieldsAfterName(`/proc/${name}/stat`)[1]);
        // The other child is the bundler's.
        const isSandbox = readFileSync(`/proc/${name}/cmdline`, "utf8").includes("sandbox/host/host-process");
        if (parent === this.kernelPid && isSandbox) return Number(name);
      } catch (error) {
        // The process ended between listing and reading.
        if (!["ENOENT", "ESRCH"].includes((error as NodeJS.ErrnoException).code ?? "")) throw error;
      }
    }
    throw new Error("the kernel has no sandbox host");
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.bench[Symbol.asyncDispose]();
  }
}

/** Returns the fields of `/proc` for a process or thread, from its state on. */
function fieldsAfterName(path: string): string[] {
  const stat = readFileSync(path, "utf8");
  return stat.slice(stat.lastIndexOf(")") + 2).split(" ");
}

function cpuTimeIn(path: string): number {
  const fields = fieldsAfterName(path);
  // In ticks of 10 ms.
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

/** CPU time a process has used so far, in milliseconds, over all its threads. */
export function cpuTimeMs(pid: number): number {
  return cpuTimeIn(`/proc/${pid}/stat`);
}

/** The same for each of its threads, by the thread's id. */
export function threadCpuTimesMs(pid: number): Map<string, number> {
  const times = new Map<string, number>();
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    try {
      times.set(thread, cpuTimeIn(`/proc/${pid}/task/${thread}/stat`));
    } catch (error) {
      if (!["ENOENT", "ESRCH"].includes((error as NodeJS.ErrnoException).code ?? "")) throw error;
    }
  }
  return times;
}

/** Resident memory of a process, in megabytes. */
export function residentMb(pid: number): number {
  const kilobytes = /^Rss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, "utf8"))?.[1];
  return (Number(kilobytes) * 1024) / 1e6;
}

/**
 * An agent that updates its memory once for each change of a file and traces the entry's path and size: the trace is
 * sent when the update was answered.
 */
export function recorder(id: string, manifest: Record<string, unknown> = {}): ExtensionSpec {
  return {
    id,
    program: `
import { defineAgent } from "@lares/sdk";

const seen = async ({ name, entry }, ctx) => {
  await ctx.memory.plan.update((plan) => ({ count: plan.count + 1, last: entry.path }));
  ctx.trace.info("handled", { name, path: entry.path, size: entry.size });
};

export default defineAgent({ memory: { plan: { count: 0, last: "" } }, hooks: { seen } });
`,
    manifest: {
      permissions: { read_entries: true },
      resources: { max_events_per_second: 1000 },
      hooks: [
        { on: "EntryCreated", filter: "entry.kind == 'file'", handler: "seen" },
        { on: "EntryModified", filter: "entry.kind == 'file'", handler: "seen" },
      ],
      ...manifest,
    },
  };
}
