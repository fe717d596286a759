import { DayCounts } from "../../kernel/src/agents/day-counts.ts";
import fc from "fast-check";
import { expect, test } from "vitest";
import { createActor } from "xstate";
import {
  lifecycleMachine,
  refusal,
  stateOf,
  type LifecycleEvent,
} from "../../kernel/src/agents/lifecycle/machine.ts";
import { shutdownTimeoutMs } from "../../kernel/src/agents/lifecycle/boot.ts";
import { AgentSlots } from "../../kernel/src/agents/slots.ts";
import { Supervisor } from "../../kernel/src/agents/lifecycle/supervisor.ts";
import { definitionOf, FakeGuest, FakeQueue } from "../../kernel/src/agents/testing/fake-guest.ts";
import { FakeJobs } from "../../kernel/src/agents/testing/fake-jobs.ts";
import { isLaresError, LaresError } from "../../kernel/src/base/errors.ts";
import { ManualClock } from "../../kernel/src/base/testing/manual-clock.ts";
import { agentIs } from "../../kernel/src/base/vocabulary/agent-words.ts";
import type { AgentCommand } from "../../kernel/src/base/vocabulary/agent.ts";
import { personAt } from "../../kernel/src/base/vocabulary/principal.ts";
import { fuzz } from "./support/campaign.ts";

const target = "lifecycle";
const commands = ["enable", "disable", "suspend", "resume", "reload"] as const satisfies AgentCommand[];
const events: readonly LifecycleEvent[] = [
  ...commands.map((type): LifecycleEvent => (type === "suspend" ? { type, reason: "a wish" } : { type })),
  { type: "wake" },
  { type: "started" },
  { type: "stopped" },
  { type: "unload" },
  { type: "crashed" },
  { type: "broken", reason: "broken" },
];

/** The states in which a guest may exist; in all others there is none. */
const withGuest = new Set(["Initializing", "Active", "ShuttingDown"]);

type Snapshot = ReturnType<ReturnType<typeof createActor<typeof lifecycleMachine>>["getSnapshot"]>;

/** Checks each single step, whatever led there. */
function checkStep(before: Snapshot, event: LifecycleEvent, after: Snapshot): void {
  const [from, to] = [stateOf(before), stateOf(after)];
  const step = `${from} -${event.type}→ ${to}`;
  if (!before.can(event)) expect([to, after.context], step).toEqual([from, before.context]);
  if (from !== "Suspended" && to === "Suspended")
    expect(
      event.type === "suspend" || (from === "ShuttingDown" && before.context.after === "Suspended"),
      step,
    ).toBe(true);
  if (to === "Error" && from !== "Error")
    expect(
      event.type === "broken" || (from === "ShuttingDown" && before.context.after === "Error"),
      step,
    ).toBe(true);
  // A guest ends only by a shutdown, or because it is gone.
  if (withGuest.has(from) && !withGuest.has(to)) expect(["crashed", "stopped"], step).toContain(event.type);
  if (from === "Active" && to === "Initializing") expect.fail(`${step}: two guests`);
  if (to === "Active")
    expect(from === "Active" || (from === "Initializing" && event.type === "started"), step).toBe(true);
  if (!after.context.enabled) expect(["Unloaded", "ShuttingDown"], step).toContain(to);
  if (to === "Suspended" || to === "Error") expect(after.context.reason, step).not.toBeNull();
  for (const command of commands) {
    const sentence = refusal(after, command);
    if (sentence !== null)
      expect(sentence).toContain(to === "Unloaded" && !after.context.enabled ? "is off" : agentIs(to));
    expect(sentence === null, `${to} ${command}`).toBe(
      after.can(command === "suspend" ? { type: command, reason: "" } : { type: command }),
    );
  }
  // From anywhere the shutdown ends with the guest.
  if (to === "ShuttingDown") {
    const actor = createActor(lifecycleMachine, { snapshot: after, input: { enabled: true } }).start();
    actor.send({ type: "stopped" });
    expect(stateOf(actor.getSnapshot()), step).toBe(after.context.after);
  }
}

test("every sequence of commands and events: each reachable state is met with each of them", () => {
  const seen = new Map<string, Snapshot>();
  const keyOf = (snapshot: Snapshot): string => JSON.stringify([snapshot.value, snapshot.context]);
  const waiting = [true, false].map((enabled) =>
    createActor(lifecycleMachine, { input: { enabled } }).start().getSnapshot(),
  );
  let steps = 0;
  for (let before = waiting.pop(); before !== undefined; before = waiting.pop()) {
    if (seen.has(keyOf(before))) continue;
    seen.set(keyOf(before), before);
    for (const event of events) {
      const actor = createActor(lifecycleMachine, { snapshot: before, input: { enabled: true } }).start();
      actor.send(event);
      checkStep(before, event, actor.getSnapshot());
      waiting.push(actor.getSnapshot());
      steps += 1;
    }
  }
  // All reachable states have been reached: longer sequences only lead back to them.
  expect([...new Set([...seen.values()].map(stateOf))].toSorted()).toEqual([
    "Active",
    "Error",
    "Initializing",
    "ShuttingDown",
    "Suspended",
    "Unloaded",
  ]);
  console.log(`${target} › exhaustive: ${seen.size} states, ${steps} steps`);
});

fuzz({
  target,
  property: "long random sequences keep the machine's invariants at each step",
  arbitrary: fc.record({
    enabled: fc.boolean(),
    sequence: fc.array(fc.nat(events.length - 1), { maxLength: 100, size: "max" }),
  }),
  runs: 150,
  check: ({ enabled, sequence }) => {
    const actor = createActor(lifecycleMachine, { input: { enabled } }).start();
    for (const index of sequence) {
      const event = events[index] ?? { type: "wake" };
      const before = actor.getSnapshot();
      actor.send(event);
      checkStep(before, event, actor.getSnapshot());
    }
  },
});

type Step =
  | { readonly do: "event" | "control" | "die" | "sandbox-dies" | "release" | "wake-all" }
  | { readonly do: "advance"; readonly ms: number }
  | { readonly do: "clock"; readonly byMs: number }
  | { readonly do: "behave"; readonly as: Behaving }
  | { readonly do: "command"; readonly command: AgentCommand };

type Behaving =
  "slow-start" | "well" | "throws" | "busy" | "dies" | "hangs" | "no-start" | "broken-start" | "no-shutdown";

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant("event" as const) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant("advance" as const),
      ms: fc.constantFrom(0, 1, 100, 1000, 10_000, 60_000, 400_000),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant("command" as const), command: fc.constantFrom(...commands) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("behave" as const),
      as: fc.constantFrom<Behaving>(
        "well",
        "throws",
        "busy",
        "dies",
        "hangs",
        "no-start",
        "broken-start",
        "no-shutdown",
      ),
    }),
  },
  fc.record({ do: fc.constantFrom("die" as const, "sandbox-dies" as const, "release" as const) }),
  fc.record({
    do: fc.constant("clock" as const),
    byMs: fc.constantFrom(-86_400_000, -1000, 1000, 86_400_000),
  }),
);

fuzz({
  target,
  property:
    "a supervisor under crashes, commands and clock steps: one guest at most, no delivery lost, none twice",
  arbitrary: fc.record({ eager: fc.boolean(), steps: fc.array(step, { maxLength: 60, size: "max" }) }),
  runs: 120,
  check: async ({ eager, steps }) => {
    const clock = new ManualClock();
    const queue = new FakeQueue(() => clock.now());
    const slots = new AgentSlots(1, () => undefined);
    const guests: FakeGuest[] = [];
    const handled: number[] = [];
    const held: (() => void)[] = [];
    let behaving: Behaving = "well";
    let pushed = 0;
    const alive = (): number => guests.filter((guest) => !guest.isGone).length;
    const supervisor = new Supervisor({
      definition: definitionOf({ activation: eager ? "eager" : "on_event" }),
      clock,
      idleUnloadMs: () => 300_000,
      ports: {
        queue,
        dayCounts: new DayCounts(clock),
        jobs: new FakeJobs(() => clock.now()),
        jobProgress: () => undefined,
        traces: { write: () => undefined },
        startGuest: async (_definition, handlers) => {
          if (behaving === "slow-start") await new Promise<void>((resolve) => void clock.timer(500, resolve));
          expect(alive(), "a guest is started while another is there").toBe(0);
          if (behaving === "broken-start") throw new LaresError("InvalidDocument", "It cannot be prepared.");
          const guest = new FakeGuest(handlers, (method, params, self) => {
            if (method === "shutdown") {
              if (behaving === "no-shutdown") return new Promise(() => undefined);
              queueMicrotask(() => self.die("exited"));
              return null;
            }
            if (method === "initialize") {
              if (behaving === "no-start") return new Promise(() => undefined);
              return { handlers: ["seen"], tools: ["count"], jobs: [] };
            }
            if (method !== "hook") return null;
            const { id } = params["event"] as { id: string };
            if (behaving === "dies") self.die("over its limit");
            if (behaving === "busy") throw new LaresError("Busy", "Later.");
            handled.push(Number(id.slice("event-".length)));
            if (behaving === "throws") throw new LaresError("ToolError", "boom");
            return behaving === "hangs" ? new Promise((resolve) => held.push(() => resolve(null))) : null;
          });
          guests.push(guest);
          return guest;
        },
        authorityOf: () => null,
        readHostCall: (_method, params) => ({ params, answer: async () => null }),
        memoryFigures: () => ({ temporalEvents: 0, knowledgeItems: 0, sizeBytes: 0 }),
        isEntry: () => false,
        hides: () => false,
        openMemory: async () => undefined,
        acquireSlot: () => slots.acquire(),
        takeTurn: async () => undefined,
        ran: () => undefined,
        suspension: () => null,
      },
    });
    const check = (): void => {
      expect(alive()).toBeLessThanOrEqual(1);
      if (!withGuest.has(supervisor.state)) expect(alive(), `a guest while ${supervisor.state}`).toBe(0);
      if (supervisor.state === "Active") expect(alive()).toBe(1);
      const kept = new Set([
        ...queue.items.map(({ seq }) => seq),
        ...queue.acknowledged,
        ...queue.buried.map(({ seq }) => seq),
      ]);
      expect(kept.size, "each delivery waits, is done, or is set aside").toBe(pushed);
      expect(new Set(queue.acknowledged).size, "acknowledged once").toBe(queue.acknowledged.length);
      expect(
        queue.acknowledged.filter((seq) => !handled.includes(seq) && behaving !== "busy" && !wasBusy),
        "acknowledged without being handled",
      ).toEqual([]);
      if (supervisor.state === "Suspended" || supervisor.state === "Error")
        expect(supervisor.reason).not.toBeNull();
    };
    let wasBusy = false;
    const open: Promise<unknown>[] = [];
    supervisor.start();
    await clock.advanceAsync(0);
    for (const one of steps) {
      if (one.do === "event") {
        pushed = queue.push("seen");
        supervisor.pump();
      } else if (one.do === "advance") await clock.advanceAsync(one.ms);
      else if (one.do === "clock") clock.setNow(clock.now() + one.byMs);
      else if (one.do === "behave") {
        behaving = one.as;
        wasBusy ||= one.as === "busy";
      } else if (one.do === "command") {
        open.push(
          supervisor.control(personAt(), one.command).catch((error: unknown) => {
            expect(isLaresError(error), String(error)).toBe(true);
          }),
        );
      } else if (one.do === "release") for (const release of held.splice(0)) release();
      else guests.at(-1)?.die("gone", one.do === "sandbox-dies");
      await clock.advanceAsync(0);
      check();
    }
    // A well-behaved program, a person who wants it, and time: all waiting events are handled.
    behaving = "well";
    for (const release of held.splice(0)) release();
    clock.setNow(Math.max(clock.now(), ...queue.items.map(({ dueAt }) => dueAt)));
    await clock.advanceAsync(shutdownTimeoutMs + 60_000);
    // A guest that hangs is ended by the sandbox's own limits; here by hand.
    if (supervisor.state === "Initializing") guests.at(-1)?.die("start took too long");
    await clock.advanceAsync(120_000);
    for (const command of ["enable", "resume", "reload"] as const) {
      open.push(
        supervisor
          .control(personAt(), command)
          .catch((error: unknown) => expect(isLaresError(error), String(error)).toBe(true)),
      );
      await clock.advanceAsync(120_000);
    }
    await clock.advanceAsync(400_000);
    supervisor.pump();
    await clock.advanceAsync(120_000);
    // Many deliveries take more turns than the clock lets pass for one moment.
    await new Promise((resolve) => setImmediate(resolve));
    await clock.advanceAsync(0);
    check();
    expect(
      queue.items.map(({ seq }) => seq),
      `waits for ever while ${supervisor.state}: ${supervisor.reason ?? ""}`,
    ).toEqual([]);
    const disposing = supervisor[Symbol.asyncDispose]();
    await clock.advanceAsync(shutdownTimeoutMs * 2);
    await disposing;
    await Promise.all(open);
    expect(alive()).toBe(0);
    expect(slots.taken).toBe(0);
    expect(clock.pendingTimers).toBe(0);
  },
});
