import type { AgentDefinition } from "../../agents/ports.ts";
import type { RoutedDelivery } from "../../agents/delivery/router.ts";
import { agentStateMigrations } from "../../agent-state/migrations.ts";
import { readSchedules, scheduleStatements } from "../../agent-state/schedules.ts";
import { Schedules, type ScheduledAgent } from "../../agents/delivery/schedules.ts";
import { definitionOf } from "../../agents/testing/fake-guest.ts";
import { sightRouting } from "../../agents/testing/sight-test.ts";
import type { Clock } from "../../base/clock.ts";
import type { JsonValue } from "../../base/json.ts";
import { silentLog } from "../../base/log.ts";
import type { ManualClock } from "../../base/testing/manual-clock.ts";
import { openInbox, type Inbox } from "../../inbox/inbox.ts";
import { inboxMigrations } from "../../inbox/migrations.ts";
import { systemClock } from "../../platform/clock.ts";
import { openDatabase, type Database, type Statement } from "../../platform/database/database.ts";
import { openNearDatabase } from "../../platform/testing/near-database.ts";
import { agentQueue } from "../subsystems/agent-queue.ts";
import type { ResolvedHook } from "../../documents/resolved-manifest.ts";
import { hookOf } from "../../configuration/definitions.ts";

/** An agent whose handler `tidy` has a schedule. */
export function scheduled(
  schedule: string,
  catchUp: "skip" | "once" | "all",
  clock: Clock,
  change: Partial<AgentDefinition> = {},
  timezone = "UTC",
  more: Partial<Extract<ResolvedHook, { kind: "schedule" }>> = {},
): AgentDefinition {
  const hook = hookOf({ kind: "schedule", schedule, timezone, handler: "tidy", catchUp, ...more }, clock);
  return definitionOf({ hooks: [hook], ...change });
}

/** Schedules on a real ledger with the real inbox, on a clock that the test controls. */
export class ScheduleBed implements AsyncDisposable {
  readonly clock: ManualClock;
  readonly database: Database;
  readonly inbox: Inbox;
  readonly agents = new Map<string, ScheduledAgent & { isListening: boolean }>();
  readonly announced: string[] = [];
  /** What the person was told: agent, schedule and error. */
  readonly told: unknown[][] = [];
  /** "level message". */
  readonly traces: string[] = [];
  /** Called before each transaction, which fails if it throws. */
  storing = (_deliveries: readonly RoutedDelivery[]): void => undefined;
  /** The timer ran. */
  onWake = (): void => undefined;
  /** Called when the number of waiting deliveries is requested. */
  onWaiting = (): void => undefined;
  schedules!: Schedules<Statement>;

  /** `inThread`: opens the database as the kernel does, for a process that crashes. */
  static async open(path: string, clock: ManualClock, inThread = false): Promise<ScheduleBed> {
    const migrations = [...inboxMigrations, ...agentStateMigrations];
    const open = inThread ? openDatabase : openNearDatabase;
    const database = await open({ path, migrations, log: silentLog });
    // A test counts its timers without those of the inbox.
    const inbox = await openInbox({ database, clock: systemClock, log: silentLog });
    const bed = new ScheduleBed(clock, database, inbox);
    await bed.restart();
    return bed;
  }

  private constructor(clock: ManualClock, database: Database, inbox: Inbox) {
    this.clock = clock;
    this.database = database;
    this.inbox = inbox;
  }

  /** Reopens everything, as the next kernel does. */
  async restart(): Promise<void> {
    const { clock, database, inbox } = this;
    this.schedules = new Schedules<Statement>({
      clock: {
        now: () => clock.now(),
        monotonic: () => clock.monotonic(),
        timer: (delayMs, run) =>
          clock.timer(delayMs, () => {
            this.onWake();
            run();
          }),
      },
      routing: { ...sightRouting, clock },
      statements: scheduleStatements,
      alreadyFired: await readSchedules(database),
      agents: this.agents,
      waiting: (agent, source) => {
        this.onWaiting();
        return inbox.waiting(agent, source);
      },
      store: async (deliveries, more) => {
        this.storing(deliveries);
        const prepared = inbox.prepare(
          deliveries.map(({ payload, ...one }) => ({ ...one, payload: payload as unknown as JsonValue })),
        );
        await database.batch([...prepared.statements, ...more]);
        prepared.committed();
      },
      tell: async (...told) => void this.told.push(told),
    });
  }

  /** Adds the agent with this definition. */
  add(definition: AgentDefinition): void {
    this.agents.set(definition.id, {
      definition,
      isListening: true,
      trace: (level, message) => void this.traces.push(`${level} ${message}`),
      announce: () => void this.announced.push(definition.id),
    });
  }

  remove(id: string): void {
    this.agents.delete(id);
  }

  /** The same, and starts its schedules. */
  async run(definition: AgentDefinition): Promise<void> {
    this.add(definition);
    await this.schedules.follow();
  }

  /** Advances the clock in steps and runs due work after each. The timer must be set. */
  async pass(forMs: number, stepMs = 1_000): Promise<void> {
    for (let left = forMs; left > 0; left -= stepMs) {
      this.clock.advance(Math.min(stepMs, left));
      while (this.clock.pendingTimers === 0) await new Promise((resolve) => setImmediate(resolve));
    }
  }

  /** Returns the waiting deliveries of the agent and handles them. */
  async deliveries(id = "dev.test.agent"): Promise<RoutedDelivery[]> {
    const queue = agentQueue(this.inbox, async () => ({}));
    const taken: RoutedDelivery[] = [];
    for (let one = await queue.next(id, () => false); one !== null; one = await queue.next(id, () => false)) {
      taken.push({ agent: id, lane: "live", payload: one.payload });
      queue.acknowledge(id, one.seq);
    }
    return taken;
  }

  /** The same, as "handler 12:00:00". */
  async take(): Promise<string[]> {
    return (await this.deliveries()).map(
      ({ payload }) => `${payload.handler} ${String(payload.event["scheduled_for"]).slice(11, 19)}`,
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.schedules[Symbol.asyncDispose]();
    await this.inbox[Symbol.asyncDispose]();
    await this.database[Symbol.asyncDispose]();
  }
}
