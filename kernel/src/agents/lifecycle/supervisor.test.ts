import { DayCounts } from "../day-counts.ts";
import { describe, expect, it } from "vitest";
import { LaresError } from "../../base/errors.ts";
import { ManualClock } from "../../base/testing/manual-clock.ts";
import { personAt } from "../../base/vocabulary/principal.ts";
import { firstPauseMs } from "./breaker.ts";
import type { AgentDefinition } from "../ports.ts";
import { AgentSlots } from "../slots.ts";
import { Supervisor } from "./supervisor.ts";
import { shutdownTimeoutMs } from "./boot.ts";
import { definitionOf, FakeGuest, FakeQueue, type Behaviour } from "../testing/fake-guest.ts";
import { FakeJobs } from "../testing/fake-jobs.ts";

const ready: Behaviour = (method, _params, guest) => {
  if (method === "shutdown") queueMicrotask(() => guest.die("exited"));
  return method === "initialize"
    ? { handlers: ["seen"], tools: ["count"], jobs: [] }
    : { status: "success", value: method };
};

function setUp(behaviour: Behaviour = ready, change: Partial<AgentDefinition> = {}) {
  const clock = new ManualClock();
  const queue = new FakeQueue(() => clock.now());
  const guests: FakeGuest[] = [];
  const slots = new AgentSlots(16, () => undefined);
  const traces: string[] = [];
  const levels: string[] = [];
  let startError: unknown = null;
  const supervisor = new Supervisor({
    definition: definitionOf(change),
    clock,
    idleUnloadMs: () => 300_000,
    ports: {
      queue,
      dayCounts: new DayCounts(clock),
      jobs: new FakeJobs(() => clock.now()),
      jobProgress: () => undefined,
      traces: {
        write: ({ level, message }) => {
          traces.push(message);
          levels.push(level);
        },
      },
      startGuest: async (_definition, handlers) => {
        if (startError !== null) throw startError;
        const guest = new FakeGuest(handlers, behaviour);
        guests.push(guest);
        return guest;
      },
      authorityOf: () => null,
      readHostCall: (_method, params) => ({ params, answer: async () => ({ count: 7 }) }),
      memoryFigures: () => ({ temporalEvents: 0, knowledgeItems: 0, sizeBytes: 0 }),
      openMemory: async () => undefined,
      isEntry: () => false,
      hides: () => false,
      acquireSlot: () => slots.acquire(),
      takeTurn: async () => undefined,
      ran: () => undefined,
      suspension: () => null,
    },
  });
  return {
    supervisor,
    clock,
    queue,
    guests,
    slots,
    traces,
    levels,
    failStartsWith: (error: unknown) => void (startError = error),
    /** Lets everything that is under way come to rest. */
    settle: (ms = 0) => clock.advanceAsync(ms),
    methods: () => guests.flatMap((guest) => guest.asked.map(({ method }) => method)),
  };
}

describe("waking and delivering", () => {
  it("sleeps until the first event, then starts, handles it, and acknowledges it", async () => {
    const world = setUp();
    world.supervisor.start();
    await world.settle();
    expect(world.supervisor.state).toBe("Unloaded");
    world.queue.push("seen");
    world.supervisor.pump();
    await world.settle();
    expect(world.methods()).toEqual(["initialize", "startup", "hook"]);
    expect(world.queue.acknowledged).toEqual([1]);
    expect(world.supervisor.describe()).toMatchObject({
      state: "Active",
      metrics: { events_processed: 1, events_failed: 0, wakeups: 1 },
    });
  });

  it("an eager agent starts at once, and restarts after a crash without an event", async () => {
    const world = setUp(ready, { activation: "eager" });
    world.supervisor.start();
    await world.settle();
    expect(world.supervisor.state).toBe("Active");
    world.guests[0]?.die("gone");
    await world.settle();
    expect(world.supervisor.state).toBe("Unloaded");
    await world.settle(10_000);
    expect(world.supervisor.state).toBe("Active");
    expect(world.guests).toHaveLength(2);
  });

  it("delivers in order, one at a time, also if more events arrive while the loop is ending", async () => {
    let running = 0;
    const order: unknown[] = [];
    const world = setUp(async (method, params, guest) => {
      if (method !== "hook") return ready(method, params, guest);
      running += 1;
      expect(running).toBe(1);
      await Promise.resolve();
      order.push((params["event"] as { id: string }).id);
      if (order.length === 3) {
        world.queue.push("seen");
        world.supervisor.pump();
      }
      running -= 1;
      return null;
    });
    for (let count = 0; count < 3; count++) world.queue.push("seen");
    world.supervisor.start();
    await world.settle();
    expect(order).toEqual(["event-1", "event-2", "event-3", "event-4"]);
  });

  it("max_events_per_second delays and drops nothing", async () => {
    const world = setUp(ready, { limits: { ...definitionOf().limits, max_events_per_second: 2 } });
    for (let count = 0; count < 6; count++) world.queue.push("seen");
    world.supervisor.start();
    await world.settle();
    expect(world.queue.acknowledged).toHaveLength(2);
    await world.settle(1000);
    expect(world.queue.acknowledged).toHaveLength(4);
    await world.settle(1000);
    expect(world.queue.acknowledged).toHaveLength(6);
  });
});

describe("failures", () => {
  const throwing: Behaviour = (method, params, guest) => {
    if (method === "hook") throw new LaresError("ToolError", "boom", { stack: "at agent.ts:1:1" });
    return ready(method, params, guest);
  };

  it("the last failure stays until the same handler succeeds, and another handler's success does not clear it", async () => {
    let fails = true;
    const place = { path: "/ext/agent.ts", line: 3 };
    const world = setUp((method, params, guest) => {
      if (method === "hook" && params["handler"] === "seen" && fails)
        throw new LaresError("ToolError", `boom\u001b[31m${"x".repeat(2000)}`, { place });
      return method === "initialize"
        ? { handlers: ["seen", "other"], tools: ["count"], jobs: [] }
        : ready(method, params, guest);
    });
    const told: unknown[] = [];
    world.supervisor.counted.on(({ last_failure: failure }) => told.push(failure?.handler));
    const handle = async (handler: string) => {
      world.queue.push(handler);
      world.supervisor.pump();
      await world.settle(1000);
      return world.supervisor.describe().last_failure;
    };
    world.supervisor.start();
    const failure = await handle("seen");
    expect(failure).toMatchObject({ handler: "seen", place, at: expect.stringMatching(/Z$/) });
    expect(failure?.message).toMatch(/^boom␛\[31mx+…$/);
    expect(failure?.message).toHaveLength(1000);
    expect((await handle("other"))?.handler).toBe("seen");
    expect(told).toContain("seen");
    fails = false;
    expect(await handle("seen")).toBeUndefined();
    await world.settle(2000);
    expect(told.at(-1)).toBeUndefined();
  });

  it("a handler during which the guest ended has failed; one that waited behind it has not", async () => {
    const world = setUp((method, params, guest) => {
      if (method === "hook") return new Promise(() => queueMicrotask(() => guest.die("killed")));
      return ready(method, params, guest);
    });
    world.queue.push("seen");
    world.supervisor.start();
    await world.settle();
    expect(world.supervisor.describe().last_failure).toMatchObject({ handler: "seen" });
  });

  it("a guest that was told to shut down has not failed", async () => {
    const world = setUp((method, params, guest) =>
      method === "hook" ? new Promise(() => undefined) : ready(method, params, guest),
    );
    world.queue.push("seen");
    world.supervisor.start();
    await world.settle();
    const suspended = world.supervisor.control(personAt(), "suspend");
    await world.settle(shutdownTimeoutMs);
    expect((await suspended).last_failure).toBeUndefined();
  });

  it("a program that throws at its start is reported, and another program begins without failures", async () => {
    let fails = true;
    const world = setUp((method, params, guest) => {
      if (method === "startup" && fails) throw new LaresError("ToolError", "no start");
      return ready(method, params, guest);
    });
    world.queue.push("seen");
    world.supervisor.start();
    await world.settle();
    expect(world.supervisor.describe()).toMatchObject({
      state: "Error",
      last_failure: { handler: "start", message: "no start" },
    });
    fails = false;
    const bundleDigest = `sha256:${"b".repeat(64)}` as const;
    await world.supervisor.update(definitionOf({ bundleDigest }));
    expect(world.supervisor.describe().last_failure).toBeUndefined();
  });

  it("an agent whose manifest cannot be used any more is Error, also while its guest runs", async () => {
    const world = setUp();
    world.queue.push("seen");
    world.supervisor.start();
    await world.settle();
    expect(world.supervisor.state).toBe("Active");
    const first = { message: "No such field.", place: { path: "/ext/extension.yaml", line: 2 } };
    const problems = { count: 2, first, isUnusable: true };
    await world.supervisor.update(
      definitionOf({ fault: "It has errors.", problems, hooks: [], bundleDigest: null }),
    );
    await world.settle(shutdownTimeoutMs);
    expect(world.supervisor.describe()).toMatchObject({ state: "Error", problems: 2, first_problem: first });
    await world.supervisor.update(definitionOf());
    await world.settle();
    expect(world.supervisor.describe().problems).toBeUndefined();
    expect(world.supervisor.state).not.toBe("Error");
  });

  it("a handler that throws has answered: counted once, not repeated, and the agent continues", async () => {
    const world = setUp(throwing);
    world.queue.push("seen");
    world.supervisor.start();
    await world.settle();
    expect(world.supervisor.describe()).toMatchObject({
      state: "Active",
      metrics: { events_failed: 1, events_processed: 0 },
    });
    expect(world.queue.items).toHaveLength(0);
    expect(world.traces).toContain("seen failed: boom");
  });

  it("three in a row suspend it with the reason; later events wait; resume delivers them", async () => {
    const world = setUp(throwing);
    for (let count = 0; count < 4; count++) world.queue.push("seen");
    world.supervisor.start();
    await world.settle();
    expect(world.supervisor.state).toBe("Suspended");
    expect(world.supervisor.reason).toContain("boom");
    expect(world.queue.items).toHaveLength(1);
    await world.supervisor.control(personAt(), "resume");
    await world.settle();
    expect(world.queue.items).toHaveLength(0);
    expect(world.supervisor.state).toBe("Active");
  });

  it("after a pause one delivery is tried (half-open); its failure suspends again, at once", async () => {
    const world = setUp(throwing);
    for (let count = 0; count < 5; count++) world.queue.push("seen");
    world.supervisor.start();
    await world.settle();
    await world.settle(firstPauseMs);
    expect(world.queue.items).toHaveLength(1);
    expect(world.supervisor.state).toBe("Suspended");
    await world.settle(firstPauseMs);
    expect(world.supervisor.state).toBe("Suspended"); // the second pause is longer
    await world.settle(firstPauseMs);
    expect(world.queue.items).toHaveLength(0);
  });

  it("a delivery that takes its guest down three times is set aside, and the agent is suspended", async () => {
    const world = setUp((method, params, guest) => {
      if (method !== "hook") return ready(method, params, guest);
      guest.die("stopped after 5,000 ms of CPU time");
      return new Promise(() => undefined);
    });
    world.queue.push("seen");
    world.supervisor.start();
    await world.settle(60_000 - 30_000);
    expect(world.queue.buried).toEqual([{ seq: 1, reason: "The guest ended." }]);
    expect(world.supervisor.state).toBe("Suspended");
    expect(world.supervisor.reason).toContain("5,000 ms of CPU");
    expect(world.supervisor.describe().metrics.events_failed).toBe(1);
  });

  it("an agent whose program ends after every answered event is suspended; failures of the sandbox do not count", async () => {
    for (const isSandboxFault of [false, true]) {
      const world = setUp();
      world.supervisor.start();
      for (let round = 0; round < 3; round++) {
        world.queue.push("seen");
        world.supervisor.pump();
        await world.settle(1000);
        world.guests.at(-1)?.die("computed too long", isSandboxFault);
        await world.settle(1000);
      }
      expect(world.queue.acknowledged).toHaveLength(3);
      expect([world.supervisor.state, world.supervisor.reason]).toEqual(
        isSandboxFault
          ? ["Unloaded", null]
          : [
              "Suspended",
              "Suspended after its program ended 3 times within a minute; the last time: computed too long",
            ],
      );
    }
  });

  it("trouble of the machine is tried again and does not count against the agent", async () => {
    let failures = 2;
    const world = setUp((method, params, guest) => {
      if (method === "hook" && failures-- > 0) throw new LaresError("StorageError", "disk full");
      return ready(method, params, guest);
    });
    world.queue.push("seen");
    world.supervisor.start();
    await world.settle(5_000);
    expect(world.supervisor.describe()).toMatchObject({
      state: "Active",
      metrics: { events_failed: 0, events_processed: 1 },
    });
  });

  it("a program that throws at load is Error, is not retried, and reload tries it once more", async () => {
    const world = setUp((method) => {
      throw new LaresError("ToolError", `cannot ${method}`);
    });
    world.queue.push("seen");
    world.supervisor.start();
    await world.settle(120_000);
    expect(world.supervisor.state).toBe("Error");
    expect(world.supervisor.reason).toBe("cannot initialize");
    expect(world.guests).toHaveLength(1);
    const reloaded = world.supervisor.control(personAt(), "reload");
    await world.settle(shutdownTimeoutMs);
    expect((await reloaded).state).toBe("Error");
    expect(world.guests).toHaveLength(2);
  });

  it("a program that ends by itself before it is ready is Error, and is not retried", async () => {
    const world = setUp((_method, _params, guest) => {
      guest.die("exited with code 1");
      return new Promise(() => undefined);
    });
    world.queue.push("seen");
    world.supervisor.start();
    await world.settle(120_000);
    expect(world.supervisor.state).toBe("Error");
    expect(world.supervisor.reason).toBe("exited with code 1");
    expect(world.guests).toHaveLength(1);
    expect(world.slots.taken).toBe(0);
  });

  it("a start is retried if the sandbox ends during it", async () => {
    const world = setUp((method, params, guest) => {
      if (world.guests.length > 1) return ready(method, params, guest);
      guest.die("the sandbox host ended", true);
      return new Promise(() => undefined);
    });
    world.queue.push("seen");
    world.supervisor.start();
    await world.settle(5_000);
    expect(world.supervisor.state).toBe("Active");
    expect(world.queue.acknowledged).toEqual([1]);
  });

  it("a sandbox that ends before the guest runs is not the program's fault: the start is retried, without Error", async () => {
    const world = setUp();
    world.failStartsWith(new LaresError("AgentError", "the host process ended", { reason: "sandbox" }));
    world.supervisor.start();
    world.queue.push("seen");
    world.supervisor.pump();
    await world.settle();
    expect(world.supervisor.state).toBe("Unloaded");
    world.failStartsWith(null);
    await world.settle(1000);
    expect(world.queue.acknowledged).toEqual([1]);
    world.supervisor.unloadIfIdle();
    world.failStartsWith(new LaresError("AgentError", "no WebAssembly", { reason: "program" }));
    world.queue.push("seen");
    await world.settle();
    world.supervisor.pump();
    await world.settle();
    expect(world.supervisor.state).toBe("Error");
  });

  it("a handler that the manifest names and the program lacks is Error, by name", async () => {
    const world = setUp((method) =>
      method === "initialize" ? { handlers: [], tools: ["count"], jobs: [] } : {},
    );
    world.queue.push("seen");
    world.supervisor.start();
    await world.settle(shutdownTimeoutMs);
    expect(world.supervisor.state).toBe("Error");
    expect(world.supervisor.reason).toContain('"seen"');
  });

  it("an agent that the person has not allowed reports no error", async () => {
    const world = setUp(ready, {
      fault: "You have not allowed it.",
      awaiting: "acceptance",
      bundleDigest: null,
    });
    world.supervisor.start();
    await world.settle();
    expect(world.traces).toEqual(["needs your permission: You have not allowed it."]);
    expect(world.levels).toEqual(["info"]);
  });

  it("a fault known beforehand is Error without a guest", async () => {
    const world = setUp(ready, { fault: "agent.ts:1:2 does not parse", bundleDigest: null });
    world.supervisor.start();
    await world.settle();
    expect(world.supervisor.state).toBe("Error");
    expect(world.guests).toHaveLength(0);
    expect(world.slots.taken).toBe(0);
  });
});

describe("commands and their races", () => {
  it("suspend while a handler runs: its delivery is not lost and is handed over after resume", async () => {
    const hold: Behaviour = (method, params, guest) =>
      method === "hook" && world.guests.length === 1
        ? new Promise(() => undefined)
        : ready(method, params, guest);
    const world = setUp(hold);
    world.queue.push("seen");
    world.supervisor.start();
    await world.settle();
    const suspended = world.supervisor.control(personAt(), "suspend");
    await world.settle(shutdownTimeoutMs);
    expect((await suspended).state).toBe("Suspended");
    expect(world.queue.items).toHaveLength(1);
    expect(world.queue.items[0]?.attempts).toBe(0);
    const resumed = world.supervisor.control(personAt(), "resume");
    await world.settle();
    expect((await resumed).state).toBe("Active");
    expect(world.queue.acknowledged).toEqual([1]);
  });

  it("disable while it starts: the guest that starts late is ended, the place is free again", async () => {
    const world = setUp();
    world.queue.push("seen");
    world.supervisor.start();
    const disabled = world.supervisor
      .control(personAt(), "reload")
      .then(() => world.supervisor.control(personAt(), "disable"));
    await world.settle(shutdownTimeoutMs);
    expect((await disabled).state).toBe("Unloaded");
    expect(world.guests.every((guest) => guest.isGone)).toBe(true);
    expect(world.slots.taken).toBe(0);
  });

  it("a guest that ignores shutdown is ended after its time", async () => {
    const world = setUp((method, params, guest) =>
      method === "shutdown" ? new Promise(() => undefined) : ready(method, params, guest),
    );
    world.queue.push("seen");
    world.supervisor.start();
    await world.settle();
    const reloaded = world.supervisor.control(personAt(), "reload");
    await world.settle(shutdownTimeoutMs);
    expect((await reloaded).state).toBe("Active");
    expect(world.guests[0]?.isGone).toBe(true);
    expect(world.guests).toHaveLength(2);
  });

  it("a command that is not legal is refused, naming the state", async () => {
    const world = setUp();
    await expect(world.supervisor.control(personAt(), "resume")).rejects.toMatchObject({
      code: "IllegalTransition",
      facts: { state: "Unloaded" },
    });
  });

  it("a command while it shuts down or starts is checked against the resulting state", async () => {
    const world = setUp((method, params, guest) =>
      method === "shutdown" ? new Promise(() => undefined) : ready(method, params, guest),
    );
    world.queue.push("seen");
    world.supervisor.start();
    await world.settle();
    const suspended = world.supervisor.control(personAt(), "suspend");
    expect(world.supervisor.state).toBe("ShuttingDown");
    const resumed = world.supervisor.control(personAt(), "resume");
    await world.settle(shutdownTimeoutMs);
    await Promise.all([suspended, resumed]);
    expect(world.supervisor.state).toBe("Active");

    const reloaded = world.supervisor.control(personAt(), "reload");
    const refused = expect(world.supervisor.control(personAt(), "resume")).rejects.toMatchObject({
      code: "IllegalTransition",
      facts: { state: "Active" },
    });
    await world.settle(shutdownTimeoutMs);
    await Promise.all([reloaded, refused]);
  });

  it("a tool call wakes it; two at once start it once", async () => {
    const world = setUp();
    world.supervisor.start();
    const calls = [
      world.supervisor.callTool("count", {}, personAt()),
      world.supervisor.callTool("count", {}, personAt()),
    ];
    await world.settle();
    await Promise.all(calls);
    expect(world.guests).toHaveLength(1);
  });

  it("a tool call on a suspended or disabled agent is AgentError with state and reason", async () => {
    const world = setUp();
    await world.supervisor.control(personAt(), "suspend");
    await expect(world.supervisor.callTool("count", {}, personAt())).rejects.toMatchObject({
      code: "AgentError",
      facts: { state: "Suspended", reason: "Suspended by a person." },
    });
  });

  it("unloads when idle, frees its place, and wakes again for the next event", async () => {
    const world = setUp();
    world.queue.push("seen");
    world.supervisor.start();
    await world.settle();
    expect(world.slots.taken).toBe(1);
    await world.settle(300_000 + shutdownTimeoutMs);
    expect(world.supervisor.state).toBe("Unloaded");
    expect(world.slots.taken).toBe(0);
    world.queue.push("seen");
    world.supervisor.pump();
    await world.settle();
    expect(world.supervisor.describe().metrics).toMatchObject({ wakeups: 2, events_processed: 2 });
  });
});

describe("a changed definition", () => {
  it("new grants apply to the very next call, and the guest is notified", async () => {
    const world = setUp();
    world.queue.push("seen");
    world.supervisor.start();
    await world.settle();
    const [guest] = world.guests;
    await expect(guest?.handlers.call("vdfs/count", {})).resolves.toEqual({ count: 7 });
    const { authority } = definitionOf();
    const update = world.supervisor.update(definitionOf({ authority: { ...authority, effective: {} } }));
    await expect(guest?.handlers.call("vdfs/count", {})).rejects.toMatchObject({ code: "PermissionDenied" });
    await world.settle();
    await update;
    expect(world.methods()).toContain("permissionChange");
    expect(world.guests).toHaveLength(1);
    expect(world.supervisor.metrics.refusals).toBe(1);
  });

  it("a running guest receives its models when they change", async () => {
    const world = setUp();
    const faces = { name: "faces", version: "1", source: { url: "https://a.example/f.onnx" }, size_mb: 1 };
    const withModel = (sha256: string) =>
      definitionOf({
        models: [{ ...faces, sha256 }, { name: "old" }],
        authority: { ...definitionOf().authority, models: ["faces", "old"] },
      });
    world.queue.push("seen");
    world.supervisor.start();
    await world.settle();
    for (const digit of ["a", "b"]) {
      const update = world.supervisor.update(withModel(digit.repeat(64)));
      await world.settle();
      await update;
      expect(world.guests[0]?.asked.at(-1)).toMatchObject({
        method: "permissionChange",
        params: { models: [{ name: "faces", version: "1", sha256: digit.repeat(64) }] },
      });
    }
    expect(world.guests).toHaveLength(1);
  });

  it("a changed program is swapped in; one that cannot be prepared leaves the old one running", async () => {
    const world = setUp();
    world.queue.push("seen");
    world.supervisor.start();
    await world.settle();
    await world.supervisor.update(definitionOf({ fault: "does not parse", bundleDigest: null }));
    await world.settle();
    expect(world.supervisor.state).toBe("Active");
    await world.supervisor.update(definitionOf({ bundleDigest: `sha256:${"b".repeat(64)}` }));
    await world.settle(shutdownTimeoutMs);
    expect(world.supervisor.state).toBe("Active");
    expect(world.guests).toHaveLength(2);
  });
});
