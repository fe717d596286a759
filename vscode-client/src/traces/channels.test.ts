import fc from "fast-check";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { TraceEntry } from "../protocol.ts";
import { fakeContext, type FakeContext } from "../testing/context.ts";
import { seen } from "../testing/vscode.ts";
import { maxChannels, maxPerFlush, maxQueued, TraceChannels } from "./channels.ts";
import { traceLine } from "./line.ts";
import { BoundedQueue } from "./queue.ts";

beforeEach(() => {
  seen.forget();
  vi.useFakeTimers();
});
afterEach(() => vi.useRealTimers());

const anEntry = (given: Partial<TraceEntry> = {}): TraceEntry => ({
  timestamp: "2026-01-01T00:00:00.000Z",
  level: "info",
  agent: "dev.lares.notes",
  message: "hello",
  trace_id: "t",
  span_id: "s",
  ...given,
});

async function following(): Promise<FakeContext> {
  let made = 0;
  const fake = fakeContext({
    "lares/traces/follow": () => ({ subscription: `subscription ${++made}` }),
    "lares/traces/unfollow": () => null,
    "lares/traces/query": () => [anEntry({ message: "newer" }), anEntry({ message: "older" })],
  });
  fake.agents = [{ id: "dev.lares.notes", name: "Notes" }];
  return fake;
}

test("a channel is created with an agent's first trace, and written to at its level", async () => {
  const fake = await following();
  const channels = new TraceChannels(fake.context);
  await fake.settle();
  expect(fake.asked).toMatchObject([{ method: "lares/traces/follow", params: { level: "debug" } }]);
  expect(seen.channels).toEqual([]);
  fake.tell("lares/traces/entry", { subscription: "subscription 1", entry: anEntry({ hook: "appeared" }) });
  fake.tell("lares/traces/entry", { subscription: "subscription 1", entry: anEntry({ level: "warn" }) });
  fake.tell("lares/traces/entry", { subscription: "somebody else's", entry: anEntry() });
  expect(seen.channels[0]?.lines).toEqual([]);
  vi.runAllTimers();
  expect(seen.channels).toMatchObject([
    { name: "Lares: dev.lares.notes", lines: ["[info] [appeared] hello", "[warn] hello"] },
  ]);
  channels.dispose();
  expect(seen.channels[0]?.isDisposed).toBe(true);
});

test("the newest entries of a flood are shown in batches, the others counted", async () => {
  const fake = await following();
  const channels = new TraceChannels(fake.context);
  await fake.settle();
  const burst = maxQueued + 1234;
  for (let index = 0; index < burst; index++)
    fake.tell("lares/traces/entry", {
      subscription: "subscription 1",
      entry: anEntry({ message: `${index}` }),
    });
  vi.advanceTimersToNextTimer();
  const lines = seen.channels[0]?.lines ?? [];
  expect(lines[0]).toBe("[info] … 1,234 earlier entries are in the kernel's trace file");
  expect(lines).toHaveLength(maxPerFlush + 1);
  vi.runAllTimers();
  expect(lines.at(-1)).toBe(`[info] ${burst - 1}`);
  expect(lines).toHaveLength(maxQueued + 1);
  channels.dispose();
});

test("an agent that floods leaves the others their share of each batch", async () => {
  const fake = await following();
  const channels = new TraceChannels(fake.context);
  await fake.settle();
  for (let index = 0; index < maxQueued; index++)
    fake.tell("lares/traces/entry", { subscription: "subscription 1", entry: anEntry({ agent: "loud" }) });
  fake.tell("lares/traces/entry", { subscription: "subscription 1", entry: anEntry({ agent: "quiet" }) });
  vi.advanceTimersToNextTimer();
  expect(seen.channels[1]?.lines).toEqual(["[info] hello"]);
  channels.dispose();
});

test("after a restart of the kernel, only the new subscription counts", async () => {
  const fake = await following();
  const channels = new TraceChannels(fake.context);
  await fake.settle();
  fake.stateChanged.fire({ kind: "running" });
  await fake.settle();
  expect(fake.asked.at(-1)).toEqual({
    method: "lares/traces/unfollow",
    params: { subscription: "subscription 1" },
  });
  for (const subscription of ["subscription 1", "subscription 2"])
    fake.tell("lares/traces/entry", { subscription, entry: anEntry({ message: subscription }) });
  vi.runAllTimers();
  expect(seen.channels[0]?.lines).toEqual(["[info] subscription 2"]);
  channels.dispose();
});

test("a removed agent's channel is removed, but not while there is no kernel", async () => {
  const fake = await following();
  const channels = new TraceChannels(fake.context);
  await channels.show("dev.lares.notes");
  fake.agents = [];
  fake.state = { kind: "restarting", inMs: 1000, reason: "" };
  fake.agentsChanged.fire();
  expect(seen.channels[0]?.isDisposed).toBe(false);
  fake.state = { kind: "running" };
  fake.agentsChanged.fire();
  expect(seen.channels[0]?.isDisposed).toBe(true);
  channels.dispose();
});

test("a requested channel begins with the latest entries, with their times", async () => {
  const fake = await following();
  const channels = new TraceChannels(fake.context);
  await channels.show("dev.lares.notes");
  expect(seen.channels).toMatchObject([
    {
      isShown: true,
      lines: ["[info] (2026-01-01T00:00:00.000Z) older", "[info] (2026-01-01T00:00:00.000Z) newer"],
    },
  ]);
  channels.dispose();
});

test("the number of channels is limited", async () => {
  const fake = await following();
  const channels = new TraceChannels(fake.context);
  await fake.settle();
  for (let index = 0; index < maxChannels + 5; index++)
    fake.tell("lares/traces/entry", {
      subscription: "subscription 1",
      entry: anEntry({ agent: `a.${index}` }),
    });
  expect(seen.channels).toHaveLength(maxChannels);
  channels.dispose();
});

test("an entry is one line, whatever it contains", () => {
  const entry = anEntry({
    message: "a\n2026 [error] forged\u001b[2J",
    hook: "h\r\nx",
    fields: { a: "\u202e" },
  });
  expect(traceLine(entry)).toBe('[h x] a 2026 [error] forged␛[2J {"a":"<U+202E>"}');
  expect(traceLine(anEntry({ message: "x".repeat(100_000) })).length).toBeLessThan(3000);
});

test("a queue returns the newest in order, and counts the rest", () => {
  fc.assert(
    fc.property(fc.array(fc.integer()), fc.integer({ min: 1, max: 9 }), (items, capacity) => {
      const queue = new BoundedQueue<number>(capacity);
      for (const item of items) queue.push(item);
      const { dropped, items: left } = queue.take(Infinity);
      expect(left).toEqual(items.slice(-capacity));
      expect(dropped + left.length).toBe(items.length);
      expect(queue.length).toBe(0);
    }),
  );
});
