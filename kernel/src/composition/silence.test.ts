import { expect, test } from "vitest";
import { ManualClock } from "../base/testing/manual-clock.ts";
import { SilenceWatch } from "./silence.ts";

function watched() {
  const clock = new ManualClock();
  const told: boolean[] = [];
  const pings: PromiseWithResolvers<unknown>[] = [];
  const watch = new SilenceWatch({
    clock,
    ping: () => {
      const ping = Promise.withResolvers<unknown>();
      pings.push(ping);
      return ping.promise;
    },
    tell: (isSilent) => told.push(isSilent),
  });
  return { clock, told, pings, watch };
}
/** Lets the promises settle. */
const settled = async (): Promise<void> => void (await new Promise((resolve) => setImmediate(resolve)));

test("a kernel that answers nothing for two seconds is silent, until it answers", async () => {
  const { clock, told, pings, watch } = watched();
  const request = Promise.withResolvers<number>();
  const answer = watch.during(request.promise);
  clock.advance(1_999);
  expect(told).toEqual([]);
  clock.advance(1);
  expect([pings.length, told]).toEqual([1, [true]]);
  request.resolve(7);
  expect(await answer).toBe(7);
  expect(told).toEqual([true, false]);
  clock.advance(60_000);
  expect([pings.length, told]).toEqual([1, [true, false]]);
});

test("a kernel that takes long for one request, and answers another, is not silent", async () => {
  const { clock, told, pings, watch } = watched();
  void watch.during(new Promise(() => undefined));
  for (let second = 0; second < 10; second++) {
    clock.advance(1_000);
    for (const ping of pings) ping.resolve(null);
    await settled();
  }
  expect(pings.length).toBeGreaterThan(3);
  expect(told).toEqual([]);
});

test("a request that fails is an answer, and nothing is told after the end", async () => {
  const { clock, told, watch } = watched();
  const failing = watch.during(Promise.reject(new Error("no")));
  await expect(failing).rejects.toThrow("no");
  clock.advance(10_000);
  void watch.during(new Promise(() => undefined));
  clock.advance(1_000);
  watch[Symbol.dispose]();
  clock.advance(10_000);
  await settled();
  expect(told).toEqual([]);
});
