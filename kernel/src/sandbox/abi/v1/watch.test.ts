import { describe, expect, test } from "vitest";
import { Emitter } from "../../../base/emitter.ts";
import { ManualClock } from "../../../base/testing/manual-clock.ts";
import { abiBounds as bounds } from "./bounds.ts";
import type { RequestChange } from "./connection.ts";
import { type GuestWatch, type LimitBreach, type Usage, watchGuest } from "./watch.ts";

class Watched {
  readonly clock = new ManualClock();
  readonly usage = new Emitter<Usage>();
  readonly requests = new Emitter<RequestChange>();
  readonly breaches: LimitBreach[] = [];
  readonly exit = Promise.withResolvers<void>();
  readonly abandoned: unknown[] = [];
  openCalls = 0;
  pings = 0;
  /** The answer to `ping`; "never" leaves it unanswered. */
  pong: unknown = {};
  #cpu = 0;
  #id = 0;

  readonly watch: GuestWatch;

  constructor(maxCpuMs = 5000, maxWallMs = 30_000) {
    this.watch = watchGuest({
      connection: this,
      usage: this.usage,
      exited: this.exit.promise,
      limits: { maxCpuMs, maxWallMs },
      clock: this.clock,
      onLimit: (breach) => void this.breaches.push(breach),
    });
  }

  request(): Promise<unknown> {
    this.pings++;
    return this.pong === "never" ? new Promise(() => {}) : Promise.resolve(this.pong);
  }

  abandon(id: number, error: unknown): void {
    this.abandoned.push([id, error]);
    this.answered(id, "tool");
  }

  ask(method = "hook", call?: string): number {
    this.requests.emit({ kind: "sent", id: ++this.#id, method, ...(call === undefined ? {} : { call }) });
    return this.#id;
  }

  answered(id: number, method = "hook"): void {
    this.requests.emit({ kind: "answered", id, method });
  }

  async computes(ms: number, passedMs = ms, isComputing = true): Promise<void> {
    await this.clock.advanceAsync(passedMs);
    this.#cpu += ms;
    this.usage.emit({ cpuTimeMs: this.#cpu, memoryBytes: 0, isComputing });
  }

  get limits(): string[] {
    return this.breaches.map(({ limit }) => limit);
  }
}

describe("CPU", () => {
  test("a handler over its budget is reported as a breach once, with a sentence", async () => {
    const guest = new Watched(1000);
    guest.ask();
    await guest.computes(1000);
    expect(guest.breaches).toEqual([]);
    await guest.computes(25);
    await guest.computes(500);
    expect(guest.breaches).toEqual([
      {
        limit: "max_cpu_ms_per_event",
        value: 1000,
        sentence: "It computed for 1025 ms on an event; max_cpu_ms_per_event allows 1000 ms.",
      },
    ]);
  });

  test("each event has its own budget: many events below it are not a breach", async () => {
    const guest = new Watched(1000);
    for (let index = 0; index < 20; index++) {
      const id = guest.ask();
      await guest.computes(900);
      guest.answered(id);
    }
    expect(guest.breaches).toEqual([]);
  });

  test("a later request does not renew the oldest request's budget; the oldest one's answer starts the next one's", async () => {
    const guest = new Watched(1000);
    const first = guest.ask("tool");
    await guest.computes(600);
    guest.ask("tool");
    await guest.computes(300);
    guest.answered(first, "tool");
    await guest.computes(600);
    expect(guest.breaches).toEqual([]);
    await guest.computes(200);
    expect(guest.limits).toEqual(["max_cpu_ms_per_event"]);
  });

  test("a hook that was sent ahead starts when the previous one is answered, not when a later one is", async () => {
    const guest = new Watched(1000);
    const first = guest.ask();
    guest.ask();
    const third = guest.ask();
    await guest.computes(900);
    guest.answered(first);
    await guest.computes(900);
    expect(guest.breaches).toEqual([]);
    guest.answered(third);
    await guest.computes(200);
    expect(guest.limits).toEqual(["max_cpu_ms_per_event"]);
  });

  test("each checkpoint renews a job's budget; a job without checkpoints is terminated like an event", async () => {
    const guest = new Watched(1000);
    guest.ask("job");
    for (let index = 0; index < 10; index++) {
      await guest.computes(900);
      guest.watch.restartBudget();
    }
    expect(guest.breaches).toEqual([]);
    await guest.computes(1025);
    expect(guest.breaches).toMatchObject([
      { sentence: "It computed for 1025 ms on a job; max_cpu_ms_per_event allows 1000 ms." },
    ]);
  });

  test("the time of events and tool calls beside a job is not charged to it; the time between them is", async () => {
    const guest = new Watched(1000);
    guest.ask("job");
    for (const method of ["hook", "tool", "hook", "tool", "hook"]) {
      const id = guest.ask(method);
      await guest.computes(800);
      guest.answered(id, method);
    }
    await guest.computes(900);
    expect(guest.breaches).toEqual([]);
    await guest.computes(200);
    expect(guest.limits).toEqual(["max_cpu_ms_per_event"]);
  });

  test("in a sequential guest, an event that waited for a job starts when the job ends", async () => {
    const guest = new Watched(1000);
    const job = guest.ask("job");
    guest.ask("hook");
    await guest.computes(900);
    guest.answered(job, "job");
    await guest.computes(900);
    expect(guest.breaches).toEqual([]);
    await guest.computes(200);
    expect(guest.limits).toEqual(["max_cpu_ms_per_event"]);
  });

  test("computing without an open request is a breach; small amounts are not", async () => {
    const modest = new Watched(1000);
    for (let index = 0; index < 500; index++) await modest.computes(25, 300);
    expect(modest.breaches).toEqual([]);
    const greedy = new Watched(1000);
    for (let index = 0; index < 50; index++) await greedy.computes(25);
    expect(greedy.limits).toEqual(["max_cpu_ms_per_event"]);
  });

  test("a ping grants no budget", async () => {
    const guest = new Watched(1000);
    guest.ask("ping");
    for (let index = 0; index < 50; index++) await guest.computes(25);
    expect(guest.breaches[0]?.sentence).toContain("no request to handle");
  });
});

describe("waiting", () => {
  const wall = "max_wall_ms_per_event";

  test("a handler that waits for nothing is hung after its time limit, not before", async () => {
    const guest = new Watched();
    guest.ask();
    await guest.clock.advanceAsync(29_999);
    expect([guest.limits, guest.pings]).toEqual([[], 0]);
    await guest.clock.advanceAsync(1);
    expect(guest.limits).toEqual([wall]);
  });

  test.each<[string, (guest: Watched) => void]>([
    ["a host call", (guest) => (guest.openCalls = 1)],
    ["a timer", (guest) => (guest.pong = { pending_timers: 1 })],
  ])(
    "a handler that waits for %s is never hung; without it, it is hung at the next check",
    async (_name, give) => {
      const guest = new Watched();
      give(guest);
      guest.ask();
      await guest.clock.advanceAsync(300_000);
      expect(guest.limits).toEqual([]);
      guest.openCalls = 0;
      guest.pong = { pending_timers: 0 };
      await guest.clock.advanceAsync(30_000);
      expect(guest.limits).toEqual([wall]);
    },
  );

  test("a guest that does not answer ping is hung if its CPU is idle, but not while it computes", async () => {
    const idle = new Watched();
    idle.pong = "never";
    idle.ask();
    await idle.clock.advanceAsync(30_000 + bounds.pingTimeoutMs - 1);
    expect(idle.limits).toEqual([]);
    await idle.clock.advanceAsync(1);
    expect(idle.limits).toEqual([wall]);

    const busy = new Watched(100_000);
    busy.pong = "never";
    busy.ask();
    await busy.clock.advanceAsync(30_000);
    await busy.computes(500, 500);
    await busy.clock.advanceAsync(bounds.pingTimeoutMs);
    expect(busy.limits).toEqual([]);
  });

  test("a request that is answered in time, even during the ping, is not hung; an idle guest has no timer", async () => {
    const guest = new Watched();
    guest.pong = "never";
    const id = guest.ask();
    await guest.clock.advanceAsync(30_500);
    guest.answered(id);
    await guest.clock.advanceAsync(100_000);
    expect([guest.limits, guest.clock.pendingTimers]).toEqual([[], 0]);
  });

  test("a stream of quick events does not hide a hung one", async () => {
    const guest = new Watched();
    guest.ask();
    for (let index = 0; index < 60; index++) {
      guest.answered(guest.ask());
      await guest.clock.advanceAsync(1000);
    }
    expect(guest.limits).toEqual([wall]);
  });
});

describe("leaving", () => {
  test("staying after an answered shutdown is a breach; exiting in time is not, and leaves no timer", async () => {
    const stays = new Watched();
    stays.answered(stays.ask("shutdown"), "shutdown");
    await stays.clock.advanceAsync(bounds.shutdownGraceMs);
    expect(stays.breaches).toMatchObject([{ limit: "shutdown", value: bounds.shutdownGraceMs }]);

    const leaves = new Watched();
    leaves.answered(leaves.ask("shutdown"), "shutdown");
    leaves.exit.resolve();
    await leaves.clock.advanceAsync(60_000);
    expect([leaves.limits, leaves.clock.pendingTimers]).toEqual([[], 0]);
  });
});

describe("a tool", () => {
  const waiting = (): Watched => {
    const guest = new Watched();
    guest.pong = { pending_timers: 1 };
    return guest;
  };

  test.each([
    ["tool", "that"],
    ["action", "or a named action that"],
  ])("%s: %s only waits for its own timers is abandoned after its time limit", async (method) => {
    const guest = waiting();
    guest.ask("hook");
    const tool = guest.ask(method);
    await guest.clock.advanceAsync(bounds.maxIdleToolMs - 1);
    expect(guest.abandoned).toEqual([]);
    await guest.clock.advanceAsync(1);
    expect(guest.abandoned).toEqual([[tool, expect.objectContaining({ code: "AgentError" })]]);
    await guest.clock.advanceAsync(bounds.maxIdleToolMs * 2);
    expect([guest.abandoned.length, guest.breaches]).toEqual([1, []]);
  });

  test("that does not end after its call was cancelled is abandoned sooner, and its guest lives", async () => {
    const guest = waiting();
    const tool = guest.ask("tool", "call-1");
    guest.ask("tool", "call-2");
    await guest.clock.advanceAsync(1000);
    const told = guest.ask("cancelTool", "call-1");
    guest.answered(told, "cancelTool");
    await guest.clock.advanceAsync(bounds.cancelledToolMs - 1);
    expect(guest.abandoned).toEqual([]);
    await guest.clock.advanceAsync(1);
    expect(guest.abandoned).toEqual([[tool, expect.objectContaining({ code: "AgentError" })]]);
    expect(guest.breaches).toEqual([]);
  });

  test("whose agent computes or waits for a call gets another period, repeatedly", async () => {
    const guest = waiting();
    guest.ask("tool");
    guest.openCalls = 1;
    await guest.clock.advanceAsync(bounds.maxIdleToolMs);
    guest.openCalls = 0;
    await guest.computes(1, 0, true);
    await guest.clock.advanceAsync(bounds.maxIdleToolMs);
    await guest.computes(1, 0, false);
    expect(guest.abandoned).toEqual([]);
    await guest.clock.advanceAsync(bounds.maxIdleToolMs);
    expect(guest.abandoned).toHaveLength(1);
  });

  test("that only wakes up now and then does not count as working", async () => {
    const guest = waiting();
    guest.ask("tool");
    for (let index = 0; index < 60; index++) await guest.computes(10, bounds.maxIdleToolMs / 60, false);
    expect(guest.abandoned).toHaveLength(1);
  });

  test("that answered is not checked any more", async () => {
    const guest = waiting();
    const tool = guest.ask("tool");
    await guest.clock.advanceAsync(1000);
    guest.answered(tool, "tool");
    await guest.clock.advanceAsync(bounds.maxIdleToolMs * 2);
    expect(guest.abandoned).toEqual([]);
  });
});
