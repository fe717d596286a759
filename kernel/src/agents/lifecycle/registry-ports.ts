import type { Clock } from "../../base/clock.ts";
import type { NotifiedSchedule } from "../../base/vocabulary/notification.ts";
import type { SupervisorPorts } from "../ports.ts";
import type { Deliveries } from "./deliveries.ts";
import type { AgentRoster } from "./roster.ts";
import type { KeptSchedule, ScheduleStatements } from "../delivery/schedules.ts";

export interface RegistryPorts<Statement> extends Omit<
  SupervisorPorts,
  "acquireSlot" | "takeTurn" | "ran" | "suspension"
> {
  readonly clock: Clock;
  /** The agents, which it adds and removes. */
  readonly agents: AgentRoster;
  readonly deliveries: Deliveries<Statement>;
  /** Runs a function after pending input was read. */
  readonly nextTurn: (run: () => void) => void;
  readonly idleUnloadMs: () => number;
  readonly activeAgents: () => number;
  readonly scheduleStatements: ScheduleStatements<Statement>;
  readonly alreadyFired: readonly KeptSchedule[];
  /** Deliveries from this source that the agent has not handled. */
  waiting(agent: string, source: string): Promise<number>;
  /** Tells the person that a schedule of the agent is suspended, or with null that it runs again. Never rejects. */
  tellSchedule(agent: string, schedule: NotifiedSchedule, error: string | null): Promise<void>;
  clearQueue(agent: string): Promise<void>;
}
