import type { DayCounts } from "./day-counts.ts";
import type { Deadline } from "../base/deadline.ts";
import type { CpuBudget } from "../base/cpu-budget.ts";
import type { JsonValue } from "../base/json.ts";
import type {
  AgentDefinition,
  HookDefinition,
  ScheduleSuspension,
} from "../base/vocabulary/agent-definition.ts";
import type { Authority } from "../base/vocabulary/permissions.ts";
import type { Hash } from "../base/vocabulary/common.ts";
import type { Actor, Lineage, ProcessPrincipal } from "../base/vocabulary/principal.ts";
import type { ProgressSink } from "../base/vocabulary/progress.ts";
import type { KeptJob } from "../base/vocabulary/job.ts";
import type { TraceLevel, TraceStep } from "../base/vocabulary/trace.ts";
import type { Foreign } from "../base/vocabulary/foreign.ts";
import type { LaresEvent } from "../base/vocabulary/event.ts";
import type { MemoryFigures } from "./metrics.ts";
import type { StoppedWork } from "./stopped-work.ts";

export type {
  AgentDefinition,
  HookDefinition,
  ScheduleSuspension,
  ScheduleTiming,
} from "../base/vocabulary/agent-definition.ts";

/** A loaded agent: a running guest or a part of the kernel. */
export interface AgentSession {
  /** Sends a request; rejects with the guest's error, or when the guest ends before it answers. */
  request(method: string, params: unknown): Promise<unknown>;
  readonly usage: { on(listener: (usage: GuestUsage) => void): Disposable };
  /** Resolves with the reason once the guest is gone. */
  readonly ended: Promise<GuestEnd>;
  /** A job has saved a checkpoint: the time limit of the request restarts. */
  restartBudget(): void;
  /** Aborted once the guest is gone. */
  readonly gone: AbortSignal;
  /** CPU time left for the request, including the kernel's computation for its calls. */
  readonly cpu: CpuBudget;
  /** Ends the guest whatever it is doing; resolves when it is gone. */
  kill(): Promise<void>;
}

/** The capabilities that a loaded agent reports. */
export interface AgentAbilities {
  /** How many hooks it accepts before it has answered the first. */
  readonly maxOpenHooks: number;
  /** The names of its jobs. */
  readonly jobs: ReadonlySet<string>;
  /** The names of the tasks of its jobs. */
  readonly tasks: ReadonlySet<string>;
  /** True if it supports `cancelTool`. */
  readonly cancelsTools: boolean;
}

/** Runs an agent: as a guest in the sandbox, or, for an agent without a program, as a part of the kernel. */
export interface AgentBody {
  /** Waits for one of the limited places, if it needs one. */
  takePlace(agent: string): Promise<Disposable>;
  /** Throws a LaresError with the reason if the agent cannot start. */
  start(definition: AgentDefinition, handlers: GuestHandlers): Promise<AgentSession>;
  /**
   * Makes a started session ready. Passes its capabilities to `heard`. Rejects if a handler that the manifest
   * names is missing, or if startup fails. `ask` sends a request to it, counted as open work.
   */
  boot(
    definition: AgentDefinition,
    ask: (method: string, params: unknown) => Promise<unknown>,
    heard: (abilities: AgentAbilities) => void,
  ): Promise<void>;
  /** Asks it to end, and ends it if it does not. Resolves when it is gone; rejects with the error of its shutdown. */
  end(session: AgentSession): Promise<void>;
}

export interface GuestUsage {
  /** CPU time of the guest's thread since it started. */
  readonly cpuTimeMs: number;
  /** Linear memory, maximum so far. */
  readonly memoryBytes: number;
}

export interface GuestEnd {
  readonly reason: string;
  /** The limit that ended it, if one did. */
  readonly limit?: string;
  /** The sandbox ended: the program is not at fault, and a retry may succeed. */
  readonly isSandboxFault?: boolean;
}

/** A guest's decoded request to the kernel; the guest receives the answer or the thrown LaresError. */
export interface GuestHandlers {
  /** `cancelled` is aborted when the guest cancels the call. */
  call(method: string, params: unknown, cancelled?: AbortSignal): Promise<unknown>;
  notify(method: string, params: unknown): void;
  stderr(text: string): void;
}

interface TraceWriter {
  write(entry: {
    level: TraceLevel;
    agent: string;
    hook?: string;
    step?: TraceStep;
    message: string;
    fields?: Record<string, unknown>;
    /** Values of any size, which the trace shows shortened. */
    values?: Readonly<Record<string, unknown>>;
    on_behalf_of?: Actor[];
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
  /** The agent's schedule that caused it. */
  readonly schedule?: string;
  /** Present for the schedule's own handler: the schedule whose run this is. */
  readonly runOf?: string;
  /** Present if the event holds texts that nobody vouches for. */
  readonly foreign?: Foreign;
  /** Present if the event was emitted in answer to a call or to another event: what led to it. */
  readonly lineage?: Lineage;
}

/** One agent's view of the durable queue. */
export interface DeliveryQueue {
  /** The next due delivery that is not open; null while an earlier one waits for its retry. */
  next(agent: string, isInHand: (seq: number) => boolean): Promise<Delivery | null>;
  nextDueAt(agent: string): number | null;
  depth(agent: string): number;
  /** Number and payload bytes of the waiting deliveries from one source. */
  from(agent: string, source: string): { readonly count: number; readonly bytes: number };
  acknowledge(agent: string, seq: number): void;
  retryLater(agent: string, seq: number, dueAt: number): Promise<void>;
  deadLetter(agent: string, seq: number, reason: string): Promise<void>;
}

/** Work that an agent does outside its events. */
export interface JobRequest {
  /** The job's name in the program. */
  readonly name: string;
  readonly input: JsonValue;
  readonly priority: "low" | "normal" | "high";
  /** Starts only in idle time. */
  readonly whenIdle: boolean;
  /** Unique among the agent's jobs that have not ended. */
  readonly key?: string;
  /** The cause, if there is one: the job has no more authority than the call that dispatched it. */
  readonly lineage?: Lineage;
  /** Texts that nobody vouches for and that its input may hold. */
  readonly foreign?: Foreign;
}

/** A job to run, from the start or from its last checkpoint. */
export interface QueuedJob {
  readonly id: string;
  readonly name: string;
  readonly input: JsonValue;
  readonly checkpoint?: JsonValue;
  readonly lineage: Lineage;
  /** Texts that nobody vouches for and that its input or its checkpoint may hold. */
  readonly foreign: Foreign;
  /** How often its guest was lost since the start or the last checkpoint. */
  readonly attempts: number;
}

/** The agents' jobs that have not ended. */
export interface JobQueue {
  /** Returns the existing job if one with the same key has not ended. Rejects with LimitExceeded. */
  dispatch(agent: string, request: JobRequest): Promise<{ readonly id: string; readonly isNew: boolean }>;
  /** True if it has not ended. */
  has(agent: string, id: string): boolean;
  find(agent: string, id: string): KeptJob | undefined;
  /** Jobs of one agent or of all, most urgent first, then in order of dispatch; `total` is their number. */
  list(count: number, agent?: string): { readonly jobs: readonly KeptJob[]; readonly total: number };
  /** The job's agent; undefined if it is no longer known. */
  ownerOf(id: string): string | undefined;
  /** Returns the same job until its outcome is reported. */
  next(agent: string, isQuiet: boolean): Promise<QueuedJob | null>;
  /** Milliseconds since 1970; of jobs that wait for idle time, or of the others. */
  nextDueAt(agent: string, whenIdle: boolean): number | null;
  depth(agent: string): number;
  checkpoint(agent: string, id: string, data: JsonValue, foreign: Foreign): Promise<void>;
  /** Counts an attempt; with `hasFailed` a failure too, which no checkpoint resets. */
  retryLater(agent: string, id: string, dueAt: number, hasFailed: boolean): Promise<void>;
  complete(agent: string, id: string): Promise<void>;
  fail(agent: string, id: string, reason: string): Promise<void>;
  /**
   * Resolves with the job before it was cancelled. Rejects with NotFound, or with IllegalTransition if it has
   * ended.
   */
  cancel(agent: string, id: string): Promise<KeptJob>;
  /** Returns the jobs that have not ended and that processes of a conversation led to. */
  causedIn(conversation: string): Promise<readonly { readonly id: string; readonly lineage: Lineage }[]>;
  /** Stored results of tasks. */
  readonly tasks: {
    /** Returns null if the task is not done. */
    result(job: string, key: string): Promise<TaskResult | null>;
    /** Rejects with LimitExceeded; with NotFound if the job has ended meanwhile. */
    store(agent: string, job: string, key: string, result: TaskResult): Promise<void>;
  };
}

/** The result of a task, and the untrusted texts that it may contain. */
export interface TaskResult {
  readonly result: JsonValue;
  readonly foreign: Foreign;
}

/** Progress of a longer job, for people. */
export type JobProgress = { readonly id: string; readonly agent: string } & (
  | { readonly kind: "begin"; readonly name: string }
  /** From 0 to 1. */
  | { readonly kind: "report"; readonly fraction: number; readonly message?: string }
  | { readonly kind: "end"; readonly outcome: JobOutcome }
);

/** `interrupted`: it continues later from its last checkpoint. `cancelled`: by a user. */
export type JobOutcome = "completed" | "failed" | "interrupted" | "cancelled";

export interface SupervisorPorts {
  readonly queue: DeliveryQueue;
  /** Number of events that each agent answered today. */
  readonly dayCounts: DayCounts;
  readonly jobs: JobQueue;
  jobProgress(progress: JobProgress): void;
  readonly traces: TraceWriter;
  /** True while a client inspects the agent: each of its steps is traced, with values. If absent, nobody does. */
  isInspected?(agent: string): boolean;
  /** Starts a guest with the definition's program and limits. Throws a LaresError if the program cannot be started. */
  startGuest(definition: AgentDefinition, handlers: GuestHandlers): Promise<AgentSession>;
  /** Returns what runs an agent without a program; absent if this kernel does not run such agents. */
  kernelBody?(definition: AgentDefinition): AgentBody;
  /** Resolves when a host call of the agent may start; see `FairTurns`. */
  takeTurn(agent: string): Promise<void>;
  /** What a person stopped; absent in kernels without minds. */
  readonly stopped?: StoppedWork;
  /** Returns an agent's current authority; null if it does not exist or is disabled. */
  authorityOf(agent: string): Authority | null;
  /** Throws InvalidParams for a wrong shape and MethodNotFound for an unknown call. */
  readHostCall(method: string, params: unknown): CheckedCall;
  memoryFigures(agent: string): MemoryFigures;
  /** Opens the agent's memory before its guest starts; throws if it fails verification. */
  openMemory(agent: string): Promise<void>;
  /**
   * Puts the agent's type definitions into force before its startup. `migrations` names the types that its program can
   * migrate; `migrate` asks the program to do so. Throws InvalidDocument if stored values do not fit a definition. Absent
   * in kernels without shared types.
   */
  adoptTypes?(
    definition: AgentDefinition,
    migrations: ReadonlySet<string>,
    migrate: (params: {
      readonly type: string;
      readonly from: number;
      readonly values: readonly unknown[];
    }) => Promise<unknown>,
  ): Promise<void>;
  /** True if the index has an entry at this canonical path, whether or not an agent may see it. */
  isEntry(path: string): boolean;
  /** True if the index excludes this canonical path, or would. False if it has an entry there. */
  hides(path: string): boolean;
  /** A run of one of the agent's schedules has ended; `error` is null if it succeeded. */
  ran(agent: string, schedule: string, error: string | null): void;
  /** Returns why a schedule of the agent is suspended; null if it is not. */
  suspension(agent: string, hook: HookDefinition): ScheduleSuspension | null;
  /** Waits until the agent may be loaded: at most `limits.active_agents` are, and a few more that somebody waits for. */
  acquireSlot(agent: string): Promise<Disposable>;
}

/** A host call of valid shape. */
export interface CheckedCall {
  /** The input for policy. */
  readonly params: unknown;
  /**
   * The tool call or job that the request belongs to; null if none. If the guest does not say, it may belong to
   * any open call.
   */
  readonly onBehalf?: string | null;
  /** Reached only through the permission check. */
  answer(caller: Caller): Promise<unknown>;
}

/** Bytes that do not fit a line between kernel and guest, as long as the agent is at work. */
export interface Blobs {
  /** Appends to a blob, or begins one; returns its id. NotFound, LimitExceeded. */
  write(bytes: Uint8Array, id?: string): string;
  /** Returns a part of a blob. NotFound; InvalidParams for an offset after its end. */
  read(id: string, offset: number, length: number): { readonly bytes: Uint8Array; readonly eof: boolean };
  /** NotFound. */
  whole(id: string): Uint8Array;
  /** Keeps room for bytes that will be written, or thrown away; disposing the result gives it back. LimitExceeded. */
  reserve(bytes: number): Disposable;
}

/** The caller of a service. */
export interface Caller {
  readonly agent: string;
  /** The authority of the agent and of its callers. */
  readonly authority: Authority;
  /** The callers. */
  readonly lineage: Lineage;
  readonly bundleDigest: Hash;
  /** The hook and event id that the guest is handling, if any; its requests are attributed to them. */
  readonly hook?: string;
  readonly traceId?: string;
  /** The job that the guest was running when it sent the request. */
  readonly job?: string;
  /** CPU time left to whatever sent the request: a guest, or a process for this one request. */
  readonly cpu: CpuBudget;
  /** What the agent keeps in the kernel until its handlers have ended. */
  readonly blobs: Blobs;
  /**
   * Aborted when the answer is no longer needed: the guest cancelled its request, the call that it belongs to was
   * cancelled, abandoned or lost, or the guest ended. Long work and reads then stop; a write continues.
   */
  readonly signal: AbortSignal;
  /** The time until which somebody waits for the call that it belongs to; absent if nobody set a deadline. */
  readonly deadline?: Deadline;
  /** Texts that nobody vouches for and that the sender has read, as far as is known. */
  readonly foreign: Foreign;
  /** The answer shows such texts. Called before the sender gets it. */
  hear(foreign: Foreign): void;
  /** Present if a process of the agent's mind sent the request, without a guest. */
  readonly process?: ProcessPrincipal;
  /** Receives the progress of a tool that a process calls. */
  readonly progress?: ProgressSink;
}

/** Options of a request of a process. */
export interface ProcessCallOptions {
  /** Aborted when the process no longer waits. Reads and waits then end; a write is finished and answered. */
  readonly signal: AbortSignal;
  readonly progress?: ProgressSink;
  /** Receives, before the answer, what it holds of texts that nobody vouches for. */
  readonly hear?: (foreign: Foreign) => void;
}

/** Options of a tool call. */
export interface ToolCallOptions {
  /** Awaited immediately before the request is sent to the guest. */
  readonly begun?: () => Promise<void>;
  /** Tells the guest to leave the handler, and aborts its work for the call. */
  readonly signal?: AbortSignal;
  /** When the signal is aborted at the latest. */
  readonly deadline?: Deadline;
  /** Receives the handler's progress. */
  readonly progress?: ProgressSink;
  /** Receives, before the answer, what the guest has read of texts that nobody vouches for. */
  readonly hear?: (foreign: Foreign) => void;
}

/** The guest's current work and its cause. */
export interface InHand {
  readonly hook?: string;
  readonly traceId?: string;
  readonly job?: string;
  /** What led to it. */
  readonly lineage?: Lineage;
}
