import { expect, test } from "vitest";
import { neverAborted } from "../base/abort.ts";
import { ManualClock } from "../base/testing/manual-clock.ts";
import { RequestPace } from "./request-pace.ts";

async function settled(): Promise<void> {
  for (let turn = 0; turn < 10; turn++) await Promise.resolve();
}

test("an agent may send many requests at once, and then a steady number", async () => {
  const clock = new ManualClock();
  const pace = new RequestPace(clock);
  let sent = 0;
  const take = (count: number, agent = "one"): void => {
    for (let n = 0; n < count; n++) void pace.turn(agent, neverAborted).then(() => sent++);
  };
  take(400);
  await settled();
  expect(sent).toBe(200);
  clock.advance(1000);
  await settled();
  expect(sent).toBe(300);
  // Another agent does not wait for the first one.
  take(10, "other");
  await settled();
  expect(sent).toBe(310);
  clock.advance(60_000);
  await settled();
  expect(sent).toBe(410);
});

test("a request that is cancelled while it waits ends", async () => {
  const pace = new RequestPace(new ManualClock());
  const aborter = new AbortController();
  const turns = Array.from({ length: 201 }, () => pace.turn("one", aborter.signal));
  aborter.abort();
  await expect(Promise.all(turns)).resolves.toHaveLength(201);
});
