import type { Action, ActionState } from "../types/action.ts";
import type { Hash } from "../types/entry.ts";

export type AgentState = "Unloaded" | "Initializing" | "Active" | "Suspended" | "Error" | "ShuttingDown";

/** The kernel's counts of an agent since it started; times in milliseconds, sizes in bytes. */
export interface AgentMetrics {
  /** Events that handlers answered on this day of the calendar, over restarts. */
  readonly events_today: number;
  readonly events_received: number;
  readonly events_processed: number;
  readonly events_failed: number;
  readonly avg_event_latency_ms: number;
  readonly p99_event_latency_ms: number;
  readonly temporal_events_count: number;
  readonly knowledge_items_count: number;
  readonly memory_size_bytes: number;
  readonly jobs_dispatched: number;
  readonly jobs_completed: number;
  readonly jobs_failed: number;
  /** Jobs that a person cancelled; absent if there were none. */
  readonly jobs_cancelled?: number;
  readonly cpu_time_ms: number;
  readonly peak_memory_bytes: number;
  readonly wakeups: number;
}

/** A line of a document or program. */
interface DocumentPlace {
  /** Absolute. */
  readonly path: string;
  /** Counted from 1. */
  readonly line: number;
}

export interface AgentStatus {
  readonly id: string;
  readonly name: string;
  readonly version: string;
  readonly state: AgentState;
  /** Why it is in `Error` or `Suspended`. */
  readonly error?: string;
  /** A person disabled it. */
  readonly disabled?: true;
  /** It is in `Error` only because a person has not accepted it yet. */
  readonly awaiting?: "acceptance";
  /** The last failure of a handler that has not succeeded since. */
  readonly last_failure?: {
    readonly handler: string;
    readonly message: string;
    readonly at: string;
    readonly place?: DocumentPlace;
  };
  /** Errors of its manifest, or of the documents' entry for it. */
  readonly problems?: number;
  readonly first_problem?: { readonly message: string; readonly place?: DocumentPlace };
  /** UTC, ISO 8601 with milliseconds, like all times here. */
  readonly since: string;
  readonly hooks: readonly {
    readonly handler: string;
    readonly on?: string;
    readonly filter?: string;
    readonly schedule?: string;
    readonly nextRun?: string;
    /** The capability that its schedule waits for, which this device lacks. */
    readonly missing_capability?: string;
    /** Three runs of its schedule in a row failed. */
    readonly suspended?: { readonly since: string; readonly error: string };
  }[];
  readonly tools: readonly string[];
  /** It has a mind. */
  readonly mind?: true;
  /** The names of the effective permissions. */
  readonly permissions: readonly string[];
  readonly locations: readonly string[];
  readonly metrics: AgentMetrics;
}

export interface KernelStatus {
  readonly version: string;
  readonly pid: number;
  readonly ready: boolean;
  readonly idle: boolean;
  readonly workspace: string;
  readonly stateFolder: string;
  readonly trusted: boolean;
  readonly trust: {
    readonly digest: Hash;
    readonly asks: readonly string[];
    readonly pending: readonly string[];
    /** Ids of accepted extensions whose changed program is all that waits. */
    readonly changedPrograms: readonly string[];
  };
  readonly agents: number;
  readonly index: { readonly entries: number; readonly complete: boolean };
  readonly pendingActions: number;
  readonly totals: { readonly events: number; readonly actions: number; readonly refusals: number };
}

export type TraceLevel = "debug" | "info" | "warn" | "error";

export interface TraceEntry {
  readonly timestamp: string;
  readonly level: TraceLevel;
  readonly agent: string;
  readonly hook?: string;
  /** Which step of an agent that a client inspects. */
  readonly step?: "begin" | "call" | "end";
  readonly message: string;
  readonly fields?: Readonly<Record<string, unknown>>;
  readonly trace_id: string;
  readonly span_id: string;
}

export interface TraceQuery {
  readonly agent?: string;
  /** This level and those above it. */
  readonly level?: TraceLevel;
  /** ISO 8601, or "5m". */
  readonly since?: string;
  readonly until?: string;
  /** Only traces after the one with this `span_id`. */
  readonly after?: string;
  /** Text that the message contains. */
  readonly text?: string;
  readonly limit?: number;
}

export interface ActionQuery {
  readonly state?: ActionState;
  readonly agent?: string;
  /** Only actions that are older than the one with this id. */
  readonly before?: string;
  readonly limit?: number;
}

export interface Approval {
  /** Only these effects, by index; the others are dropped. */
  readonly effects?: readonly number[];
  /** "always": the same change of the same paths needs no further approval. */
  readonly remember?: "once" | "always";
}

/** A tool's answer, as on the wire. */
export type ToolResult =
  | { readonly status: "success"; readonly value: unknown }
  | { readonly status: "error"; readonly message: string; readonly recoverable: boolean }
  | { readonly status: "needs_approval"; readonly action: Action; readonly reason: string };
