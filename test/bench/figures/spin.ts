import { spawn } from "node:child_process";
import { agent as agentOf, inState } from "../../support/bench.ts";
import { Bed, cpuTimeMs, hear, recorder, threadCpuTimesMs } from "../bed.ts";
import { type Figure, pause } from "../figure.ts";
import { median, percentile } from "../statistics.ts";

const spinner = "dev.bench.spinner";
const neighbour = "dev.bench.neighbour";
const limitMs = 500;

export const spin: Figure = {
  name: "spin",
  title:
    "an agent that computes for ever: when it is stopped, what is left of it, what its neighbour notices",
  async run({ isShort, say }) {
    await using bed = await Bed.open({
      files: { "spin/go.txt": ".", ...Object.fromEntries(names.map((name) => [`notes/${name}`, "."])) },
      extensions: [
        {
          id: spinner,
          program: `
import { defineAgent } from "@lares/sdk";
export default defineAgent({ hooks: { async go(event, ctx) { ctx.trace.info("spinning"); for (;;); } } });
`,
          manifest: {
            permissions: { read_entries: true },
            resources: { max_cpu_ms_per_event: limitMs },
            hooks: [{ on: "EntryModified", handler: "go" }],
          },
          grants: { locations: ["spin/"] },
        },
        { ...recorder(neighbour), grants: { locations: ["notes/"] } },
      ],
    });
    let size = 1000;
    const touch = async (name: string): Promise<number> => {
      const expected = ++size;
      const handled = bed.trace(
        name,
        ({ agent, message, fields }) =>
          agent === neighbour && message === "handled" && fields?.["size"] === expected,
      );
      const startedAt = performance.now();
      await bed.bench.write(`notes/${name}`, "x".repeat(expected));
      return (await handled).at - startedAt;
    };
    /** Measures the neighbour's events while something else runs. */
    const meanwhile = async (isOver: () => boolean, into: number[]): Promise<void> => {
      const all: Promise<unknown>[] = [];
      for (let at = 0; !isOver(); at++) {
        all.push(touch(names[at % names.length] ?? "").then((ms) => into.push(ms)));
        await pause(50);
      }
      await Promise.all(all);
    };
    for (const name of names) await touch(name);

    const rounds = isShort ? 2 : 10;
    const quiet: number[] = [];
    const besidePeer: number[] = [];
    const forOneLimit = (): (() => boolean) => {
      const until = performance.now() + limitMs;
      return () => performance.now() > until;
    };
    const overruns: number[] = [];
    const cpuOverruns: number[] = [];
    const idle: number[] = [];
    const beside: number[] = [];
    let endedAt = Number.POSITIVE_INFINITY;
    hear(bed.client, "lares/agents/changed", (params) => {
      const { id, state } = params as { id: string; state: string };
      if (id === spinner && state !== "Active" && state !== "Initializing")
        endedAt = Math.min(endedAt, performance.now());
    });
    for (let round = 0; round < rounds; round++) {
      await meanwhile(forOneLimit(), quiet);
      {
        using _ = busyProcess();
        await meanwhile(forOneLimit(), besidePeer);
      }
      endedAt = Number.POSITIVE_INFINITY;
      const spinning = bed.trace("the spin", ({ message }) => message === "spinning");
      const said = bed.trace(
        "its end",
        ({ agent, message }) => agent === spinner && message.startsWith("ended: "),
      );
      await bed.bench.write("spin/go.txt", "x".repeat(round + 2));
      await spinning;
      const deadline = new Deadline(bed.sandboxPid);
      await meanwhile(() => endedAt < Number.POSITIVE_INFINITY, beside);
      const { message } = await said;
      overruns.push(endedAt - deadline.passedAt());
      cpuOverruns.push(Number(/computed for (\d+) ms/.exec(message)?.[1]) - limitMs);
      // Its event would be retried, so the agent is disabled.
      await bed.client.request("lares/agents/control", { id: spinner, command: "disable" });
      // The next spare worker is started after its end.
      await pause(700);
      const cpuBefore = cpuTimeMs(bed.sandboxPid);
      const from = performance.now();
      await pause(500);
      idle.push(((cpuTimeMs(bed.sandboxPid) - cpuBefore) / (performance.now() - from)) * 100);
      await bed.bench.write("spin/go.txt", "");
      await pause(100);
      await bed.client.request("lares/agents/control", { id: spinner, command: "enable" });
      await inState(bed.client, spinner, "Unloaded");
    }
    const { metrics } = await agentOf(bed.client, spinner);
    say(`the spinner's metrics: ${JSON.stringify(metrics)}`);
    return [
      {
        what: "gone after its deadline, worst",
        value: Math.max(...overruns),
        unit: "ms",
        target: { atMost: 100 },
        samples: rounds,
      },
      { what: "gone after its deadline, median", value: median(overruns), unit: "ms", samples: rounds },
      {
        what: "CPU time beyond the limit, worst",
        value: Math.max(...cpuOverruns),
        unit: "ms",
        samples: rounds,
      },
      {
        what: "the sandbox's CPU afterwards, worst",
        value: Math.max(...idle),
        unit: "%",
        target: { atMost: 5 },
        samples: rounds,
      },
      {
        what: "the neighbour's events, p99",
        value: percentile(beside, 0.99),
        unit: "ms",
        target: { atMost: 200 },
        floor: { what: "without the spinner", value: percentile(quiet, 0.99) },
        samples: beside.length,
      },
      {
        what: "the same beside it, p99",
        value: percentile(beside, 0.99),
        unit: "ms",
        floor: { what: "beside a busy process", value: percentile(besidePeer, 0.99) },
        samples: besidePeer.length,
      },
      {
        what: "the neighbour's events, p50",
        value: percentile(beside, 0.5),
        unit: "ms",
        floor: { what: "without the spinner", value: percentile(quiet, 0.5) },
        samples: beside.length,
      },
    ];
  },
};

/** The effect of any busy program on the neighbour: no sandbox, no reload, normal priority. */
function busyProcess(): Disposable {
  const child = spawn(process.execPath, ["--eval", "for (;;);"], { stdio: "ignore" });
  return { [Symbol.dispose]: () => void child.kill("SIGKILL") };
}

/** Notices when the busiest thread has used up the limit: the limit is CPU time, not real time. */
class Deadline {
  readonly #samples: { readonly at: number; readonly times: Map<string, number> }[] = [];
  readonly #timer: NodeJS.Timeout;

  constructor(pid: number) {
    const look = (): void => {
      this.#samples.push({ at: performance.now(), times: threadCpuTimesMs(pid) });
    };
    look();
    this.#timer = setInterval(look, 5);
  }

  /** On this process's monotonic clock; accurate to the 10 ms in which the system counts. */
  passedAt(): number {
    clearInterval(this.#timer);
    const first = this.#samples[0]?.times ?? new Map<string, number>();
    const used = (times: Map<string, number>, thread: string): number =>
      (times.get(thread) ?? 0) - (first.get(thread) ?? 0);
    const threads = new Set(this.#samples.flatMap(({ times }) => [...times.keys()]));
    const most = (thread: string): number =>
      Math.max(...this.#samples.map(({ times }) => used(times, thread)));
    const [busiest = ""] = [...threads].toSorted((one, other) => most(other) - most(one));
    const passed = this.#samples.find(({ times }) => used(times, busiest) >= limitMs);
    // Stopped before it was seen beyond the limit.
    return passed?.at ?? this.#samples.findLast(({ times }) => times.has(busiest))?.at ?? Number.NaN;
  }
}

const names = Array.from({ length: 10 }, (_, at) => `note-${at}.txt`);
