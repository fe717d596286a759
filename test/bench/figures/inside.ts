import { mkdir, rename, utimes, writeFile } from "node:fs/promises";
import { watch } from "node:fs";
import { join } from "node:path";
import { Bench } from "../../support/bench.ts";
import { until } from "../../support/until.ts";
import { MetricsRecorder } from "../../../kernel/src/agents/metrics.ts";
import { silentLog } from "../../../kernel/src/base/log.ts";
import { personAt } from "../../../kernel/src/base/vocabulary/principal.ts";
import { openKernel } from "../../../kernel/src/composition/kernel.ts";
import { systemClock } from "../../../kernel/src/platform/clock.ts";
import { type Figure, pause } from "../figure.ts";
import { percentile } from "../statistics.ts";

const agent = "dev.bench.inside";
const program = `
import { defineAgent } from "@lares/sdk";
export default defineAgent({ hooks: { async seen({ entry }, ctx) {} } });
`;

/**
 * The kernel runs in this very process, so that the watcher's callback can be seen: ours for the same folder is called
 * in the same turn of the loop. Its last step, counting the answer, is observed from outside. A file that was last
 * written long ago is moved over the one in the index: it needs no time to settle, so only the processing is measured.
 */
export const inside: Figure = {
  name: "inside",
  title: "inside the kernel, from the watcher's callback to the handler's answer",
  async run({ isShort }) {
    await using bench = await Bench.create({
      files: { "notes/note.txt": "." },
      extensions: [
        {
          id: agent,
          program,
          manifest: {
            permissions: { read_entries: true },
            resources: { max_events_per_second: 1000 },
            agent: { activation: "eager" },
            hooks: [{ on: "EntryModified", handler: "seen" }],
          },
        },
      ],
    });
    const staging = join(bench.base, "staging");
    const stateFolder = join(bench.home, "state");
    await mkdir(staging);
    await mkdir(stateFolder);
    await using kernel = await openKernel({
      stateFolder,
      stateHome: bench.home,
      roots: [bench.root],
      givenRoots: [bench.root],
      userFolder: join(bench.home, "user"),
      environment: {},
      version: "0.0.0",
      clock: systemClock,
      log: silentLog,
    });
    const { status, agents } = kernel.services;
    using client = kernel.clients.connect(personAt());
    await client.begin(true);
    await until("the kernel to be ready", () => status.read().ready);
    await until("the agent to be active", () => agents.list()[0]?.state === "Active");

    const answered = MetricsRecorder.prototype.answered;
    let onAnswer = (): void => {};
    MetricsRecorder.prototype.answered = function (...parameters) {
      answered.apply(this, parameters);
      onAnswer();
    };
    let onHint = (): void => {};
    const watcher = watch(join(bench.root, "notes"), () => onHint());
    const samples: number[] = [];
    try {
      const rounds = isShort ? 30 : 300;
      for (let round = 0; round < rounds + 10; round++) {
        const staged = join(staging, "note.txt");
        await writeFile(staged, "x".repeat(round + 2));
        await utimes(staged, new Date(), new Date(Date.now() - 3_600_000 + round * 1000));
        await pause(20);
        let hintedAt: number | null = null;
        onHint = () => (hintedAt ??= performance.now());
        const done = new Promise<number>((resolve) => (onAnswer = () => resolve(performance.now())));
        await rename(staged, join(bench.root, "notes", "note.txt"));
        const at = await done;
        onAnswer = onHint = () => {};
        if (round >= 10) samples.push(at - (hintedAt ?? at));
      }
    } finally {
      watcher.close();
      MetricsRecorder.prototype.answered = answered;
    }
    return [
      {
        what: "watcher's callback to handler's answer, p50",
        value: percentile(samples, 0.5),
        unit: "ms",
        target: { atMost: 1.5 },
        samples: samples.length,
        note: "without the 20 ms in which a file that is being written settles; see the README",
      },
      {
        what: "watcher's callback to handler's answer, p99",
        value: percentile(samples, 0.99),
        unit: "ms",
        samples: samples.length,
      },
    ];
  },
};
