import { describe, expect, it } from "vitest";
import { ManualClock } from "./testing/manual-clock.ts";
import { FairTurns, turnMs } from "./fair-turns.ts";

/** Calls that each cost a time, and turns of the loop that the test takes. */
function setUp() {
  const clock = new ManualClock();
  const next: (() => void)[] = [];
  const turns = new FairTurns(clock, (run) => void next.push(run));
  const begun: string[] = [];
  return {
    begun,
    call: (agent: string, costMs: number) =>
      turns.take(agent).then(() => {
        begun.push(agent);
        clock.advance(costMs);
      }),
    settle: async () => {
      for (let step = 0; step < 100; step++) await Promise.resolve();
    },
    async turn() {
      for (const run of next.splice(0)) run();
      await this.settle();
    },
    get isAtRest() {
      return next.length === 0;
    },
  };
}

describe("turns", () => {
  it("while a turn has time left, calls of all agents begin at once", async () => {
    const world = setUp();
    for (const agent of ["a", "b", "a"]) void world.call(agent, 0);
    await world.settle();
    expect(world.begun).toEqual(["a", "b", "a"]);
  });

  it("an agent that fills the turns delays another one's call by one of its own, not by all that wait", async () => {
    const world = setUp();
    for (let count = 0; count < 50; count++) {
      void world.call("greedy", turnMs);
      await world.settle();
    }
    expect(world.begun).toEqual(["greedy"]);
    void world.call("modest", 0);
    await world.turn();
    await world.turn();
    expect(world.begun.slice(1, 3)).toContain("modest");
    for (let count = 0; count < 60; count++) await world.turn();
    expect(world.begun.filter((agent) => agent === "greedy")).toHaveLength(50);
  });

  it("waiting agents take turns, each with its calls in order, and none is left over", async () => {
    const world = setUp();
    void world.call("first", turnMs);
    await world.settle();
    const calls = ["a", "a", "a", "b", "c", "c"];
    for (const agent of calls) void world.call(agent, turnMs / 2);
    for (let count = 0; count < 5; count++) await world.turn();
    expect(world.begun).toEqual(["first", "a", "b", "c", "a", "c", "a"]);
    await world.turn();
    expect(world.isAtRest).toBe(true);
  });

  it("a call that arrives while others wait goes behind them, also if there is time again", async () => {
    const world = setUp();
    void world.call("a", turnMs);
    await world.settle();
    void world.call("a", 0);
    void world.call("b", 0);
    await world.settle();
    expect(world.begun).toEqual(["a"]);
    await world.turn();
    expect(world.begun).toEqual(["a", "a", "b"]);
  });
});
