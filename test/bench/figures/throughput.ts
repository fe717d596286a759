import { loadavg } from "node:os";
import { Bed } from "../bed.ts";
import { tool, type ExtensionSpec } from "../../support/bench.ts";
import type { Figure, RunOptions } from "../figure.ts";
import type { Row } from "../report.ts";
import { bareGuest } from "../peers/bare-guest.ts";

const source = "dev.bench.source";
const sink = (at: number): string => `dev.bench.sink${at}`;

const anything = { type: "object" };

const sourceExtension: ExtensionSpec = {
  id: source,
  program: `
import { defineAgent } from "@lares/sdk";
export default defineAgent({
  tools: {
    async emit({ count, total, offset }, ctx) {
      await Promise.all(Array.from({ length: count }, (_, at) => ctx.events.emit("Tick", {
        number: offset + at, total, path: "notes/note.txt", size: 1234, tags: ["#one", "#two"],
        modified: "2026-01-01T00:00:00.000Z", content: "sha256:" + "0".repeat(64),
      })));
      return { count };
    },
  },
});
`,
  manifest: {
    permissions: { emit_events: ["Tick"] },
    tools: [{ name: "emit", description: "emit", handler: "emit", parameters: anything }],
  },
};

/**
 * Handles each event with one call to the kernel. The first one waits for the tool `go`, so that by then all wait in
 * the inbox and the agent is loaded. Traces when it continues, and when the last call was answered.
 */
function sinkExtension(id: string): ExtensionSpec {
  return {
    id,
    program: `
import { defineAgent } from "@lares/sdk";
let handled = 0;
let go = () => {};
export default defineAgent({
  hooks: {
    async tick(event, ctx) {
      if (handled === 0) {
        await new Promise((resolve) => { go = resolve; });
        ctx.trace.info("first");
      }
      await ctx.vdfs.get(event.path);
      if (++handled === event.total) { ctx.trace.info("last"); handled = 0; }
    },
  },
  tools: { async go() { go(); return null; } },
});
`,
    manifest: {
      permissions: { read_entries: true, hear_events: [`${source}/Tick`] },
      resources: { max_events_per_second: 100_000 },
      hooks: [{ on: `${source}/Tick`, handler: "tick" }],
      tools: [{ name: "go", description: "go", handler: "go", parameters: anything }],
    },
  };
}

/** Returns the events a second over all agents, from the first handled to the last answered. */
async function eventsPerSecond(agents: number, events: number, rounds: number): Promise<number[]> {
  const sinks = Array.from({ length: agents }, (_, at) => sink(at));
  await using bed = await Bed.open({
    files: { "notes/note.txt": "." },
    extensions: [sourceExtension, ...sinks.map(sinkExtension)],
    lares: { limits: { max_events_per_second: 100_000, max_memory_mb: 256 } },
  });
  const { client } = bed;
  const rates: number[] = [];
  for (let round = 0; round < rounds; round++) {
    for (let offset = 0; offset < events; offset += 1000) {
      await tool(client, source, "emit", { count: Math.min(1000, events - offset), total: events, offset });
    }
    const ends = sinks.map((id) =>
      Promise.all([
        bed.trace("the first event", ({ agent, message }) => agent === id && message === "first"),
        bed.trace("the last event", ({ agent, message }) => agent === id && message === "last"),
      ]),
    );
    await Promise.all(sinks.map((id) => tool(client, id, "go")));
    const marks = await Promise.all(ends);
    const firstAt = Math.min(...marks.map(([first]) => first.at));
    const lastAt = Math.max(...marks.map(([, last]) => last.at));
    rates.push((agents * events * 1000) / (lastAt - firstAt));
  }
  return rates;
}

export const throughput: Figure = {
  name: "throughput",
  title: "events from the inbox through TypeScript agents, one host call each, beside the bare sandbox",
  async run({ isShort, say }: RunOptions) {
    // A kernel at work is measured: its code is compiled in the first rounds.
    const rounds = isShort ? 1 : 8;
    // At most `customEventBacklog` may wait.
    const events = isShort ? 2000 : 4000;
    const rows: Row[] = [];
    for (const [agents, target] of [
      [1, 5000],
      [8, 10_000],
    ] as const) {
      const each = agents === 1 ? events : Math.round(events / 4);
      const rates = await eventsPerSecond(agents, each, rounds);
      say(`${agents}: ${rates.map((rate) => rate.toFixed(0)).join(", ")} (load ${loadavg()[0]?.toFixed(1)})`);
      const bare = await bareGuest({ guests: agents, events: each, window: 1 });
      rows.push({
        what: agents === 1 ? "through one agent, best" : `through ${agents} agents at once, in all, best`,
        value: Math.max(...rates),
        unit: "events/s",
        target: { atLeast: target },
        floor: { what: "sandbox alone, one at a time", value: bare },
        samples: agents * each * rounds,
      });
    }
    rows.push({
      what: "the sandbox alone, one guest, 16 events in flight",
      value: await bareGuest({ guests: 1, events, window: 16 }),
      unit: "events/s",
      samples: events,
    });
    return rows;
  },
};
