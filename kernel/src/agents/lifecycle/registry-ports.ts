import type { Clock } from "../../base/clock.ts";
import type { Entry } from "../../base/vocabulary/entry.ts";
import type { EntryChange, LaresEvent } from "../../base/vocabulary/event.ts";
import type { ShownLocation, SightStatements, AnnouncedEntry } from "../delivery/initial-sync.ts";
import type { RoutedDelivery } from "../delivery/router.ts";
import type { SupervisorPorts } from "../ports.ts";
import type { KeptSchedule, ScheduleStatements } from "../delivery/schedules.ts";

/** Statements for the caller's transaction, and a callback for after the commit. */
export interface Enqueued<Statement> {
  readonly statements: readonly Statement[];
  committed(): void;
}

/** An event of a mind's conversation. */
export interface MindEvent {
  readonly name: string;
  readonly fields: Readonly<Record<string, unknown>>;
  /** The sources of its texts, if nobody vouches for them. */
  readonly sources?: readonly string[];
}

export interface RegistryPorts<Statement> extends Omit<
  SupervisorPorts,
  "acquireSlot" | "takeTurn" | "ran" | "suspension"
> {
  readonly clock: Clock;
  /** Runs a function after pending input was read. */
  readonly nextTurn: (run: () => void) => void;
  readonly eventOf: (change: EntryChange) => LaresEvent;
  readonly idleUnloadMs: () => number;
  readonly activeAgents: () => number;
  /** Prepares durable deliveries; see the inbox. */
  enqueue(deliveries: readonly RoutedDelivery[]): Enqueued<Statement>;
  /** Stores its own statements in one transaction. */
  commit(statements: readonly Statement[]): Promise<void>;
  readonly sightStatements: SightStatements<Statement>;
  readonly alreadyShown: readonly ShownLocation[];
  readonly alreadyAnnounced: readonly AnnouncedEntry[];
  readonly scheduleStatements: ScheduleStatements<Statement>;
  readonly alreadyFired: readonly KeptSchedule[];
  /** Deliveries from this source that the agent has not handled. */
  waiting(agent: string, source: string): Promise<number>;
  clearQueue(agent: string): Promise<void>;
  allEntries(): Iterable<Entry>;
}
