import { expect, onTestFinished, test } from "vitest";
import { until } from "../../../../test/support/until.ts";
import { EmbeddingError } from "./port.ts";
import { afterFailure, EmbeddingQueue, longestPauseMs, maxEmbeddingTries } from "./queue.ts";
import { HeldClock, HeldEmbedder, HeldItems } from "./testing/pending.ts";

const down = (retryAfterMs = 0): EmbeddingError =>
  new EmbeddingError("down", { isRetryable: true, retryAfterMs });

function held(): { queue: EmbeddingQueue; items: HeldItems; clock: HeldClock; faults: unknown[] } {
  const [items, clock, faults] = [new HeldItems(), new HeldClock(), [] as unknown[]];
  const queue = new EmbeddingQueue({ items, clock, report: (error) => void faults.push(error) });
  onTestFinished(() => queue[Symbol.asyncDispose]());
  return { queue, items, clock, faults };
}

/** The `count`-th call, once it is in progress. */
const called = (embedder: HeldEmbedder, count: number): Promise<HeldEmbedder["calls"][number]> =>
  until(`call ${count}`, () => embedder.calls.length === count && embedder.calls[count - 1]);

test("waiting items are embedded in slices, one call at a time, until none waits", async () => {
  const { queue, items } = held();
  for (let row = 1; row <= 70; row += 1) items.say(row, row, `text ${row}`);
  const embedder = new HeldEmbedder("one");
  queue.use(embedder);
  for (const [call, size] of [32, 32, 6].entries()) {
    const { texts, answer } = await called(embedder, call + 1);
    expect(texts.length).toBe(size);
    queue.wake();
    answer();
  }
  await until("all embedded", () => items.vectors.size === 70);
  expect(embedder.calls.length).toBe(3);
});

test("race: an item whose text changed before its vector arrived is embedded again", async () => {
  const { queue, items } = held();
  items.say(1, 10, "old words");
  const embedder = new HeldEmbedder("one");
  queue.use(embedder);
  const first = await called(embedder, 1);
  items.say(1, 20, "new words");
  first.answer();
  const second = await called(embedder, 2);
  expect(second.texts).toEqual(["new words"]);
  second.answer();
  expect(await until("embedded", () => items.vectors.get(1))).toEqual({ embedder: "one", saidSeq: 20 });
});

test("race: an item that changes while its embedding fails keeps all attempts for its new text", async () => {
  const { queue, items } = held();
  items.say(1, 10, "old words");
  const embedder = new HeldEmbedder("one");
  queue.use(embedder);
  const first = await called(embedder, 1);
  items.say(1, 20, "new words");
  first.answer(new EmbeddingError("never", { isRetryable: false }));
  (await called(embedder, 2)).answer();
  await until("embedded", () => items.vectors.has(1));
  expect(items.failed.size).toBe(0);
});

test("race: an item removed while it is embedded gets no vector, and the others get theirs", async () => {
  const { queue, items } = held();
  items.say(1, 1, "goes");
  items.say(2, 2, "stays");
  const embedder = new HeldEmbedder("one");
  queue.use(embedder);
  const call = await called(embedder, 1);
  items.forget(1);
  call.answer();
  await until("the other is embedded", () => items.vectors.has(2));
  expect(items.vectors.has(1)).toBe(false);
});

test("race: the embedder is switched during a call: the old one's answer is ignored, even a late one", async () => {
  const { queue, items } = held();
  items.say(1, 1, "words");
  const [old, fresh] = [new HeldEmbedder("old"), new HeldEmbedder("fresh")];
  queue.use(old);
  const late = await called(old, 1);
  queue.use(fresh);
  const call = await called(fresh, 1);
  late.answer(down());
  call.answer();
  expect((await until("embedded", () => items.vectors.get(1))).embedder).toBe("fresh");
  expect(items.failed.size).toBe(0);
});

test("race: disposed during a call that never ends: it ends at once and writes nothing", async () => {
  const { queue, items, clock, faults } = held();
  items.say(1, 1, "words");
  const embedder = new HeldEmbedder("one");
  queue.use(embedder);
  const call = await called(embedder, 1);
  await queue[Symbol.asyncDispose]();
  call.answer();
  queue.wake();
  await Promise.resolve();
  expect(items.vectors.size).toBe(0);
  expect(items.waiting.get(1)?.item.tries).toBe(0);
  expect(clock.nextMs).toBe(null);
  expect(faults).toEqual([]);
});

test("race: woken while the last slice is written, it sees the new items", async () => {
  const { queue, items } = held();
  items.say(1, 1, "first");
  const embedder = new HeldEmbedder("one");
  embedder.immediate = "vectors";
  const settle = items.settle.bind(items);
  items.settle = async (name, settlements) => {
    await settle(name, settlements);
    if (!items.vectors.has(2)) items.say(2, 2, "second");
    queue.wake();
  };
  queue.use(embedder);
  await until("both are embedded", () => items.vectors.size === 2);
});

test("terminal: after three failures with pauses between them, the item is given up, with the reason", async () => {
  const { queue, items, clock } = held();
  items.say(1, 1, "words");
  const embedder = new HeldEmbedder("one");
  embedder.immediate = down();
  queue.use(embedder);
  const pauses: (number | null)[] = [];
  for (let tries = 1; tries < maxEmbeddingTries; tries += 1) {
    await until(
      `try ${tries} was written`,
      () => items.waiting.get(1)?.item.tries === tries && clock.nextMs !== null,
    );
    pauses.push(clock.nextMs);
    expect(embedder.calls.length).toBe(tries);
    clock.pass(clock.nextMs ?? 0);
  }
  expect(await until("given up", () => items.failed.get(1))).toBe("down");
  expect(pauses).toEqual([2_000, 30_000]);
  expect(embedder.calls.length).toBe(maxEmbeddingTries);
});

test("while the service is down nothing else is sent, so that an outage costs few items an attempt", async () => {
  const { queue, items, clock } = held();
  for (let row = 1; row <= 100; row += 1) items.say(row, row, `text ${row}`);
  const embedder = new HeldEmbedder("one");
  embedder.immediate = down();
  queue.use(embedder);
  await until("it rests", () => clock.nextMs !== null);
  queue.wake();
  await until("it rests again", () => clock.nextMs !== null);
  expect(embedder.calls.length).toBe(1);
  expect([...items.waiting.values()].filter(({ item }) => item.tries > 0).length).toBe(32);
  embedder.immediate = "vectors";
  clock.pass(clock.nextMs ?? 0);
  await until("all embedded", () => items.vectors.size === 100);
});

test("the delay that the service asks for is respected", async () => {
  const { queue, items, clock } = held();
  items.say(1, 1, "words");
  const embedder = new HeldEmbedder("one");
  embedder.immediate = down(90_000);
  queue.use(embedder);
  await until("it rests", () => clock.nextMs !== null);
  expect(clock.nextMs).toBe(90_000);
  clock.pass(89_999);
  expect(embedder.calls.length).toBe(1);
});

test("a text that is refused for good fails alone", async () => {
  const { queue, items } = held();
  for (const [row, text] of ["fine", "bad", "also fine"].entries()) items.say(row, row, text);
  const embedder = new HeldEmbedder("one");
  embedder.refused.add("bad");
  embedder.immediate = "vectors";
  queue.use(embedder);
  await until("all settled", () => items.waiting.size === 0);
  expect([...items.vectors.keys()]).toEqual([0, 2]);
  expect(items.failed.get(1)).toBe("too long");
});

test("without an embedder all items wait", async () => {
  const { queue, items } = held();
  items.say(1, 1, "words");
  queue.use(null);
  await queue[Symbol.asyncDispose]();
  expect(items.takes).toEqual([]);
  expect(items.waiting.size).toBe(1);
});

test("an error that is not an EmbeddingError is reported and costs no attempt, and the queue continues when it is woken", async () => {
  const { queue, items, faults } = held();
  items.say(1, 1, "words");
  const embedder = new HeldEmbedder("one");
  queue.use(embedder);
  const fault = new TypeError("a bug");
  (await called(embedder, 1)).answer(fault);
  await until("reported", () => faults.length === 1);
  expect(faults).toEqual([fault]);
  expect(items.waiting.get(1)?.item.tries).toBe(0);
  embedder.immediate = "vectors";
  queue.wake();
  await until("embedded", () => items.vectors.has(1));
});

test("a delay never exceeds the limit, whatever a service asks for", () => {
  const item = { row: 1, saidSeq: 1, text: "", tries: 0 };
  expect(afterFailure(item, down(Infinity), 0)).toMatchObject({ state: "retry", dueMs: longestPauseMs });
});
