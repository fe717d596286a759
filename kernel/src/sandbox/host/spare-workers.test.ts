import { beforeEach, describe, expect, test } from "vitest";
import { ManualClock } from "../../base/testing/manual-clock.ts";
import { SpareWorkers } from "./spare-workers.ts";

const bounds = { spareDelayMs: 100, maxSpareDelayMs: 1000, maxSpares: 3, spareReviewMs: 60_000 };

class Worker {
  isAlive = true;
  async end(): Promise<void> {
    this.isAlive = false;
  }
}

let clock: ManualClock;
let started: Worker[];
let spares: SpareWorkers<Worker>;
beforeEach(() => {
  clock = new ManualClock();
  started = [];
  spares = new SpareWorkers(
    clock,
    () => {
      const worker = new Worker();
      started.push(worker);
      return worker;
    },
    bounds,
  );
});

const take = (count: number): (Worker | null)[] => Array.from({ length: count }, () => spares.take());
const found = (count: number): number => take(count).filter((worker) => worker !== null).length;
/** Lets all that is missing be started. */
const refill = (): void => clock.advance(bounds.spareDelayMs * bounds.maxSpares);

describe("spare workers", () => {
  test("there is none before one is wanted, however many guests start", () => {
    expect(found(3)).toBe(0);
    refill();
    expect(started).toHaveLength(0);
  });

  test("one is kept, and a guest that takes it has it replaced after a pause", () => {
    spares.want();
    const [first] = take(1);
    expect(first).toBe(started[0]);
    clock.advance(bounds.spareDelayMs - 1);
    expect(started).toHaveLength(1);
    clock.advance(1);
    expect(started).toHaveLength(2);
    refill();
    expect(started).toHaveLength(2);
  });

  test("guests that met none raise their number, up to a bound; they are started one after the other", () => {
    spares.want();
    expect(found(2)).toBe(1);
    clock.advance(bounds.spareDelayMs);
    expect(started).toHaveLength(2);
    clock.advance(bounds.spareDelayMs);
    expect(started).toHaveLength(3);
    expect(found(20)).toBe(2);
    refill();
    refill();
    expect(found(20)).toBe(3);
  });

  test("one that was never needed for a while is ended, until one is left and nothing is watched any more", () => {
    spares.want();
    take(3);
    refill();
    const alive = (): number => started.filter(({ isAlive }) => isAlive).length - 1;
    expect(alive()).toBe(3);
    // The first period saw times in which none was ready.
    clock.advance(bounds.spareReviewMs);
    expect(alive()).toBe(3);
    clock.advance(bounds.spareReviewMs);
    expect(alive()).toBe(2);
    clock.advance(bounds.spareReviewMs);
    expect(alive()).toBe(1);
    clock.advance(10 * bounds.spareReviewMs);
    expect(alive()).toBe(1);
    expect(found(1)).toBe(1);
  });

  test("bursts that need all of them keep them", () => {
    spares.want();
    take(3);
    for (let minute = 0; minute < 5; minute++) {
      refill();
      expect(found(3)).toBe(3);
      refill();
      clock.advance(bounds.spareReviewMs);
    }
  });

  test("guests that compute delay the next one, but not for ever", () => {
    spares.want();
    take(1);
    for (let ms = 0; ms < 900; ms += 50) {
      clock.advance(50);
      spares.yield();
    }
    expect(started).toHaveLength(1);
    for (let ms = 0; ms < 300; ms += 50) {
      clock.advance(50);
      spares.yield();
    }
    expect(started).toHaveLength(2);
    // Without one that is missing, there is nothing to delay.
    spares.yield();
    refill();
    expect(started).toHaveLength(2);
  });

  test("one that died is not taken", () => {
    spares.want();
    started[0]!.isAlive = false;
    expect(take(1)).toEqual([null]);
    refill();
    expect(found(1)).toBe(1);
  });
});
