import { describe, expect, test } from "vitest";
import { LaresError } from "../../base/errors.ts";
import { ManualClock } from "../../base/testing/manual-clock.ts";
import { personAt } from "../../base/vocabulary/principal.ts";
import { DayCounts } from "../day-counts.ts";
import type { AgentBody, AgentDefinition, Caller } from "../ports.ts";
import { definitionOf, FakeGuest, FakeQueue } from "../testing/fake-guest.ts";
import { FakeJobs } from "../testing/fake-jobs.ts";
import { Supervisor } from "./supervisor.ts";

const bundle = `sha256:${"b".repeat(64)}` as const;
const withoutProgram = (change: Partial<AgentDefinition> = {}): AgentDefinition =>
  definitionOf({ body: "kernel", bundleDigest: bundle, hooks: [], tools: [], ...change });

/** An agent without a program, beside a sandbox in which `guests` are started; `places` were taken for them. */
function setUp(definition = withoutProgram(), change: Partial<AgentBody> | null = {}) {
  const clock = new ManualClock();
  const states: string[] = [];
  const guests: FakeGuest[] = [];
  const bodies: FakeGuest[] = [];
  const callers: Caller[] = [];
  const places: string[] = [];
  const queue = new FakeQueue(() => clock.now());
  const body: AgentBody = {
    takePlace: async () => ({ [Symbol.dispose]: () => undefined }),
    start: async (_definition, handlers) => {
      const session = new FakeGuest(handlers, (method) =>
        method === "tool" ? { status: "success", value: "done" } : {},
      );
      bodies.push(session);
      return session;
    },
    boot: async (_definition, _ask, heard) =>
      heard({ maxOpenHooks: 1, jobs: new Set(["work"]), tasks: new Set(), cancelsTools: true }),
    end: (session) => session.kill(),
    ...change,
  };
  const supervisor = new Supervisor({
    definition,
    clock,
    idleUnloadMs: () => 300_000,
    ports: {
      queue,
      dayCounts: new DayCounts(clock),
      jobs: new FakeJobs(() => clock.now()),
      jobProgress: () => undefined,
      traces: { write: () => undefined },
      startGuest: async (_definition, handlers) => {
        const guest = new FakeGuest(handlers, (method) =>
          method === "initialize" ? { handlers: [], tools: [], jobs: [] } : {},
        );
        guests.push(guest);
        return guest;
      },
      ...(change === null ? {} : { kernelBody: () => body }),
      authorityOf: () => null,
      readHostCall: (_method, params) => ({ params, answer: async (caller) => void callers.push(caller) }),
      memoryFigures: () => ({ temporalEvents: 0, knowledgeItems: 0, sizeBytes: 0 }),
      openMemory: async () => undefined,
      isEntry: () => false,
      hides: () => false,
      acquireSlot: async (agent) => {
        places.push(agent);
        return { [Symbol.dispose]: () => undefined };
      },
      takeTurn: async () => undefined,
      ran: () => undefined,
      suspension: () => null,
    },
  });
  supervisor.changed.on(({ state }) => {
    if (states.at(-1) !== state) states.push(state);
  });
  supervisor.start();
  const settle = (ms = 0): Promise<void> => clock.advanceAsync(ms);
  return {
    supervisor,
    states,
    guests,
    bodies,
    callers,
    places,
    queue,
    settle,
    async control(command: Parameters<Supervisor["control"]>[1]) {
      const controlled = supervisor.control(personAt(), command);
      await settle();
      return controlled;
    },
  };
}

describe("an agent without a program", () => {
  test("has the lifecycle of any agent, and no guest in the sandbox", async () => {
    const world = setUp(withoutProgram({ activation: "eager" }));
    await world.settle();
    expect(world.supervisor.describe()).toMatchObject({ id: "dev.test.agent", state: "Active" });
    expect((await world.control("suspend")).state).toBe("Suspended");
    expect((await world.control("resume")).state).toBe("Active");
    expect((await world.control("disable")).state).toBe("Unloaded");
    expect(world.states).toEqual([
      "Initializing",
      "Active",
      "ShuttingDown",
      "Suspended",
      "Initializing",
      "Active",
      "ShuttingDown",
      "Unloaded",
    ]);
    expect([world.guests, world.places]).toEqual([[], []]);
    expect(world.bodies.map(({ isGone }) => isGone)).toEqual([true, true]);
    await world.supervisor[Symbol.asyncDispose]();
  });

  test("is woken by an event and by a call of its tool, and asked as a guest is", async () => {
    const world = setUp(withoutProgram({ hooks: definitionOf().hooks, tools: definitionOf().tools }));
    expect(world.supervisor.state).toBe("Unloaded");
    const called = world.supervisor.callTool("count", {}, personAt());
    await world.settle();
    expect(await called).toEqual({ status: "success", value: "done" });
    world.queue.push("seen");
    world.supervisor.pump();
    await world.settle();
    expect(world.bodies.flatMap(({ asked }) => asked.map(({ method }) => method))).toEqual(["tool", "hook"]);
    expect(world.queue.acknowledged).toEqual([1]);
    await world.supervisor[Symbol.asyncDispose]();
  });

  test("makes host calls in its own name, by the digest of its bundle", async () => {
    const world = setUp(withoutProgram({ activation: "eager" }));
    await world.settle();
    await world.bodies[0]?.handlers.call("vdfs/query", {});
    expect(world.callers).toMatchObject([{ agent: "dev.test.agent", bundleDigest: bundle }]);
    await world.supervisor[Symbol.asyncDispose]();
  });

  test("terminal state: an agent that cannot run is Error, with the reason", async () => {
    const fails = async (): Promise<never> => {
      throw new LaresError("InvalidDocument", "The prompt is missing.");
    };
    for (const change of [{ start: fails }, { boot: fails }]) {
      const world = setUp(withoutProgram({ activation: "eager" }), change);
      await world.settle();
      expect(world.supervisor.describe()).toMatchObject({ state: "Error", error: "The prompt is missing." });
      await world.supervisor[Symbol.asyncDispose]();
    }
  });

  test("terminal state: a kernel that runs no agent without a program says so", async () => {
    const world = setUp(withoutProgram({ activation: "eager" }), null);
    await world.settle();
    expect(world.supervisor.describe()).toMatchObject({
      state: "Error",
      error: "dev.test.agent has no program, and this kernel runs no agent without one.",
    });
    await world.supervisor[Symbol.asyncDispose]();
  });

  test("terminal state: an agent that ends by itself is Unloaded, and restarted after a delay", async () => {
    const world = setUp(withoutProgram({ activation: "eager" }));
    await world.settle();
    world.bodies[0]?.die("gone");
    await world.settle();
    expect(world.supervisor.state).toBe("Unloaded");
    await world.settle(60_000);
    expect([world.supervisor.state, world.bodies.length]).toEqual(["Active", 2]);
    await world.supervisor[Symbol.asyncDispose]();
  });

  test("race: suspended while it starts, it is ended when it has started", async () => {
    const begin = Promise.withResolvers<void>();
    const world = setUp(withoutProgram({ activation: "eager" }), {
      takePlace: async () => {
        await begin.promise;
        return { [Symbol.dispose]: () => undefined };
      },
    });
    await world.settle();
    const suspended = world.supervisor.control(personAt(), "suspend");
    begin.resolve();
    await world.settle(15_000);
    expect((await suspended).state).toBe("Suspended");
    expect(world.bodies).toEqual([]);
    await world.supervisor[Symbol.asyncDispose]();
  });

  test("race: a program that it gets while it runs is started once its old body is gone", async () => {
    const world = setUp(withoutProgram({ activation: "eager" }));
    await world.settle();
    await world.supervisor.update(definitionOf({ hooks: [], tools: [] }));
    await world.settle();
    expect(world.bodies.map(({ isGone }) => isGone)).toEqual([true]);
    expect([world.supervisor.state, world.guests.length]).toEqual(["Active", 1]);
    await world.supervisor.update(withoutProgram());
    await world.settle(3000);
    expect([world.guests[0]?.isGone, world.bodies.length, world.supervisor.state]).toEqual([
      true,
      2,
      "Active",
    ]);
    await world.supervisor[Symbol.asyncDispose]();
  });
});
