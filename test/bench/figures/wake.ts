import { mkdtempSync, rmSync } from "node:fs";
import { mkdir, rename, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inState } from "../../support/bench.ts";
import { Bed, recorder } from "../bed.ts";
import { type Figure, pause } from "../figure.ts";
import { installBuilt } from "../installed.ts";
import type { Row } from "../report.ts";
import { percentile } from "../statistics.ts";

const warm = "dev.bench.warm";
const cold = "dev.bench.cold";

/** Milliseconds from the change to the event's having been handled. */
async function wakeTimes(rounds: number, executable?: string): Promise<{ warm: number[]; cold: number[] }> {
  await using bed = await Bed.open(
    {
      files: { "warm/note.txt": ".", "cold/note.txt": "." },
      extensions: [
        { ...recorder(warm), grants: { locations: ["warm/"] } },
        {
          ...recorder(cold, { resources: { max_memory_mb: 128, max_events_per_second: 1000 } }),
          grants: { locations: ["cold/"] },
        },
      ],
      lares: { limits: { idle_unload: "100ms" } },
    },
    executable,
  );
  const staging = join(bed.bench.base, "staging");
  await mkdir(staging);
  const samples = { warm: [] as number[], cold: [] as number[] };
  for (let round = 0; round < rounds + 1; round++) {
    for (const [name, id] of [
      ["warm", warm],
      ["cold", cold],
    ] as const) {
      await inState(bed.client, id, "Unloaded");
      // The next worker is made ready behind the start of the last.
      await pause(700);
      const size = 10 + round;
      const staged = join(staging, "note.txt");
      await writeFile(staged, "x".repeat(size));
      await utimes(staged, new Date(), new Date(Date.now() - 3_600_000 + round * 1000));
      const handled = bed.trace(
        "the event",
        ({ agent, message, fields }) => agent === id && message === "handled" && fields?.["size"] === size,
      );
      const startedAt = performance.now();
      await rename(staged, bed.bench.path(`${name}/note.txt`));
      const { at } = await handled;
      // The first of each prepares the module.
      if (round > 0) samples[name].push(at - startedAt);
    }
  }
  return samples;
}

function rowsOf(from: string, { warm, cold }: { warm: number[]; cold: number[] }): Row[] {
  const row = (what: string, samples: readonly number[], atMost: number): Row[] => [
    {
      what: `${from}, ${what}, p95`,
      value: percentile(samples, 0.95),
      unit: "ms",
      target: { atMost },
      samples: samples.length,
    },
    { what: `${from}, ${what}, p50`, value: percentile(samples, 0.5), unit: "ms", samples: samples.length },
  ];
  return [...row("a worker ready", warm, 80), ...row("none ready", cold, 200)];
}

/**
 * A worker is kept ready for programs of the usual memory limit; the other agent asks for another limit and so
 * always starts from nothing. What wakes them is a file last written long ago moved over another, which needs no
 * time to settle.
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
