import type { Clock } from "../../base/clock.ts";
import type { Entry } from "../../base/vocabulary/entry.ts";
import type { EntryChange, LaresEvent } from "../../base/vocabulary/event.ts";
import type { ShownLocation, SightStatements, ToldEntry } from "../delivery/initial-sync.ts";
import type { RoutedDelivery } from "../delivery/router.ts";
import type { SupervisorPorts } from "../ports.ts";
import type { KeptSchedule, ScheduleStatements } from "../delivery/schedules.ts";

/** Statements for somebody else's transaction, and what to do once it is committed. */
export interface Enqueued<Statement> {
  readonly statements: readonly Statement[];
  committed(): void;
}

export interface RegistryPorts<Statement> extends Omit<SupervisorPorts, "acquireSlot" | "takeTurn"> {
  readonly clock: Clock;
  /** Runs something after what has arrived meanwhile was read. */
  readonly nextTurn: (run: () => void) => void;
  readonly eventOf: (change: EntryChange) => LaresEvent;
  readonly idleUnloadMs: () => number;
  readonly activeAgents: () => number;
  /** Prepares durable deliveries; see the inbox. */
  enqueue(deliveries: readonly RoutedDelivery[]): Enqueued<Statement>;
  /** Stores statements of its own in one transaction. */
  commit(statements: readonly Statement[]): Promise<void>;
  readonly sightStatements: SightStatements<Statement>;
  readonly alreadyShown: readonly ShownLocation[];
  readonly alreadyTold: readonly ToldEntry[];
  readonly scheduleStatements: ScheduleStatements<Statement>;
  readonly alreadyFired: readonly KeptSchedule[];
  /** Deliveries from this source that the agent has not dealt with. */
  waiting(agent: string, source: string): Promise<number>;
  clearQueue(agent: string): Promise<void>;
  allEntries(): Iterable<Entry>;
}
