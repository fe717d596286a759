import { expect, onTestFinished, test } from "vitest";
import { customEventBacklog } from "../agents/delivery/event-backlog.ts";
import { DayCounts } from "../agents/day-counts.ts";
import { FakeJobs } from "../agents/testing/fake-jobs.ts";
import { Deliveries, type DeliveryPorts } from "../agents/lifecycle/deliveries.ts";
import type { AgentDefinition } from "../agents/ports.ts";
import { AgentRegistry } from "../agents/lifecycle/registry.ts";
import type { RegistryPorts } from "../agents/lifecycle/registry-ports.ts";
import { AgentRoster } from "../agents/lifecycle/roster.ts";
import { definitionOf } from "../agents/testing/fake-guest.ts";
import { silentLog } from "../base/log.ts";
import type { JsonValue } from "../base/json.ts";
import { type Lineage, maxCallDepth, ownAccord } from "../base/vocabulary/principal.ts";
import { ManualClock } from "../base/testing/manual-clock.ts";
import { openInbox, type Inbox } from "../inbox/inbox.ts";
import { inboxMigrations } from "../inbox/migrations.ts";
import { openDatabase, type Statement } from "../platform/database/database.ts";
import { agentQueue } from "./subsystems/agent-queue.ts";

const hearer = "dev.test.hearer";
const loud = "dev.test.loud/Noise";
const quiet = "dev.test.quiet/Word";

interface Bed {
  readonly registry: AgentRegistry<Statement>;
  readonly definition: AgentDefinition;
  readonly deliveries: Deliveries<Statement>;
  readonly inbox: Inbox;
  readonly clock: ManualClock;
  /** "agent: message" of the warnings. */
  readonly traces: string[];
}

/** A registry over a real inbox, with one agent that receives from both emitters and takes nothing from its queue. */
async function open(): Promise<Bed> {
  const database = await openDatabase({ path: ":memory:", migrations: inboxMigrations, log: silentLog });
  onTestFinished(() => database[Symbol.asyncDispose]());
  const clock = new ManualClock();
  const inbox = await openInbox({ database, clock, log: silentLog });
  const traces: string[] = [];
  const agents = new AgentRoster();
  const deliveries = new Deliveries<Statement>({
    clock,
    agents,
    queue: inbox,
    enqueue: (routed) =>
      inbox.prepare(
        routed.map(({ payload, ...one }) => ({ ...one, payload: payload as unknown as JsonValue })),
      ),
    commit: async (statements) => void (await database.batch([...statements])),
    alreadyShown: [],
    alreadyAnnounced: [],
    isEntry: () => false,
    hides: () => false,
  } as Partial<DeliveryPorts<Statement>> as DeliveryPorts<Statement>);
  const ports: Partial<RegistryPorts<Statement>> = {
    clock,
    agents,
    deliveries,
    nextTurn: (run) => run(),
    activeAgents: () => 4,
    idleUnloadMs: () => 1000,
    queue: agentQueue(inbox, async () => ({})),
    alreadyFired: [],
    isEntry: () => false,
    hides: () => false,
    dayCounts: new DayCounts(clock),
    memoryFigures: () => ({ temporalEvents: 0, knowledgeItems: 0, sizeBytes: 0 }),
    jobs: new FakeJobs(() => clock.now()),
    clearQueue: (agent) => inbox.clear(agent),
    traces: {
      write: ({ level, agent, message }) => void (level === "warn" && traces.push(`${agent}: ${message}`)),
    },
  };
  // The other ports serve agents that run; this one is never started.
  const registry = new AgentRegistry<Statement>(ports as RegistryPorts<Statement>);
  const { authority } = definitionOf();
  const hooks = [loud, quiet].map((on) => ({ handler: "heard", on, accepts: () => ({ passed: true }) }));
  const definition = definitionOf({
    id: hearer,
    hooks,
    authority: { ...authority, extension: hearer, effective: { hear_events: [loud, quiet] } },
  });
  await registry.apply([definition]);
  return { registry, definition, deliveries, inbox, clock, traces };
}

test.each([
  ["deliveries", customEventBacklog.deliveries, {}],
  ["bytes", customEventBacklog.bytes / 500_000 + 1, { text: "x".repeat(500_000) }],
])(
  "an emitter that fills its share of a hearer's queue in %s leaves another emitter's share free",
  async (unit, most, data) => {
    const { deliveries, inbox, traces } = await open();
    for (let emitted = 0; traces.length === 0 && emitted <= most; emitted += 1) {
      await deliveries.emit(loud, data);
    }
    expect(traces).toHaveLength(1);
    expect(traces[0]).toMatch(
      new RegExp(`^${hearer}: .*${loud} was dropped: \\d+ ${unit} of dev\\.test\\.loud wait`, "u"),
    );
    const before = inbox.depth(hearer);
    await deliveries.emit(quiet, { text: "hear me" });
    expect(inbox.depth(hearer)).toBe(before + 1);
    const first = await inbox.next(hearer);
    inbox.acknowledge(hearer, first?.seq ?? 0);
    await deliveries.emit(loud, {});
    expect(inbox.depth(hearer)).toBe(before + 1);
  },
);

test("a flood of dropped events is only counted in the hearer's traces", async () => {
  const { deliveries, clock, traces } = await open();
  for (let times = 0; times < customEventBacklog.deliveries; times++) await deliveries.emit(loud, {});
  for (let times = 0; times < 200; times++) await deliveries.emit(loud, {});
  clock.advance(1000);
  expect(traces).toHaveLength(51);
  expect(traces[0]).toContain("was dropped");
  expect(traces.at(-1)).toContain("150 more");
});

test("what an emitter had read stands beside its event, and not in it", async () => {
  const { deliveries, inbox } = await open();
  await deliveries.emit(loud, { text: "from the web" }, { "agent:web": "all" });
  await deliveries.emit(loud, { text: "own" });
  const first = await inbox.next(hearer);
  expect(first?.payload).toEqual({
    handler: "heard",
    event: expect.not.objectContaining({ foreign: expect.anything() }),
    foreign: { "agent:web": "all" },
    lineage: { onBehalfOf: [], depth: 1 },
  });
  inbox.acknowledge(hearer, first?.seq ?? 0);
  expect((await inbox.next(hearer))?.payload).not.toHaveProperty("foreign");
});

const small = { kind: "agent", id: "dev.test.small" } as const;
const person = { kind: "person" } as const;
const speaker = { kind: "agent", id: "dev.test.loud" } as const;

test.each<[string, Lineage, Lineage]>([
  [
    "another agent's call",
    { onBehalfOf: [small, person], depth: 2 },
    { onBehalfOf: [speaker, small, person], depth: 3 },
  ],
  ["a person's call", { onBehalfOf: [person], depth: 1 }, { onBehalfOf: [person], depth: 2 }],
  [
    "its own schedule",
    { onBehalfOf: [{ kind: "schedule", agent: speaker.id, schedule: "daily" }], depth: 0 },
    { onBehalfOf: [], depth: 1 },
  ],
  ["nobody's call", ownAccord, { onBehalfOf: [], depth: 1 }],
])("what led to an event under %s is stored with its delivery", async (_whose, lineage, carried) => {
  const { deliveries, inbox } = await open();
  await deliveries.emit(loud, {}, {}, { ...lineage, sources: ["web"] });
  expect((await inbox.next(hearer))?.payload).toMatchObject({ handler: "heard", lineage: carried });
});

test("an event that too many steps or agents led to is refused", async () => {
  const { deliveries, inbox } = await open();
  const agents = (count: number): Lineage["onBehalfOf"] =>
    Array.from({ length: count }, (_, at) => ({ kind: "agent", id: `dev.test.a${at}` }));
  await deliveries.emit(loud, {}, {}, { onBehalfOf: agents(6), depth: 7 });
  expect(inbox.depth(hearer)).toBe(1);
  for (const lineage of [
    { onBehalfOf: [], depth: maxCallDepth },
    { onBehalfOf: agents(7), depth: 7 },
  ])
    await expect(deliveries.emit(loud, {}, {}, lineage)).rejects.toMatchObject({
      code: "LimitExceeded",
      facts: { limit: "event_depth" },
    });
  expect(inbox.depth(hearer)).toBe(1);
});

test("events before and during a pause wait for a paused agent, which nobody can reach; they go if it is removed meanwhile", async () => {
  const { registry, definition, deliveries, inbox } = await open();
  await deliveries.emit(loud, {});
  await registry.apply(null);
  await registry.apply(null);
  expect(registry.list()).toEqual([]);
  expect(registry.find(hearer)).toBeUndefined();
  await deliveries.emit(loud, {});
  expect(inbox.depth(hearer)).toBe(2);
  await registry.apply([definition]);
  await deliveries.emit(loud, {});
  expect(registry.list()).toMatchObject([{ id: hearer }]);
  expect(inbox.depth(hearer)).toBe(3);

  await registry.apply(null);
  await registry.apply([]);
  expect(inbox.depth(hearer)).toBe(0);
  await deliveries.emit(loud, {});
  expect(inbox.depth(hearer)).toBe(0);
});

test("a disabled agent receives nothing during a pause either", async () => {
  const { registry, definition, deliveries, inbox } = await open();
  await registry.apply([{ ...definition, enabled: false }]);
  await registry.apply(null);
  await deliveries.emit(loud, {});
  await registry.apply([definition]);
  expect(inbox.depth(hearer)).toBe(0);
});
