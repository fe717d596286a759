import { globSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Bed, cpuTimeMs, hear, recorder, residentMb } from "../../bench/bed.ts";
import { percentile } from "../../bench/statistics.ts";
import { agent, type ExtensionSpec } from "../../support/bench.ts";
import type { Client } from "../../support/client.ts";
import type { Agent, TraceEntry } from "../../support/types.ts";
import { until } from "../../support/until.ts";

export const NEIGHBOUR = "test.neighbour";
/** The interval between two events of the neighbour, in milliseconds. */
const intervalMs = 50;
/** The duration of a measurement of CPU time, in milliseconds. */
const windowMs = 300;
/** The number of files that the neighbour's events come from: each is written again only once its event was handled. */
const files = 10;
/** The maximum ratio of memory to its earlier value: the spare worker, code, and what the engine has not released. */
const memoryRatio = 1.35;
/**
 * And the minimum slack in megabytes: the threads that prepare programs leave memory in C's allocator for later ones.
 * 160 were seen after the first of fifteen programs, 250 after all of them.
 */
const memorySlackMb = 256;
/** The timeout of all waits in milliseconds; beyond it, a busy machine does not explain the delay. */
const patienceMs = 60_000;

const shownLogCharacters = 4_000;

/** The cost of a kernel's process at one moment. */
interface Cost {
  /** CPU time used in a window, as a share of the window; 1 is one core. */
  readonly cpuShare: number;
  readonly residentMb: number;
}

/** Resident memory of the sandbox host and of the kernel, in megabytes. */
interface Memory {
  readonly sandbox: number;
  readonly kernel: number;
}

/** The neighbour's events between two moments. */
interface Witnessed {
  readonly latenciesMs: readonly number[];
  readonly p99Ms: number;
}

/**
 * A kernel with a well-behaved agent that gets an event every 50 ms, and hostile agents beside it, all in one sandbox
 * host. It first measures the neighbour alone, and compares every case with that.
 */
export class Arena implements AsyncDisposable {
  readonly bed: Bed;
  readonly client: Client;
  /** The sandbox host at the beginning, which has to be the same at the end. */
  readonly sandboxPid: number;
  readonly #samples: { readonly at: number; readonly ms: number }[] = [];
  readonly #waiting = new Map<string, { readonly writtenAt: number; readonly size: number }>();
  readonly #timer: NodeJS.Timeout;
  #turn = 0;
  #size = 1000;
  quiet: { readonly witnessed: Witnessed; readonly sandbox: Cost; readonly kernel: Cost } | undefined;

  private constructor(bed: Bed) {
    this.bed = bed;
    this.client = bed.client;
    this.sandboxPid = bed.sandboxPid;
    hear(bed.client, "lares/traces/entry", (params) => this.#hearTrace(params as { entry: TraceEntry }));
    this.#timer = setInterval(() => this.#write(), intervalMs);
  }

  static async open(hostile: readonly ExtensionSpec[], lares: Record<string, unknown> = {}): Promise<Arena> {
    const bed = await Bed.open({
      files: Object.fromEntries(Array.from({ length: files }, (_, at) => [noteOf(at), "."])),
      extensions: [{ ...recorder(NEIGHBOUR), grants: { locations: ["notes/"] } }, ...hostile],
      lares,
    });
    // The events of the index have woken the neighbour.
    await until("the neighbour's first events", async () => {
      const { metrics } = await agent(bed.client, NEIGHBOUR);
      return metrics.events_processed >= files;
    });
    const arena = new Arena(bed);
    try {
      const witnessed = await arena.quietNow();
      arena.quiet = {
        sandbox: await costOf(arena.sandboxPid),
        kernel: await costOf(bed.kernelPid),
        witnessed,
      };
    } catch (error) {
      await arena[Symbol.asyncDispose]();
      throw error;
    }
    return arena;
  }

  /** Measures the neighbour's next events; call it while nothing else runs. */
  async quietNow(): Promise<Witnessed> {
    const from = performance.now();
    await this.#enough(20);
    return await this.witnessed(from);
  }

  /** Creates an event in this folder for the agent that was granted it. */
  async provoke(name: string, file = "go.txt"): Promise<void> {
    await this.bed.bench.write(`${name}/${file}`, "x");
  }

  /** Returns all messages of the agent's trace so far, oldest first. */
  async traces(id: string): Promise<string[]> {
    const entries = await this.client.request<TraceEntry[]>("lares/traces/query", { agent: id, limit: 1000 });
    return entries.map(({ message }) => message).toReversed();
  }

  /** Waits until the agent's trace has such a message. */
  async said(id: string, ...messages: readonly RegExp[]): Promise<void> {
    let all: string[] = [];
    try {
      await until("a sentence in the trace", async () => {
        all = await this.traces(id);
        return all.some((one) => messages.some((message) => message.test(one)));
      });
    } catch (error) {
      throw new Error(
        `${id} has no trace like ${messages.join(" or ")}; it has:\n${all.map((one) => one.slice(0, 300)).join("\n")}`,
        { cause: error },
      );
    }
  }

  /** Resolves to the agent once it is in `state` for a reason. */
  ended(id: string, state: string): Promise<Agent> {
    return until(
      `${id} to be ${state}`,
      async () => {
        const shown = await agent(this.client, id);
        return shown.state === state && shown;
      },
      patienceMs,
    );
  }

  /** Disables the agent, so that no retry disturbs later tests. */
  async disable(id: string): Promise<void> {
    await this.client.raw("lares/agents/control", { id, command: "disable" });
    await this.ended(id, "Unloaded"); // also where it was disabled before
  }

  /** Returns the latencies of the neighbour's events since `from`, including those in progress. */
  async witnessed(from: number): Promise<Witnessed> {
    const until_ = performance.now();
    await until(
      "the neighbour to handle what it was given",
      () => [...this.#waiting.values()].every(({ writtenAt }) => writtenAt > until_),
      patienceMs,
    );
    const latenciesMs = this.#samples.filter(({ at }) => at >= from && at <= until_).map(({ ms }) => ms);
    return { latenciesMs, p99Ms: percentile(latenciesMs, 0.99) };
  }

  /** Resolves once the neighbour handled this many more events. */
  async #enough(count: number): Promise<void> {
    const wanted = this.#samples.length + count;
    await until("the neighbour's events", () => this.#samples.length >= wanted, patienceMs);
  }

  /** Returns the resident memory of the two processes that a hostile agent uses, in megabytes. */
  async memory(): Promise<Memory> {
    return { sandbox: residentMb(this.sandboxPid), kernel: residentMb(this.bed.kernelPid) };
  }

  /**
   * Resolves once nothing of a hostile agent remains: no busy thread, CPU time as for the neighbour alone, and memory
   * as before.
   */
  async calm(before: Memory): Promise<void> {
    const { quiet } = this;
    if (quiet === undefined) throw new Error("The arena is not open yet.");
    const isCalm = (now: Cost, cpuBefore: Cost, memoryBefore: number): boolean =>
      now.cpuShare <= cpuBefore.cpuShare * 2 + 0.1 &&
      now.residentMb <= Math.max(memoryBefore * memoryRatio, memoryBefore + memorySlackMb);
    let last: unknown;
    try {
      await until(
        "the sandbox to be as before",
        async () => {
          const spinning = [this.sandboxPid, this.bed.kernelPid].flatMap((pid) => [...spinningThreads(pid)]);
          const [sandbox, kernel] = await Promise.all([costOf(this.sandboxPid), costOf(this.bed.kernelPid)]);
          last = { spinning, sandbox, kernel };
          return (
            spinning.length === 0 &&
            isCalm(sandbox, quiet.sandbox, before.sandbox) &&
            isCalm(kernel, quiet.kernel, before.kernel)
          );
        },
        patienceMs,
      );
    } catch (error) {
      throw new Error(
        `${String(error)}; it is ${JSON.stringify(last)}; before: ${JSON.stringify({ before, quiet })}; ` +
          `the kernel's log ends with:\n${this.#endOfLog()}`,
        { cause: error },
      );
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    await this.bed[Symbol.asyncDispose]();
  }

  /** Returns the end of the log, which alone explains why a process is gone. */
  #endOfLog(): string {
    const logs = globSync(join(this.bed.bench.home, "**/kernel.log"));
    return logs.map((path) => readFileSync(path, "utf8").slice(-shownLogCharacters)).join("\n");
  }

  #write(): void {
    const name = noteOf(this.#turn++ % files);
    if (this.#waiting.has(name)) return;
    const size = ++this.#size;
    this.#waiting.set(name, { writtenAt: performance.now(), size });
    void this.bed.bench.write(name, "x".repeat(size));
  }

  #hearTrace({ entry }: { entry: TraceEntry }): void {
    if (entry.agent !== NEIGHBOUR || entry.message !== "handled") return;
    const path = String(entry.fields?.["path"]);
    const waiting = this.#waiting.get(path);
    if (waiting === undefined || waiting.size !== entry.fields?.["size"]) return;
    this.#waiting.delete(path);
    this.#samples.push({ at: waiting.writtenAt, ms: performance.now() - waiting.writtenAt });
  }
}

const noteOf = (at: number): string => `notes/note-${at}.txt`;

async function costOf(pid: number): Promise<Cost> {
  const before = cpuTimeMs(pid);
  const from = performance.now();
  await new Promise((resolve) => setTimeout(resolve, windowMs));
  return {
    cpuShare: (cpuTimeMs(pid) - before) / (performance.now() - from),
    residentMb: residentMb(pid),
  };
}

/** Returns the threads that are runnable in each of twenty samples. */
function spinningThreads(pid: number): Set<string> {
  let always: Set<string> | undefined;
  for (let look = 0; look < 20 && always?.size !== 0; look++) {
    const running = new Set<string>();
    for (const thread of readdirSync(`/proc/${pid}/task`)) {
      try {
        if (/^\d+ \(.*\) R/s.test(readFileSync(`/proc/${pid}/task/${thread}/stat`, "utf8")))
          running.add(thread);
      } catch (error) {
        if (!["ENOENT", "ESRCH"].includes((error as NodeJS.ErrnoException).code ?? "")) throw error;
      }
    }
    always = always === undefined ? running : always.intersection(running);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2);
  }
  return always ?? new Set();
}
