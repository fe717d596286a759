import fc from "fast-check";
import { neverAborted } from "../../base/abort.ts";
import { describe, expect, it, test } from "vitest";
import { unlimitedCpu } from "../../base/cpu-budget.ts";
import { LaresError } from "../../base/errors.ts";
import { ManualClock } from "../../base/testing/manual-clock.ts";
import { deliveryAttempts } from "../backoff.ts";
import { DeliveryLoop, putBackRetryMs } from "./delivery.ts";
import { MetricsRecorder } from "../metrics.ts";
import type { DeliveryPayload, AgentSession } from "../ports.ts";
import { FakeQueue } from "../testing/fake-guest.ts";
import { aheadMs, DeliveryWindow, maxOpenHooks } from "./window.ts";

interface Asked {
  readonly event: string;
  readonly answer: (error?: unknown) => void;
}

/** An agent whose answers the test gives. */
class World {
  readonly clock = new ManualClock();
  readonly queue = new FakeQueue(() => this.clock.now());
  readonly metrics = new MetricsRecorder();
  readonly traces: string[] = [];
  readonly failures: string[] = [];
  readonly ran: [schedule: string, error: string | null][] = [];
  /** What the guest was handed and did not answer, in order. */
  open: Asked[] = [];
  readonly asked: string[] = [];
  limit = maxOpenHooks;
  session: AgentSession | null = newSession();
  /** The agent may no longer receive any event. */
  isDeaf = false;
  /** The texts of which the guest was told before it got an event. */
  readonly heard: unknown[] = [];
  isEndedOnPurpose = false;
  readonly loop: DeliveryLoop;

  constructor() {
    this.loop = new DeliveryLoop({
      queue: this.queue,
      clock: this.clock,
      metrics: this.metrics,
      ratePerSecond: 1_000_000,
      stopped: undefined,
      agent: {
        id: "dev.test.agent",
        canDeliver: () => this.session !== null,
        session: () => this.session,
        maxOpenHooks: () => this.limit,
        wake: () => {},
        ask: (_session, _method, params) =>
          new Promise((resolve, reject) => {
            const event = (params as DeliveryPayload).event.id;
            this.asked.push(event);
            const asked: Asked = {
              event,
              answer: (error) => {
                this.open = this.open.filter((one) => one !== asked);
                if (error === undefined) resolve({});
                else reject(error);
              },
            };
            this.open.push(asked);
          }),
        wasEndedOnPurpose: () => this.isEndedOnPurpose,
        hear: (foreign) => this.heard.push(foreign),
        asHeard: (event) => (this.isDeaf ? null : event),
        answered: () => {},
        succeeded: () => {},
        ran: (schedule, error) => void this.ran.push([schedule, error]),
        failed: (reason) => void this.failures.push(reason),
        trace: (_level, message) => void this.traces.push(message),
        rest: () => {},
      },
    });
  }

  push(count: number): void {
    for (let index = 0; index < count; index++) this.queue.push("seen");
    this.loop.pump();
  }

  settle(ms = 0): Promise<void> {
    return this.clock.advanceAsync(ms);
  }

  /** The oldest event is answered after `tookMs`. */
  async answer(tookMs = 0, error?: unknown): Promise<void> {
    await this.settle(tookMs);
    this.open[0]?.answer(error);
    await this.settle();
  }

  /** The guest ends under what it has in hand; another one comes. */
  async lose(): Promise<void> {
    for (const { answer } of this.open) answer(new LaresError("AgentError", "The guest ended.", {}));
    this.session = null;
    await this.settle();
    this.session = newSession();
    this.loop.pump();
    await this.settle();
  }

  get inHand(): string[] {
    return this.open.map(({ event }) => event);
  }
}

function newSession(): AgentSession {
  return {
    request: () => Promise.resolve(null),
    usage: { on: () => ({ [Symbol.dispose]: () => {} }) },
    ended: new Promise(() => {}),
    gone: neverAborted,
    restartBudget: () => undefined,
    cpu: unlimitedCpu,
    kill: async () => {},
  };
}

const events = (from: number, to: number): string[] =>
  Array.from({ length: to - from + 1 }, (_, index) => `event-${from + index}`);

test("a guest that is handed an event with foreign texts has read them before; one without leaves it as it is", async () => {
  const world = new World();
  world.queue.push("seen");
  world.queue.push("seen", "a.b/Said", { "agent:web": "all" });
  world.loop.pump();
  await world.settle();
  expect([world.asked.length, world.heard]).toEqual([1, []]);
  await world.answer();
  expect([world.asked.length, world.heard]).toEqual([2, [{ "agent:web": "all" }]]);
});

test("a schedule's run counts for the schedule alone: done, failed, and given up after the guest ended each time", async () => {
  const world = new World();
  const event = { id: "tick", name: "ScheduleFired", timestamp: "2026-11-20T12:00:00.000Z" };
  const run = (seq: number) => ({
    seq,
    attempts: 0,
    dueAt: 0,
    payload: { handler: "tick", event, schedule: "tick (@daily, UTC)", runOf: "the schedule" },
  });
  world.queue.items.push(run(101), run(102), run(103));
  world.loop.pump();
  await world.settle();
  await world.answer();
  await world.answer(0, new Error("no"));
  expect(world.ran).toEqual([
    ["the schedule", null],
    ["the schedule", "no"],
  ]);
  while (world.queue.buried.length === 0) {
    await world.lose();
    await world.settle(60_000);
    world.loop.pump();
    await world.settle();
  }
  expect(world.ran.slice(2)).toEqual([["the schedule", "The guest ended."]]);
  expect(world.failures).toEqual([]);
});

describe("the window", () => {
  it.each([
    ["nothing is known yet", [], maxOpenHooks, 1],
    ["the handler takes no time", [0], maxOpenHooks, maxOpenHooks],
    ["it takes a quarter of what is handed over ahead", [aheadMs / 4], maxOpenHooks, 4],
    ["it takes as long as that", [aheadMs], maxOpenHooks, 1],
    ["it takes longer", [1000], maxOpenHooks, 1],
    ["the guest takes no more than three", [0], 3, 3],
    ["the guest says it takes thousands", [0], 10_000, maxOpenHooks],
  ])("%s", (_case, times, limit, size) => {
    const window = new DeliveryWindow();
    for (const time of times) window.handled(time);
    expect(window.size(limit)).toBe(size);
  });

  it("is one again after a loss, and narrows when the handler becomes slow", () => {
    const window = new DeliveryWindow();
    window.handled(0.1);
    window.lost();
    expect(window.size(maxOpenHooks)).toBe(1);
    window.handled(0.1);
    for (let count = 0; count < 20; count++) window.handled(50);
    expect(window.size(maxOpenHooks)).toBe(1);
  });
});

describe("handing over ahead", () => {
  it("the first event is sent alone; if it was quick, the next ones are sent before their answers, in order", async () => {
    const world = new World();
    world.push(40);
    await world.settle();
    expect(world.inHand).toEqual(["event-1"]);
    await world.answer();
    expect(world.inHand).toEqual(events(2, 1 + maxOpenHooks));
    while (world.open.length > 0) await world.answer();
    expect(world.asked).toEqual(events(1, 40));
    expect(world.queue.acknowledged).toEqual(Array.from({ length: 40 }, (_, index) => index + 1));
  });

  it("a slow handler, and a guest that did not say that it takes more, get them one by one", async () => {
    const slow = new World();
    slow.push(5);
    await slow.settle();
    await slow.answer(aheadMs * 2);
    expect(slow.inHand).toEqual(["event-2"]);
    const plain = new World();
    plain.limit = 1;
    plain.push(5);
    await plain.settle();
    await plain.answer();
    expect(plain.inHand).toEqual(["event-2"]);
  });

  it("the latency of each event excludes its wait behind others", async () => {
    const world = new World();
    world.push(4);
    await world.settle();
    await world.answer(1);
    await world.answer(2);
    await world.answer(3);
    await world.answer(4);
    const { avg_event_latency_ms, p99_event_latency_ms } = world.metrics.snapshot(
      { temporalEvents: 0, knowledgeItems: 0, sizeBytes: 0 },
      0,
    );
    expect({ avg_event_latency_ms, p99_event_latency_ms }).toEqual({
      avg_event_latency_ms: 2.5,
      p99_event_latency_ms: 4,
    });
  });

  it("the guest's output belongs to its first unanswered event", async () => {
    const world = new World();
    world.push(3);
    await world.settle();
    await world.answer();
    expect(world.loop.inHand).toEqual({ hook: "seen", traceId: "event-2" });
    await world.answer();
    expect(world.loop.inHand).toEqual({ hook: "seen", traceId: "event-3" });
    await world.answer();
    expect(world.loop.inHand).toEqual({});
  });

  it("an error that may pass puts that event back; those in hand behind it are answered, those not handed over wait for it", async () => {
    const world = new World();
    world.limit = 3;
    world.push(6);
    await world.settle();
    await world.answer();
    expect(world.inHand).toEqual(events(2, 4));
    await world.answer(0, new LaresError("Busy", "later"));
    while (world.open.length > 0) await world.answer();
    expect(world.asked).toEqual(events(1, 4));
    await world.settle(60_000);
    world.loop.pump();
    await world.settle();
    while (world.open.length > 0) await world.answer();
    expect(world.asked).toEqual([...events(1, 4), "event-2", "event-5", "event-6"]);
  });
});

it("a queue that cannot take a delivery back, for the disk is full, is asked again after a pause and not before", async () => {
  const world = new World();
  world.queue.retryLater = () => Promise.reject(new LaresError("StorageError", "full"));
  world.push(1);
  await world.settle();
  await world.answer(0, new LaresError("Busy", "later"));
  await world.settle(putBackRetryMs - 1);
  expect(world.asked).toEqual(["event-1"]);
  await world.settle(1);
  world.loop.pump();
  await world.settle();
  expect(world.asked).toEqual(["event-1", "event-1"]);
});

describe("a guest that ends with several in hand", () => {
  it("only the event it had begun counts as an attempt; all are redelivered, the first one alone", async () => {
    const world = new World();
    world.push(8);
    await world.settle();
    await world.answer();
    expect(world.inHand).toEqual(events(2, 8));
    await world.lose();
    expect(world.inHand).toEqual([]);
    expect(world.queue.items.map(({ attempts }) => attempts)).toEqual([1, 0, 0, 0, 0, 0, 0]);
    await world.settle(60_000);
    world.loop.pump();
    await world.settle();
    expect(world.inHand).toEqual(["event-2"]);
    await world.answer();
    expect(world.inHand).toEqual(events(3, 8));
  });

  it("the event that brings it down each time is set aside, and no other is", async () => {
    const world = new World();
    world.push(20);
    await world.settle();
    const poison = "event-7";
    for (let step = 0; step < 500 && (world.open.length > 0 || world.queue.items.length > 0); step++) {
      if (world.open[0]?.event === poison) await world.lose();
      else await world.answer();
      if (world.open.length === 0) await world.settle(60_000);
      world.loop.pump();
      await world.settle();
    }
    expect(world.queue.buried.map(({ seq }) => seq)).toEqual([7]);
    expect(world.queue.acknowledged.toSorted((a, b) => a - b)).toEqual(
      Array.from({ length: 20 }, (_, index) => index + 1).filter((seq) => seq !== 7),
    );
    expect(world.asked.filter((event) => event === poison)).toHaveLength(deliveryAttempts);
  });

  it("ended on purpose: nothing counts as an attempt, everything is redelivered", async () => {
    const world = new World();
    world.push(4);
    await world.settle();
    await world.answer();
    world.isEndedOnPurpose = true;
    await world.lose();
    expect(world.queue.items.map(({ attempts }) => attempts)).toEqual([0, 0, 0]);
    expect(world.inHand).toEqual(["event-2"]);
    expect(world.queue.buried).toEqual([]);
  });

  it("its end is known before its state shows it: it gets no more events", async () => {
    const world = new World();
    world.push(3);
    await world.settle();
    const asked = world.asked.length;
    world.isEndedOnPurpose = true;
    world.open[0]?.answer(new LaresError("AgentError", "The guest ended.", {}));
    await world.settle();
    expect(world.asked).toHaveLength(asked);
  });
});

it("with answers, failures, returns and losses in any order, no event is in hand twice and none is lost", async () => {
  const step = fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({ kind: fc.constant("answer" as const), at: fc.nat(15), ms: fc.nat(3) }),
    },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant("fail" as const), at: fc.nat(15) }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant("busy" as const), at: fc.nat(15) }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant("lose" as const) }) },
    {
      weight: 2,
      arbitrary: fc.record({ kind: fc.constant("push" as const), count: fc.integer({ min: 1, max: 5 }) }),
    },
  );
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { maxLength: 60 }),
      fc.integer({ min: 1, max: 20 }),
      async (steps, limit) => {
        const world = new World();
        world.limit = limit;
        world.push(3);
        await world.settle();
        for (const one of steps) {
          if (one.kind === "push") world.push(one.count);
          else if (one.kind === "lose") await world.lose();
          else {
            if (one.kind === "answer") await world.settle(one.ms);
            const error = { answer: undefined, fail: new Error("no"), busy: new LaresError("Busy", "later") }[
              one.kind
            ];
            world.open[one.at % Math.max(1, world.open.length)]?.answer(error);
          }
          await world.settle();
          expect(new Set(world.inHand).size).toBe(world.inHand.length);
          expect(world.inHand.length).toBeLessThanOrEqual(Math.min(limit, maxOpenHooks));
        }
        for (let round = 0; round < 500 && world.queue.items.length > 0; round++) {
          if (world.open.length > 0) await world.answer();
          else await world.settle(60_000);
          world.loop.pump();
          await world.settle();
        }
        const ended = [...world.queue.acknowledged, ...world.queue.buried.map(({ seq }) => seq)];
        expect(ended.toSorted((a, b) => a - b)).toEqual(
          Array.from({ length: world.queue.pushed }, (_, at) => at + 1),
        );
      },
    ),
    { numRuns: 200 },
  );
});

it("a queued event is not delivered once the agent may no longer receive it", async () => {
  const bed = new World();
  bed.isDeaf = true;
  bed.push(3);
  await bed.settle();
  expect(bed.asked).toEqual([]);
  expect(bed.queue.items).toEqual([]);
  bed.isDeaf = false;
  bed.push(1);
  await bed.settle();
  expect(bed.asked).toEqual(["event-4"]);
});
