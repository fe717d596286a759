import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { mkdir, rename, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { inState } from "../../support/bench.ts";
import { Bed, recorder } from "../bed.ts";
import { type Figure, pause } from "../figure.ts";
import { installBuilt } from "../../support/installed.ts";
import type { Row } from "../report.ts";
import { percentile } from "../statistics.ts";

/** Each has a folder of its own; events in `both/` wake two. */
const agents = {
  usual: { id: "dev.bench.usual", locations: ["usual/"] },
  limited: { id: "dev.bench.limited", locations: ["limited/"] },
  one: { id: "dev.bench.one", locations: ["both/"] },
  other: { id: "dev.bench.other", locations: ["both/"] },
} as const;
type Agent = (typeof agents)[keyof typeof agents];

interface WakeTimes {
  readonly ready: number[];
  readonly none: number[];
  /** A bare worker thread that starts another, in this process: the minimum for the second of two. */
  readonly threads: number[];
}

/** Returns the milliseconds from the change until the event was handled by the last agent that it wakes. */
async function wakeTimes(rounds: number, executable?: string): Promise<WakeTimes> {
  const limits = { resources: { max_memory_mb: 128, max_events_per_second: 1000 } };
  await using bed = await Bed.open(
    {
      files: { "usual/note.txt": ".", "limited/note.txt": ".", "both/note.txt": "." },
      extensions: Object.values(agents).map(({ id, locations }) => ({
        ...recorder(id, id === agents.limited.id ? limits : {}),
        grants: { locations: [...locations] },
      })),
      lares: { limits: { idle_unload: "100ms" } },
    },
    executable,
  );
  const staging = join(bed.bench.base, "staging");
  await mkdir(staging);
  let size = 10;
  const wakeAll = async (woken: readonly Agent[], folder: string): Promise<number> => {
    for (const { id } of Object.values(agents)) await inState(bed.client, id, "Unloaded");
    // The next worker is prepared after the start of the last.
    await pause(700);
    const expected = ++size;
    const staged = join(staging, "note.txt");
    await writeFile(staged, "x".repeat(expected));
    await utimes(staged, new Date(), new Date(Date.now() - 3_600_000 + expected * 1000));
    const handled = woken.map(({ id }) =>
      bed.trace(
        "the event",
        ({ agent, message, fields }) =>
          agent === id && message === "handled" && fields?.["size"] === expected,
      ),
    );
    const startedAt = performance.now();
    await rename(staged, bed.bench.path(`${folder}/note.txt`));
    return Math.max(...(await Promise.all(handled)).map(({ at }) => at)) - startedAt;
  };
  const times: WakeTimes = { ready: [], none: [], threads: [] };
  // The first round of each prepares the module.
  for (let round = -2; round < rounds; round++) {
    const ready = await wakeAll(...(round % 2 === 0 ? alone("usual") : alone("limited")));
    const none = await wakeAll([agents.one, agents.other], "both");
    if (round < 0) continue;
    times.ready.push(ready);
    times.none.push(none);
    times.threads.push(await twoThreads());
  }
  return times;
}

async function twoThreads(): Promise<number> {
  const inner = `require("node:worker_threads").parentPort.postMessage("here")`;
  const outer = `
const { Worker, parentPort } = require("node:worker_threads");
new Worker(${JSON.stringify(inner)}, { eval: true }).once("message", (text) => parentPort.postMessage(text));
`;
  const startedAt = performance.now();
  const worker = new Worker(outer, { eval: true });
  await once(worker, "message");
  const took = performance.now() - startedAt;
  await worker.terminate();
  return took;
}

function alone(name: "usual" | "limited"): [readonly Agent[], string] {
  return [[agents[name]], name];
}

function rowsOf(from: string, { ready, none, threads }: WakeTimes): Row[] {
  const floor = (samples: readonly number[], share: number): Pick<Row, "floor"> =>
    samples === none ? { floor: { what: "two bare worker threads", value: percentile(threads, share) } } : {};
  const row = (what: string, samples: readonly number[], atMost: number): Row[] => [
    {
      what: `${from}, ${what}, p95`,
      value: percentile(samples, 0.95),
      unit: "ms",
      target: { atMost },
      ...floor(samples, 0.95),
      samples: samples.length,
    },
    {
      what: `${from}, ${what}, p50`,
      value: percentile(samples, 0.5),
      unit: "ms",
      ...floor(samples, 0.5),
      samples: samples.length,
    },
  ];
  return [...row("a worker ready", ready, 80), ...row("two at once", none, 200)];
}

/**
 * One worker is kept ready, for every program and memory limit: an agent that wakes alone uses it, alternating between
 * one with the usual limit and one with another. If one change wakes two, the second starts without a prepared worker,
 * while the first starts. They are woken by moving a file last written long ago over another, which needs no time to
 * settle.
 */
export const wake: Figure = {
  name: "wake",
  title: "from a file's change to the first event handled by an agent that was unloaded",
  async run({ isShort }) {
    const folder = mkdtempSync(join(tmpdir(), "lares-bench-built-"));
    try {
      const built = rowsOf("built", await wakeTimes(isShort ? 4 : 50, installBuilt(folder)));
      return isShort ? built : [...built, ...rowsOf("from sources", await wakeTimes(25))];
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
};
