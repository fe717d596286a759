import { expect, test } from "vitest";
import { ManualClock } from "../../base/testing/manual-clock.ts";
import { ChildKeeper, type KeptChild } from "./child-keeper.ts";

class FakeChild implements KeptChild {
  readonly pid = 7;
  isAlive = true;
  isEnding = false;
  readonly #ended = Promise.withResolvers<string>();
  readonly ended = this.#ended.promise;

  async die(): Promise<void> {
    this.isAlive = false;
    this.#ended.resolve("died");
    await turn();
  }
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const restarts = { firstRestartDelayMs: 50, maxRestartDelayMs: 300, stableAfterMs: 10_000 };

function keep() {
  const clock = new ManualClock();
  const children: FakeChild[] = [];
  const deaths: number[] = [];
  const faults: Error[] = [];
  const keeper = new ChildKeeper<FakeChild>({
    clock,
    restarts,
    async start() {
      const fault = faults.shift();
      if (fault !== undefined) throw fault;
      const child = new FakeChild();
      children.push(child);
      return child;
    },
    end: (child) => child.die(),
    gone: (_child, _how, row) => deaths.push(row),
    closed: () => new Error("closed"),
  });
  /** Returns true if a child exists after this time, and did not a millisecond before. */
  const startsAfter = async (delayMs: number): Promise<boolean> => {
    const connecting = keeper.connect();
    await turn();
    const isEarly = delayMs > 0 && keeper.child !== null;
    await clock.advanceAsync(Math.max(0, delayMs - 1));
    await turn();
    const isStillEarly = delayMs > 0 && keeper.child !== null;
    await clock.advanceAsync(1);
    await connecting;
    return !isEarly && !isStillEarly;
  };
  return { keeper, clock, children, deaths, faults, startsAfter };
}

test("concurrent connections get the same child, started once", async () => {
  const { keeper, children } = keep();
  const all = await Promise.all([keeper.connect(), keeper.connect(), keeper.connect()]);
  expect([new Set(all).size, children.length, keeper.pid]).toEqual([1, 1, 7]);
});

test("a child that died is started again after pauses that grow to the longest", async () => {
  const { keeper, deaths, startsAfter } = keep();
  for (const delayMs of [0, 50, 100, 200, 300, 300]) {
    expect([delayMs, await startsAfter(delayMs)]).toEqual([delayMs, true]);
    await keeper.child?.die();
    expect(keeper.child).toBeNull();
  }
  expect(deaths).toEqual([1, 2, 3, 4, 5, 6]);
});

test("a failed start counts as a death, and the next call tries again", async () => {
  const { keeper, faults, startsAfter } = keep();
  faults.push(new Error("no"));
  await expect(keeper.connect()).rejects.toThrow("no");
  expect(await startsAfter(50)).toBe(true);
});

test("a child that lived long enough ends the row", async () => {
  const { keeper, clock, deaths, startsAfter } = keep();
  await startsAfter(0);
  await keeper.child?.die();
  await startsAfter(50);
  await clock.advanceAsync(restarts.stableAfterMs);
  await keeper.child?.die();
  expect([deaths, await startsAfter(50)]).toEqual([[1, 1], true]);
});

test("a child that was told to end is replaced without a delay", async () => {
  const { keeper, deaths, startsAfter } = keep();
  await startsAfter(0);
  const child = await keeper.connect();
  child.isEnding = true;
  await child.die();
  expect([deaths, await startsAfter(0)]).toEqual([[0], true]);
});

test("closing ends the child, a pause, and all that connect later", async () => {
  const { keeper, children, deaths, startsAfter } = keep();
  await startsAfter(0);
  await keeper.child?.die();
  const connecting = expect(keeper.connect()).rejects.toThrow("closed");
  await turn();
  await keeper[Symbol.asyncDispose]();
  await connecting;
  await expect(keeper.connect()).rejects.toThrow("closed");
  expect([children.length, deaths]).toEqual([1, [1]]);

  const other = keep();
  const child = await other.keeper.connect();
  await other.keeper[Symbol.asyncDispose]();
  expect([child.isAlive, other.deaths]).toEqual([false, []]);
});
