import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { Bench, inState } from "../../support/bench.ts";
import type { Client } from "../../support/client.ts";
import { loopAttackBench } from "../../fault/loop/attack-bench.ts";
import { ATTACKER, loopAttacks } from "../../fault/loop/attacks.ts";
import { type Figure, pause } from "../figure.ts";
import type { Row } from "../report.ts";
import { percentile } from "../statistics.ts";

/** Milliseconds between two status requests. */
const intervalMs = 20;
/** An attack that lasts longer is measured for this many milliseconds. */
const longestMs = 20_000;
const targetMs = 200;
/** Target for the CPU time of one turn of the kernel's loop, in milliseconds. */
const targetTurnMs = 50;

interface Turn {
  readonly ms: number;
  readonly stacks?: unknown;
}

/** Returns the long turns that the watch in the kernel recorded. */
async function turnsIn(file: string): Promise<Turn[]> {
  const text = await readFile(file, "utf8").catch(() => "");
  return text
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Turn);
}

/** Returns the times that the kernel takes to answer `lares/status`, in milliseconds, until something is over. */
async function answerTimes(
  client: Client,
  isOver: () => boolean,
  atLeast = 1,
  atMostMs = longestMs,
): Promise<number[]> {
  const times: number[] = [];
  const until = performance.now() + atMostMs;
  while ((times.length < atLeast || !isOver()) && performance.now() < until) {
    const askedAt = performance.now();
    await client.request("lares/status");
    times.push(performance.now() - askedAt);
    await pause(intervalMs);
  }
  return times;
}

export const attack: Figure = {
  name: "attack",
  title: "another client's lares/status while an agent makes the kernel work as hard as it can",
  async run({ isShort, say }) {
    const only = process.env["LARES_ATTACK"]?.split(",");
    const rows: Row[] = [];
    await using bench = await Bench.create(loopAttackBench());
    const watched = join(bench.base, "turns");
    const environment = {
      NODE_OPTIONS: `--import=${new URL("../../support/loop-watch.mjs", import.meta.url).href}`,
      LARES_LOOP_WATCH: watched,
    };
    const client = await bench.open({ approvals: "client", environment });
    const asking = await bench.connect({ trusted: true });
    const other = await bench.connect({ trusted: true });
    await bench.ready(other);
    const idle = await answerTimes(other, () => false, isShort ? 50 : 200).then((all) => all.slice(0, 400));
    const floor = { what: "idle", value: percentile(idle, 0.99) };
    for (const { name, does, asks } of loopAttacks.filter((one) => only?.includes(one.name) ?? true)) {
      let outcome: string | null = null;
      void client.raw("lares/tools/call", { agent: ATTACKER, name: "attack", arguments: { name } }).then(
        ({ result, error }) => (outcome = JSON.stringify(result ?? error)),
        (error: unknown) => (outcome = String(error)),
      );
      const startedAt = performance.now();
      const turnsBefore = (await turnsIn(watched)).length;
      const over = new AbortController();
      const asked = (async () => {
        if (asks === undefined) return;
        while (!over.signal.aborted) await asks(asking).catch(() => undefined);
      })();
      const times = await answerTimes(
        other,
        () => outcome !== null,
        asks === undefined ? 20 : 200,
        isShort ? longestMs / 4 : longestMs,
      );
      over.abort();
      await asked;
      say(
        `${name}: p99 ${percentile(times, 0.99).toFixed(0)} ms, worst ${Math.max(...times).toFixed(0)} of ${times.length} in ${((performance.now() - startedAt) / 1000).toFixed(1)} s: ${(outcome ?? "goes on").slice(0, 300)}`,
      );
      rows.push({
        what: `an agent ${does}: status, p99`,
        value: percentile(times, 0.99),
        unit: "ms",
        target: { atMost: targetMs },
        floor,
        samples: times.length,
      });
      const turns = (await turnsIn(watched)).slice(turnsBefore).toSorted((one, two) => two.ms - one.ms);
      for (const { ms, stacks } of turns.slice(0, 2))
        say(`  a turn of ${ms} ms${stacks === undefined ? "" : JSON.stringify(stacks, null, 2)}`);
      rows.push({
        what: `an agent ${does}: longest turn, CPU`,
        value: turns[0]?.ms ?? 0,
        unit: "ms",
        target: { atMost: targetTurnMs },
        samples: turns.length,
      });
      // Whatever remains of it ends with its guest.
      await client.raw("lares/agents/control", { id: ATTACKER, command: "disable" });
      await client.raw("lares/agents/control", { id: ATTACKER, command: "enable" });
      await inState(client, ATTACKER, "Unloaded", "Active");
    }
    return rows;
  },
};
