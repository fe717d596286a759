import { afterAll, beforeAll, describe, expect } from "vitest";
import { agent } from "../../support/bench.ts";
import { until } from "../../support/until.ts";
import { Arena } from "./arena.ts";
import { contained, cpuLimitMs, extensionOf, type Hostile, idOf, sentence } from "./hostile.ts";
import * as hand from "./programs/by-hand.ts";
import * as programs from "./programs/computing.ts";

const computed = (what = "an event"): string =>
  `It computed for # ms on ${what}; max_cpu_ms_per_event allows ${cpuLimitMs} ms.`;
const last = (why: string): string => `Suspended after 3 failures in a row; the last: ${why}`;
const thrown = (why: string): string => last(`go failed on EntryCreated: ${why}`);
const behind = `It computed for more than ${cpuLimitMs} ms (max_cpu_ms_per_event) while it had no request to handle.`;
const stack = "The program failed: Maximum call stack size exceeded.";

/** Triggers an event, and the next one only when its guest is gone. */
const oneByOne =
  (name: string) =>
  async (arena: Arena): Promise<void> => {
    for (let round = 1; round <= 3; round++) {
      await arena.provoke(name, `${round}.txt`);
      const ended = sentence(`ended: ${behind}`);
      await until(`end ${round} of ${name}`, async () => {
        const traces = await arena.traces(idOf({ name }));
        return traces.filter((message) => ended.test(message)).length === round;
      });
    }
  };

const callTool = async (arena: Arena): Promise<void> => {
  for (let round = 0; round < 3; round++) {
    const answer = await arena.client.raw("lares/tools/call", {
      agent: "test.tool",
      name: "compute",
      arguments: {},
    });
    expect((answer["error"] as { message: string }).message).toMatch(
      sentence(`The agent ended before it answered. ${computed("a tool call")}`),
    );
  }
};

/** A busy guest is stopped by its CPU limit, wherever it computes. */
const spinning: Hostile[] = [
  { name: "handler", does: "spin in a handler", program: programs.spinInHandler },
  { name: "promises", does: "spin in promises", program: programs.spinInPromises },
  {
    name: "thenable",
    does: "spin in a thenable that resolves with itself",
    program: programs.spinInThenable,
  },
  { name: "pattern", does: "spin in a regular expression", program: programs.spinInPattern },
  {
    name: "timers",
    does: "timers by the hundred thousand",
    program: programs.manyTimers,
    // More memory than it can fill within its time, on any machine.
    resources: { max_cpu_ms_per_event: cpuLimitMs, max_memory_mb: 256 },
  },
  { name: "finally", does: "recursion that catches its own end", program: programs.catchesRecursion },
  { name: "byhand", does: "spin in a module made by hand", program: hand.spin() },
].map((hostile) => ({
  ...hostile,
  state: "Suspended",
  error: last(computed()),
  traces: [`ended: ${computed()}`],
}));

const others: Hostile[] = [
  {
    name: "load",
    does: "spin at module load",
    program: programs.spinAtLoad,
    state: "Error",
    error: computed("its start"),
    traces: [`Error: ${computed("its start")}`],
  },
  {
    name: "start",
    does: "spin in a start function, before anything was read",
    program: hand.startSpins(),
    state: "Error",
    error: computed("its start"),
  },
  {
    name: "tool",
    does: "spin in a tool: its caller is told, and after three times it is suspended",
    program: programs.spinInTool,
    tools: ["compute"],
    provoke: callTool,
    state: "Suspended",
    error: last(computed("a tool call")),
  },
  {
    name: "behind",
    does: "answer, and spin when nothing is asked any more",
    program: programs.spinBehind,
    provoke: oneByOne("behind"),
    state: "Suspended",
    error: last(behind).replace(
      /^.*the last:/,
      "Suspended after its program ended 3 times within a minute; the last time:",
    ),
  },
  {
    name: "turns",
    does: "answer, and spin in timers, a little in each",
    program: programs.spinInTimers,
    provoke: oneByOne("turns"),
    state: "Suspended",
    error: `Suspended after its program ended 3 times within a minute; the last time: ${behind}`,
  },
  {
    name: "leaving",
    does: "spin when told to leave: it is ended, and its trace says so",
    program: programs.spinAtShutdown,
    state: "Active",
    meanwhile: async (arena) => {
      await until(
        "its events",
        async () => (await agent(arena.client, "test.leaving")).metrics.events_processed === 3,
      );
      await arena.disable("test.leaving");
      await arena.said(
        "test.leaving",
        sentence("onShutdown failed: it was still there # ms after it was told to shut down, and was ended."),
        sentence(`onShutdown failed: ${computed("its onShutdown")}`),
      );
    },
  },
];

/** The maximum that a manifest may request, and time to use it. */
const room = { max_memory_mb: 160, max_cpu_ms_per_event: 5000 };
const hasTaken =
  (name: string) =>
  async (arena: Arena): Promise<void> => {
    const { metrics } = await agent(arena.client, idOf({ name }));
    expect(metrics.peak_memory_bytes).toBeGreaterThan(100 * 1024 * 1024);
    expect(metrics.peak_memory_bytes).toBeLessThanOrEqual(160 * 1024 * 1024);
  };
const exhausted = "It ran out of memory; max_memory_mb is 160.";
const memory: Hostile[] = [
  { name: "arrays", does: "arrays without end", program: programs.arrays, error: thrown(exhausted) },
  { name: "texts", does: "texts without end", program: programs.manyTexts, error: thrown(exhausted) },
  { name: "buffers", does: "buffers without end", program: programs.buffers, error: thrown(exhausted) },
  {
    name: "leaks",
    does: "small things without end that are kept",
    program: programs.leaks,
    error: thrown(exhausted),
  },
  {
    name: "grows",
    does: "memory.grow without end, and then an abort",
    program: hand.grows(),
    error: last("The program failed: unreachable code was reached, as when a program aborts itself."),
  },
  {
    name: "stubborn",
    does: "buffers without end, by a program that catches what it is told and goes on",
    program: programs.stubbornBuffers,
    resources: { ...room, max_cpu_ms_per_event: 600 },
    error: last("It computed for # ms on an event; max_cpu_ms_per_event allows 600 ms."),
  },
]
  .map((hostile): Hostile => ({
    resources: room,
    ...hostile,
    state: "Suspended",
    meanwhile: hasTaken(hostile.name),
  }))
  .concat({
    name: "uncaught",
    does: "no memory left, told where no handler waits for it: nothing can be answered any more",
    program: programs.outOfMemoryBehind,
    state: "Suspended",
    error: last("It ran out of memory; max_memory_mb allows no more."),
  });

const recursion: Hostile[] = [
  {
    name: "deep",
    does: "recursion in JavaScript",
    program: programs.recursion,
    error: thrown("Maximum call stack size exceeded"),
  },
  {
    name: "deepjson",
    does: "recursion in the engine: an object nested 100,000 deep",
    program: programs.deepJson,
    error: last(stack),
  },
  {
    name: "deepprogram",
    does: "recursion in the engine's parser",
    program: programs.deepProgram,
    error: last(stack),
  },
  {
    name: "deephand",
    does: "recursion in a module made by hand",
    program: hand.recursive(),
    error: last(stack),
  },
].map((hostile) => ({ ...hostile, state: "Suspended" }));

const cases = [...spinning, ...others, ...memory, ...recursion];
let arena: Arena;
beforeAll(async () => {
  arena = await Arena.open(cases.map(extensionOf), { limits: { active_agents: 32 } });
});
afterAll(() => arena[Symbol.asyncDispose]());

describe("uses the CPU: ended by its limit", () => contained(() => arena, spinning));
describe("uses the CPU in another place", () => contained(() => arena, others));
describe("uses memory: it gets no more than its maximum, and the memory is released", () =>
  contained(() => arena, memory));
describe("uses up the stack: it ends by itself", () => contained(() => arena, recursion));
