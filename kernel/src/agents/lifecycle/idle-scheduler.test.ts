import { expect, test } from "vitest";
import { ManualClock } from "../../base/testing/manual-clock.ts";
import { IdleScheduler, quietMs } from "./idle-scheduler.ts";

function setUp() {
  const clock = new ManualClock();
  const state = {
    clock,
    quietSince: clock.monotonic() as number | null,
    started: [] as string[],
    dueAt: { a: 0, b: null } as Record<string, number | null>,
  };
  const agents = (["a", "b"] as const).map((name) => ({
    idleJobDueAt: () => state.dueAt[name] ?? null,
    startIdleJob: () => {
      state.started.push(name);
      state.dueAt[name] = null;
      state.quietSince = null; // it has something to do now
    },
  }));
  const quiet = new IdleScheduler({ clock, agents: () => agents, quietSince: () => state.quietSince });
  return { ...state, state, quiet };
}

test("a job begins when nothing happened for a while; activity meanwhile delays it", () => {
  const { state, quiet, clock } = setUp();
  quiet.look();
  clock.advance(quietMs - 1);
  state.quietSince = clock.monotonic();
  quiet.look();
  clock.advance(1);
  expect(state.started).toEqual([]);
  clock.advance(quietMs - 1);
  expect(state.started).toEqual(["a"]);
});

test("while something is under way no timer runs, and the next rest looks again", () => {
  const { state, quiet, clock } = setUp();
  state.quietSince = null;
  quiet.look();
  clock.advance(10 * quietMs);
  expect(state.started).toEqual([]);
  state.quietSince = clock.monotonic() - 2 * quietMs;
  quiet.look();
  expect(state.started).toEqual(["a"]);
});

test("one after the other: the second begins when the first has ended and it was quiet again", () => {
  const { state, quiet, clock } = setUp();
  state.dueAt["b"] = 0;
  clock.advance(quietMs);
  quiet.look();
  expect(state.started).toEqual(["a"]);
  clock.advance(10 * quietMs);
  expect(state.started).toEqual(["a"]);
  state.quietSince = clock.monotonic();
  quiet.look();
  clock.advance(quietMs);
  expect(state.started).toEqual(["a", "b"]);
});

test("a job that is due later begins then; nothing begins if none waits, or after the end", () => {
  const { state, quiet, clock } = setUp();
  state.dueAt["a"] = clock.now() + 5 * quietMs;
  quiet.look();
  clock.advance(5 * quietMs - 1);
  expect(state.started).toEqual([]);
  clock.advance(1);
  expect(state.started).toEqual(["a"]);
  state.quietSince = clock.monotonic();
  quiet.look();
  state.dueAt["b"] = 0;
  quiet.look();
  quiet[Symbol.dispose]();
  clock.advance(10 * quietMs);
  expect(state.started).toEqual(["a"]);
});

test("a job that is due much later delays no earlier one that arrives meanwhile", () => {
  const { state, quiet, clock } = setUp();
  state.dueAt["a"] = clock.now() + 3_600_000;
  quiet.look();
  state.dueAt["b"] = 0;
  quiet.look();
  clock.advance(quietMs);
  expect(state.started).toEqual(["b"]);
  expect(clock.pendingTimers).toBe(0);
});
