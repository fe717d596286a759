import type { Agent } from "../../base/vocabulary/agent.ts";

/** What `lares/status` answers, as far as the terminal shows it. */
export interface Status {
  readonly version: string;
  readonly pid: number;
  readonly ready: boolean;
  /** Nothing is under way: indexed and hashed, and no agent has anything in hand or waiting. */
  readonly idle: boolean;
  readonly workspace: string;
  readonly stateFolder: string;
  readonly trusted: boolean;
  readonly trust: {
    readonly digest: string;
    readonly asks: readonly string[];
    /** What of it was not accepted yet and does not count. */
    readonly pending: readonly string[];
    /** Extensions whose changed program is all that waits; empty where anything else waits too. */
    readonly changedPrograms: readonly string[];
  };
  readonly agents: number;
  readonly index: { readonly entries: number; readonly complete: boolean };
  readonly pendingActions: number;
  readonly totals: Totals;
}

/** Since the kernel started. */
export interface Totals {
  readonly events: number;
  readonly actions: number;
  /** Host calls that the policy refused. */
  readonly refusals: number;
}

/** What the run came to. */
export interface RunSummary {
  readonly agents: readonly Agent[];
  readonly totals: Totals;
  /** Proposals of this run, by agent. */
  readonly actionsBy: ReadonlyMap<string, number>;
  readonly pendingActions: number;
}

/** A message of the kernel to the person. */
export interface Notice {
  readonly agent: string;
  readonly title: string;
  readonly message: string;
  readonly severity: "info" | "warning" | "error";
}
