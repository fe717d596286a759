import type { Place } from "../base/vocabulary/common.ts";
import type { DayCounts } from "./day-counts.ts";
import type { CpuBudget } from "../base/cpu-budget.ts";
import type { JsonObject, JsonValue } from "../base/json.ts";
import type { AgentLimits, Authority } from "../base/vocabulary/permissions.ts";
import type { Hash } from "../base/vocabulary/common.ts";
import type { KeptJob } from "../base/vocabulary/job.ts";
import type { TraceLevel } from "../base/vocabulary/trace.ts";
import type { LaresEvent } from "../base/vocabulary/event.ts";
import type { MemoryFigures } from "./metrics.ts";

/** A hook of the manifest, its filter compiled. */
export interface HookDefinition {
  readonly handler: string;
  readonly on?: string;
  readonly filter?: string;
  readonly schedule?: string;
  /** The next time the schedule is due, computed when asked. */
  readonly nextRun?: () => string | null;
  /** Of a schedule that can be read. */
  readonly timing?: ScheduleTiming;
  /** True where the event passes the filter; an evaluation that fails counts as false and is reported. */
  readonly accepts: (event: LaresEvent, inGrantedScope: (path: string) => boolean) => FilterAnswer;
}

/** When a schedule is due; times are milliseconds since 1970. */
export interface ScheduleTiming {
  /** IANA name. */
  readonly timezone: string;
  /** What becomes of runs that were missed. */
  readonly catchUp: "skip" | "once" | "all";
  /** The first run after; null where there is none. */
  next(afterMs: number): number | null;
  /** The runs later than the one and not later than the other, oldest first: the newest `count` of them. */
  between(afterMs: number, throughMs: number, count: number): number[];
}

export interface FilterAnswer {
  readonly passed: boolean;
  readonly error?: string;
}

export interface ToolDefinition {
  readonly name: string;
  readonly description: string;
  readonly handler: string;
  readonly parameters: Record<string, unknown>;
}

/** Everything an agent is, resolved from its manifest, the workspace's document and the person's decisions. */
export interface AgentDefinition {
  readonly id: string;
  readonly name: string;
  readonly version: string;
  readonly enabled: boolean;
  readonly activation: "on_event" | "eager";
  readonly hooks: readonly HookDefinition[];
  readonly tools: readonly ToolDefinition[];
  readonly authority: Authority;
  readonly limits: AgentLimits;
  readonly config: JsonObject;
  readonly memory: boolean;
  /** Events of its memory are kept so long; null: for ever. */
  readonly memoryRetentionDays: number | null;
  /** Knowledge that was never found and is below and older is removed; null: none is. */
  readonly memoryPrune: { readonly belowImportance: number; readonly olderThanDays: number } | null;
  readonly traceLevel: TraceLevel;
  /** What the person accepted; null: the program could not be prepared, and `fault` says why. */
  readonly programDigest: Hash | null;
  readonly fault?: string;
  /** Errors in its manifest, or in its program's source, that keep it from being used. */
  readonly problems?: {
    readonly count: number;
    readonly first: { readonly message: string; readonly place?: Place };
    /** Nothing of the manifest counts, so neither does a guest that was loaded before. */
    readonly isUnusable: boolean;
  };
  /** `fault` is that nobody said yes to it yet. */
  readonly awaiting?: "acceptance";
}

/** One running guest. */
export interface GuestSession {
  /** Sends a request; rejects with the guest's error, or when the guest ends before it answers. */
  request(method: string, params: unknown): Promise<unknown>;
  readonly usage: { on(listener: (usage: GuestUsage) => void): Disposable };
  /** Resolves once the guest is gone, with the sentence that says why. */
  readonly ended: Promise<GuestEnd>;
  /** A job has saved how far it is: what is asked of the guest may take its time anew. */
  restartBudget(): void;
  /** CPU time left for what is asked of it: what the kernel computes for its calls counts as its own. */
  readonly cpu: CpuBudget;
  /** Ends it whatever it is doing; resolves when it is gone. */
  kill(): Promise<void>;
}

export interface GuestUsage {
  /** Of the guest's thread since it started. */
  readonly cpuTimeMs: number;
  /** Linear memory, highest seen. */
  readonly memoryBytes: number;
}

export interface GuestEnd {
  readonly reason: string;
  /** The limit that ended it, where one did. */
  readonly limit?: string;
  /** The sandbox went away beneath it: no fault of the program, and another try may do. */
  readonly isSandboxFault?: boolean;
}

/** What a guest may ask of the kernel, already decoded; the answer or a thrown LaresError goes back to it. */
export interface GuestHandlers {
  call(method: string, params: unknown): Promise<unknown>;
  notify(method: string, params: unknown): void;
  stderr(text: string): void;
}

export interface TraceWriter {
  write(entry: {
    level: TraceLevel;
    agent: string;
    hook?: string;
    message: string;
    fields?: Record<string, unknown>;
    trace_id: string;
    span_id: string;
  }): void;
}

/** One delivery that waits for an agent. */
export interface Delivery {
  readonly seq: number;
  readonly payload: DeliveryPayload;
  readonly attempts: number;
}

export interface DeliveryPayload {
  readonly handler: string;
  readonly event: LaresEvent;
}

/** The agent's own view of the durable queue. */
export interface DeliveryQueue {
  /** The next that is due and not in hand already; null while one ahead of it waits for its next try. */
  next(agent: string, isInHand: (seq: number) => boolean): Promise<Delivery | null>;
  nextDueAt(agent: string): number | null;
  depth(agent: string): number;
  /** Of all payloads that wait. */
  bytes(agent: string): number;
  acknowledge(agent: string, seq: number): void;
  retryLater(agent: string, seq: number, dueAt: number): Promise<void>;
  bury(agent: string, seq: number, reason: string): Promise<void>;
}

/** What an agent wants to have done beside its events. */
export interface JobRequest {
  /** As its program names it. */
  readonly name: string;
  readonly input: JsonValue;
  readonly priority: "low" | "normal" | "high";
  /** Begins only in a quiet moment. */
  readonly whenIdle: boolean;
  /** Of an agent's jobs that have not ended only one has it. */
  readonly key?: string;
}

/** A job that is to be run, or goes on from its last checkpoint. */
export interface QueuedJob {
  readonly id: string;
  readonly name: string;
  readonly input: JsonValue;
  readonly checkpoint?: JsonValue;
  /** Times that its guest was lost under it since it began or since its last checkpoint. */
  readonly attempts: number;
}

/** The agents' jobs that have not ended. */
export interface JobQueue {
  /** Where one with the same key has not ended, that is meant. Rejects with LimitExceeded. */
  dispatch(agent: string, request: JobRequest): Promise<{ readonly id: string; readonly isNew: boolean }>;
  /** True where it has not ended. */
  has(agent: string, id: string): boolean;
  find(agent: string, id: string): KeptJob | undefined;
  /** Of one agent or of all, most urgent first, then as they were dispatched; `total` is how many there are. */
  list(count: number, agent?: string): { readonly jobs: readonly KeptJob[]; readonly total: number };
  /** Whose job it is, or was; undefined where that is not known any more. */
  ownerOf(id: string): string | undefined;
  /** The same again until something is said of it. */
  next(agent: string, isQuiet: boolean): Promise<QueuedJob | null>;
  /** Milliseconds since 1970; of those that wait for a quiet moment, or of the others. */
  nextDueAt(agent: string, whenIdle: boolean): number | null;
  depth(agent: string): number;
  checkpoint(agent: string, id: string, data: JsonValue): Promise<void>;
  /** Counts an attempt. */
  retryLater(agent: string, id: string, dueAt: number): Promise<void>;
  complete(agent: string, id: string): Promise<void>;
  fail(agent: string, id: string, reason: string): Promise<void>;
  /** Rejects with NotFound, and with IllegalTransition where it has ended. Resolves with the job as it was. */
  cancel(agent: string, id: string): Promise<KeptJob>;
}

/** What a person is told of a job that takes a while. */
export type JobProgress = { readonly id: string; readonly agent: string } & (
  | { readonly kind: "begin"; readonly name: string }
  /** From 0 to 1. */
  | { readonly kind: "report"; readonly fraction: number; readonly message?: string }
  | { readonly kind: "end"; readonly outcome: JobOutcome }
);

/** `interrupted`: it goes on later, from its last checkpoint. `cancelled`: by a person. */
export type JobOutcome = "completed" | "failed" | "interrupted" | "cancelled";

export interface SupervisorPorts {
  readonly queue: DeliveryQueue;
  /** How many events each agent answered today. */
  readonly dayCounts: DayCounts;
  readonly jobs: JobQueue;
  jobProgress(progress: JobProgress): void;
  readonly traces: TraceWriter;
  /** Starts a guest with the definition's program and limits. Throws a LaresError that says what is wrong with the program. */
  startGuest(definition: AgentDefinition, handlers: GuestHandlers): Promise<GuestSession>;
  /** Resolves when a host call of the agent may begin; see `FairTurns`. */
  takeTurn(agent: string): Promise<void>;
  /** Answers a call that policy allowed. */
  readonly services: HostServices;
  memoryFigures(agent: string): MemoryFigures;
  /** Opens the agent's memory before its guest starts; throws with the reason where it cannot be trusted. */
  openMemory(agent: string): Promise<void>;
  /** True where the index has an entry at this canonical path, whoever may see it. */
  isEntry(path: string): boolean;
  /** Waits until the agent may be loaded: at most `limits.active_agents` are at once. */
  acquireSlot(agent: string): Promise<Disposable>;
}

/** What the rooms answer to a guest, by the ABI's method name; only reached through the permission check. */
export type HostServices = Readonly<Record<string, (caller: Caller, params: never) => Promise<unknown>>>;

/** On whose behalf a service acts. */
export interface Caller {
  readonly agent: string;
  readonly authority: Authority;
  readonly programDigest: Hash;
  /** The hook in hand and its event's id, where there is one: what the guest says meanwhile belongs to it. */
  readonly hook?: string;
  readonly traceId?: string;
  /** The job that its guest was running when it asked. */
  readonly job?: string;
  /** Of the guest that asked. */
  readonly cpu: CpuBudget;
}
