import { expect, test } from "vitest";
import { silentLog } from "../base/log.ts";
import { ManualClock } from "../base/testing/manual-clock.ts";
import { Upkeep } from "./upkeep.ts";

function fixture(fails = false) {
  const clock = new ManualClock();
  const done: string[] = [];
  const warned: string[] = [];
  const state = { stored: 0, gate: Promise.resolve(), isUnfinished: false };
  const work = (name: string) => async () => {
    done.push(name);
    await state.gate;
    if (fails) throw new Error("no");
    return { isUnfinished: state.isUnfinished };
  };
  const upkeep = new Upkeep({
    clock,
    log: { ...silentLog, warn: (message) => void warned.push(message) },
    stored: () => state.stored,
    maintain: work("maintain"),
    project: work("project"),
  });
  return { clock, done, state, upkeep, warned };
}
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test("nothing is done for an unused memory", async () => {
  const { clock, done, upkeep } = fixture();
  clock.advance(24 * 60 * 60 * 1000);
  upkeep.grown();
  upkeep[Symbol.dispose]();
  expect(done).toEqual([]);
});

test("a queried memory is maintained once, a minute later, and after another query again ten minutes later", async () => {
  const { clock, done, upkeep } = fixture();
  upkeep.asked();
  upkeep.asked();
  clock.advance(60 * 1000);
  await turn();
  clock.advance(60 * 60 * 1000);
  await turn();
  expect(done).toEqual(["maintain"]);
  upkeep.asked();
  clock.advance(10 * 60 * 1000 - 1);
  await turn();
  expect(done).toEqual(["maintain"]);
  clock.advance(1);
  await turn();
  expect(done).toEqual(["maintain", "maintain"]);
  upkeep[Symbol.dispose]();
});

test("a thousand writes start maintenance at once; projections follow every five thousand", async () => {
  const { done, state, upkeep } = fixture();
  for (let n = 0; n < 1000; n++) upkeep.wrote();
  await turn();
  expect(done).toEqual(["maintain"]);
  for (state.stored = 1; state.stored <= 12_000; state.stored++) {
    upkeep.grown();
    if (state.stored % 100 === 0) await turn();
  }
  expect(done).toEqual(["maintain", "project", "project"]);
  upkeep[Symbol.dispose]();
});

test("closing does not wait for running work or report its result, and nothing begins after it", async () => {
  const { clock, done, state, upkeep, warned } = fixture(true);
  const { promise, resolve } = Promise.withResolvers<void>();
  state.gate = promise;
  upkeep.asked();
  clock.advance(10 * 60 * 1000);
  upkeep[Symbol.dispose]();
  resolve();
  await turn();
  upkeep.asked();
  clock.advance(10 * 60 * 1000);
  await turn();
  expect(done).toEqual(["maintain"]);
  expect(warned).toEqual([]);
});

test("a failure is reported, and retried after the next use", async () => {
  const { clock, done, upkeep, warned } = fixture(true);
  for (let round = 0; round < 2; round++) {
    upkeep.asked();
    clock.advance(10 * 60 * 1000);
    await turn();
  }
  expect(done).toEqual(["maintain", "maintain"]);
  expect(warned).toHaveLength(2);
  upkeep[Symbol.dispose]();
});

test("unfinished maintenance is repeated without use, every ten minutes, a limited number of times", async () => {
  const { clock, done, state, upkeep } = fixture();
  const pass = async (ms: number): Promise<number> => {
    clock.advance(ms);
    await turn();
    return done.length;
  };
  state.isUnfinished = true;
  upkeep.asked();
  expect(await pass(60 * 1000)).toBe(1);
  expect(await pass(10 * 60 * 1000 - 1)).toBe(1);
  expect(await pass(1)).toBe(2);
  for (let hour = 0; hour < 24; hour++) for (let tenth = 0; tenth < 6; tenth++) await pass(10 * 60 * 1000);
  expect(done).toHaveLength(7);
  // When it is used, it counts as at first; when it is finished, it rests.
  upkeep.asked();
  expect(await pass(10 * 60 * 1000)).toBe(8);
  state.isUnfinished = false;
  expect(await pass(10 * 60 * 1000)).toBe(9);
  expect(await pass(60 * 60 * 1000)).toBe(9);
  upkeep[Symbol.dispose]();
});
