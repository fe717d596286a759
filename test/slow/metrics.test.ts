import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { agent, Bench, inState, tool } from "../support/bench.ts";
import type { Client } from "../support/client.ts";
import type { AgentMetrics } from "../support/types.ts";
import { until } from "../support/until.ts";

const COUNTED = "test.counted";
const TIMED = "test.timed";
const LOADED = "test.loaded";
const WAIT_MS = 150;

const any = (name: string) => ({ name, description: name, handler: name, parameters: { type: "object" } });
const program = (body: string): string =>
  `import { defineAgent } from "@lares/sdk";\nexport default defineAgent(${body});\n`;

let bench: Bench;
let client: Client;
beforeAll(async () => {
  const permissions = { read_entries: true };
  bench = await Bench.create({
    lares: { limits: { idle_unload: "1s" } },
    extensions: [
      {
        id: COUNTED,
        program: program(`{ hooks: { async good() {}, async bad() { throw new Error("counted"); } } }`),
        manifest: {
          permissions,
          hooks: [
            { on: "EntryCreated", handler: "good", filter: 'entry.extension == "good"' },
            { on: "EntryCreated", handler: "bad", filter: 'entry.extension == "bad"' },
          ],
        },
      },
      {
        id: TIMED,
        // It measures its own time, so that a busy machine's delays are in both figures.
        program: program(`{
          memory: { plan: { total: 0, count: 0 } },
          hooks: { async wait(_, ctx) {
            const began = performance.now();
            await new Promise((resolve) => setTimeout(resolve, ${WAIT_MS}));
            await ctx.memory.plan.update(({ total, count }) => ({ total: total + performance.now() - began, count: count + 1 }));
          } },
          tools: { async own(_, ctx) { return ctx.memory.plan.read(); } },
        }`),
        manifest: {
          permissions,
          hooks: [{ on: "EntryCreated", handler: "wait", filter: 'entry.extension == "wait"' }],
          tools: [any("own")],
        },
      },
      {
        id: LOADED,
        program: program(`{
          tools: {
            async spin({ rounds }) { let x = 0; for (let i = 0; i < rounds; i++) x = (x + i * i) % 1000003; return x; },
            async hold({ megabytes }) { globalThis.held = new Uint8Array(megabytes * 1024 * 1024).fill(1); return held.length; },
            async nothing() {},
          },
        }`),
        manifest: {
          tools: ["spin", "hold", "nothing"].map(any),
          resources: { max_cpu_ms_per_event: 30_000 },
        },
      },
    ],
  });
  client = await bench.open();
});
afterAll(() => bench[Symbol.asyncDispose]());

const metrics = async (id: string): Promise<AgentMetrics> => (await agent(client, id)).metrics;

function expectWithin10Percent(actual: number, expected: number): void {
  expect(actual).toBeGreaterThanOrEqual(expected * 0.9);
  expect(actual).toBeLessThanOrEqual(expected * 1.1);
}

test("events_received, events_processed and events_failed count the events of the test", async () => {
  // One after the other, so that two failures never follow each other, which would trigger the circuit breaker.
  const kinds = ["good", "bad", "good", "good", "bad", "good", "good", "good", "good", "good"];
  for (const [index, kind] of kinds.entries()) {
    await bench.write(`count-${index}.${kind}`, "x");
    await until(`event ${index}`, async () => {
      const { events_processed, events_failed } = await metrics(COUNTED);
      return events_processed + events_failed >= index + 1;
    });
  }
  for (let index = 0; index < 5; index++) await bench.write(`unrelated-${index}.txt`, "x");
  await bench.write("last.good", "x");
  await until("the last event", async () => (await metrics(COUNTED)).events_processed >= 9);
  expect(await metrics(COUNTED)).toMatchObject({
    events_received: 11,
    events_processed: 9,
    events_failed: 2,
    jobs_dispatched: 0,
    jobs_completed: 0,
    jobs_failed: 0,
    temporal_events_count: 0,
    knowledge_items_count: 0,
  });
});

test("avg_event_latency_ms lies between what the handler measured itself and what the client saw; p99 is not below it", async () => {
  const count = 10;
  const before = (await metrics(TIMED)).events_processed;
  let seenMs = 0;
  for (let index = before; index < before + count; index++) {
    const beganAt = performance.now();
    await bench.write(`wait-${index}.wait`, "x");
    await until(`event ${index}`, async () => (await metrics(TIMED)).events_processed === index + 1);
    seenMs += performance.now() - beganAt;
  }
  const own = await tool<{ total: number; count: number }>(client, TIMED, "own");
  expect(own.count).toBe(before + count);
  const { avg_event_latency_ms, p99_event_latency_ms, memory_size_bytes } = await metrics(TIMED);
  expect(avg_event_latency_ms).toBeGreaterThanOrEqual(WAIT_MS);
  // The guest's clock and the kernel's round differently.
  expect(avg_event_latency_ms).toBeGreaterThanOrEqual((own.total / own.count) * 0.9);
  if (before === 0) expect(avg_event_latency_ms).toBeLessThanOrEqual(seenMs / count);
  expect(p99_event_latency_ms).toBeGreaterThanOrEqual(avg_event_latency_ms);
  expect(memory_size_bytes).toBeGreaterThan(0);
});

test("cpu_time_ms grows with the work, in proportion", async () => {
  /** Returns the CPU time of a busy loop according to the metric, and its duration seen from outside. */
  const spin = async (rounds: number): Promise<{ cpu: number; wall: number }> => {
    const before = (await metrics(LOADED)).cpu_time_ms;
    const began = performance.now();
    await tool(client, LOADED, "spin", { rounds });
    const wall = performance.now() - began;
    let last = -1;
    // Read until it stays the same, because the figure comes from another process.
    await until("the figure to rest", async () => {
      const now = (await metrics(LOADED)).cpu_time_ms;
      const rests = now === last && now > before;
      last = now;
      return rests;
    });
    return { cpu: last - before, wall };
  };
  await tool(client, LOADED, "nothing");
  // The least of several: on a busy machine other processes' work slows the loop's.
  const least = async (rounds: number): Promise<{ cpu: number; wall: number }> => {
    const runs = [await spin(rounds), await spin(rounds), await spin(rounds)];
    return runs.reduce((best, run) => (run.cpu < best.cpu ? run : best));
  };
  const short = await least(2_000_000);
  const long = await least(8_000_000);
  expect(long.cpu).toBeLessThanOrEqual(long.wall * 1.25);
  expect(long.cpu / short.cpu).toBeGreaterThan(4 * 0.75);
  expect(long.cpu / short.cpu).toBeLessThan(4 * 1.25);
});

test.runIf(process.platform === "linux")(
  "cpu_time_ms equals the system's count for the sandbox",
  async () => {
    const { pid } = await bench.status(client);
    await tool(client, LOADED, "spin", { rounds: 1_000 });
    const before = { metric: await restingCpuMs(), system: await childrenCpuMs(pid) };
    await tool(client, LOADED, "spin", { rounds: 16_000_000 });
    const after = { metric: await restingCpuMs(), system: await childrenCpuMs(pid) };
    // The sandbox's process does little else meanwhile: it passes on lines and samples.
    expectWithin10Percent(after.metric - before.metric, after.system - before.system);
  },
);

/** Returns the figure once it no longer grows, because it comes from another process. */
async function restingCpuMs(): Promise<number> {
  let last = -1;
  return until("the figure to rest", async () => {
    const now = (await metrics(LOADED)).cpu_time_ms;
    const rests = now === last;
    last = now;
    return rests && now;
  });
}

/** CPU time of a process's children as Linux counts it, in ticks of 10 ms. */
async function childrenCpuMs(pid: number): Promise<number> {
  const children = (await readFile(`/proc/${pid}/task/${pid}/children`, "utf8")).trim().split(/\s+/);
  const stats = await Promise.all(children.map((child) => readFile(`/proc/${child}/stat`, "utf8")));
  // After the name in parentheses: utime and stime are the 14th and 15th fields.
  const ticks = stats.map((stat) => stat.slice(stat.lastIndexOf(")") + 2).split(" "));
  return ticks.reduce((sum, fields) => sum + (Number(fields[11]) + Number(fields[12])) * 10, 0);
}

test("peak_memory_bytes is the guest's linear memory at its highest", async () => {
  await tool(client, LOADED, "hold", { megabytes: 1 });
  const before = (await metrics(LOADED)).peak_memory_bytes;
  const megabytes = 128;
  await tool(client, LOADED, "hold", { megabytes });
  const held = megabytes * 1024 * 1024;
  const peak = await until("the peak", async () => {
    const { peak_memory_bytes } = await metrics(LOADED);
    return peak_memory_bytes > before + held * 0.5 && peak_memory_bytes;
  });
  expectWithin10Percent(peak - before, held);
  await tool(client, LOADED, "hold", { megabytes: 1 });
  expect((await metrics(LOADED)).peak_memory_bytes).toBe(peak);
});

test("wakeups counts how often the agent was loaded", async () => {
  await tool(client, LOADED, "nothing");
  const before = (await metrics(LOADED)).wakeups;
  expect(before).toBeGreaterThanOrEqual(1);
  for (let wake = 1; wake <= 2; wake++) {
    await inState(client, LOADED, "Unloaded"); // idle for a second
    await tool(client, LOADED, "nothing");
    expect((await metrics(LOADED)).wakeups).toBe(before + wake);
  }
});
