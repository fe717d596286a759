import type { Agent } from "../../base/vocabulary/agent.ts";
import type { NotificationParamsOf } from "../../protocol/v1/notifications.ts";

/** The answer of `lares/status`, as far as the terminal shows it. */
export interface Status {
  readonly version: string;
  readonly pid: number;
  readonly ready: boolean;
  /** Nothing is in progress: everything is indexed and hashed, and no agent has any work. */
  readonly idle: boolean;
  readonly workspace: string;
  readonly stateFolder: string;
  readonly trusted: boolean;
  readonly trust: {
    readonly digest: string;
    readonly asks: readonly string[];
    /** What was not accepted yet and does not apply. */
    readonly pending: readonly string[];
    /** Extensions whose changed programs are all that waits; empty if anything else waits, too. */
    readonly changedPrograms: readonly string[];
  };
  /** Clients of the kernel, this one included. */
  readonly clients: number;
  /** It would not end by itself now if its clients left. */
  readonly lasting: boolean;
  /** The script that answers instead of all models. */
  readonly rehearsal?: { readonly script: string; readonly run?: string };
  readonly agents: number;
  readonly index: { readonly entries: number; readonly complete: boolean };
  readonly pendingActions: number;
  readonly totals: Totals;
}

/** Since the kernel started. */
interface Totals {
  readonly events: number;
  readonly actions: number;
  /** Host calls that the policy refused. */
  readonly refusals: number;
}

/** The result of the run. */
export interface RunSummary {
  readonly agents: readonly Agent[];
  readonly totals: Totals;
  /** Proposals of this run, by agent. */
  readonly actionsBy: ReadonlyMap<string, number>;
  readonly pendingActions: number;
}

/** A message of an agent to the person. */
export type Notice = NotificationParamsOf<"lares/notify">;
