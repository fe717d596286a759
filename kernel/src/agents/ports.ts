import type { DayCounts } from "./day-counts.ts";
import type { CpuBudget } from "../base/cpu-budget.ts";
import type { JsonValue } from "../base/json.ts";
import type { AgentDefinition } from "../base/vocabulary/agent-definition.ts";
import type { Authority } from "../base/vocabulary/permissions.ts";
import type { Hash } from "../base/vocabulary/common.ts";
import type { Actor, Lineage } from "../base/vocabulary/principal.ts";
import type { ProgressSink } from "../base/vocabulary/progress.ts";
import type { KeptJob } from "../base/vocabulary/job.ts";
import type { TraceLevel } from "../base/vocabulary/trace.ts";
import type { LaresEvent } from "../base/vocabulary/event.ts";
import type { MemoryFigures } from "./metrics.ts";

export type { AgentDefinition, HookDefinition, ScheduleTiming } from "../base/vocabulary/agent-definition.ts";

/** An agent that is loaded: a running guest, or what stands for one. */
export interface AgentSession {
  /** Sends a request; rejects with the guest's error, or when the guest ends before it answers. */
  request(method: string, params: unknown): Promise<unknown>;
  readonly usage: { on(listener: (usage: GuestUsage) => void): Disposable };
  /** Resolves once the guest is gone, with the sentence that says why. */
  readonly ended: Promise<GuestEnd>;
  /** A job has saved how far it is: what is asked of the guest may take its time anew. */
  restartBudget(): void;
  /** Aborted once the guest is gone. */
  readonly gone: AbortSignal;
  /** CPU time left for what is asked of it: what the kernel computes for its calls counts as its own. */
  readonly cpu: CpuBudget;
  /** Ends it whatever it is doing; resolves when it is gone. */
  kill(): Promise<void>;
}

/** What a loaded agent says of itself. */
export interface AgentAbilities {
  /** How many hooks it takes before it answered the first. */
  readonly maxOpenHooks: number;
  /** The names of the jobs that it can run. */
  readonly jobs: ReadonlySet<string>;
  /** It knows `cancelTool`. */
  readonly cancelsTools: boolean;
}

/** What runs an agent. A guest in the sandbox is one; an agent without a program is run by a part of the kernel. */
export interface AgentBody {
  /** Waits for a place among the agents that are loaded at once, where it needs one. */
  takePlace(agent: string): Promise<Disposable>;
  /** Throws a LaresError that says what is wrong with the agent. */
  start(definition: AgentDefinition, handlers: GuestHandlers): Promise<AgentSession>;
  /**
   * Makes a started session ready. `heard` is told what it can do. Rejects where it cannot do what its manifest names, or
   * its startup fails. `ask` sends a request to it, counted as work in hand.
   */
  boot(
    definition: AgentDefinition,
    ask: (method: string, params: unknown) => Promise<unknown>,
    heard: (abilities: AgentAbilities) => void,
  ): Promise<void>;
  /** Asks it to end, and ends it when it does not. Resolves when it is gone; rejects with what its shutdown threw. */
  end(session: AgentSession): Promise<void>;
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
  /** `cancelled` is aborted when the guest takes the call back. */
  call(method: string, params: unknown, cancelled?: AbortSignal): Promise<unknown>;
  notify(method: string, params: unknown): void;
  stderr(text: string): void;
}

interface TraceWriter {
  write(entry: {
    level: TraceLevel;
    agent: string;
    hook?: string;
    message: string;
    fields?: Record<string, unknown>;
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
}

/** The agent's own view of the durable queue. */
export interface DeliveryQueue {
  /** The next that is due and not in hand already; null while one ahead of it waits for its next try. */
  next(agent: string, isInHand: (seq: number) => boolean): Promise<Delivery | null>;
  nextDueAt(agent: string): number | null;
  depth(agent: string): number;
  /** What waits from one source; bytes of the payloads. */
  from(agent: string, source: string): { readonly count: number; readonly bytes: number };
  acknowledge(agent: string, seq: number): void;
  retryLater(agent: string, seq: number, dueAt: number): Promise<void>;
  deadLetter(agent: string, seq: number, reason: string): Promise<void>;
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
  /** What led to it, where something did: it may do no more than the call under which it was dispatched. */
  readonly lineage?: Lineage;
}

/** A job that is to be run, or goes on from its last checkpoint. */
export interface QueuedJob {
  readonly id: string;
  readonly name: string;
  readonly input: JsonValue;
  readonly checkpoint?: JsonValue;
  readonly lineage: Lineage;
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
  startGuest(definition: AgentDefinition, handlers: GuestHandlers): Promise<AgentSession>;
  /** Returns what runs an agent without a program; absent where this kernel runs none. */
  kernelBody?(definition: AgentDefinition): AgentBody;
  /** Resolves when a host call of the agent may begin; see `FairTurns`. */
  takeTurn(agent: string): Promise<void>;
  /** What an agent may do now; null where there is no such agent, or it is disabled. */
  authorityOf(agent: string): Authority | null;
  /** Throws InvalidParams with a clear sentence where the shape is wrong, MethodNotFound where there is no such call. */
  readHostCall(method: string, params: unknown): CheckedCall;
  memoryFigures(agent: string): MemoryFigures;
  /** Opens the agent's memory before its guest starts; throws with the reason where it cannot be trusted. */
  openMemory(agent: string): Promise<void>;
  /** True where the index has an entry at this canonical path, whoever may see it. */
  isEntry(path: string): boolean;
  /** True where the index leaves out, or would, what has this canonical path. False where it has an entry there. */
  hides(path: string): boolean;
  /** Waits until the agent may be loaded: at most `limits.active_agents` are at once. */
  acquireSlot(agent: string): Promise<Disposable>;
}

/** A host call of the right shape. */
interface CheckedCall {
  /** For policy to decide about. */
  readonly params: unknown;
  /**
   * The call of a tool, or the job, that the guest answers with it; null: it was not called for it. Where it does not
   * say, it may be for any call that is open.
   */
  readonly onBehalf?: string | null;
  /** Only reached through the permission check. */
  answer(caller: Caller): Promise<unknown>;
}

/** On whose behalf a service acts. */
export interface Caller {
  readonly agent: string;
  /** Of the agent, and of those on whose behalf it asks. */
  readonly authority: Authority;
  /** Who these are. */
  readonly lineage: Lineage;
  readonly bundleDigest: Hash;
  /** The hook in hand and its event's id, where there is one: what the guest says meanwhile belongs to it. */
  readonly hook?: string;
  readonly traceId?: string;
  /** The job that its guest was running when it asked. */
  readonly job?: string;
  /** Of the guest that asked. */
  readonly cpu: CpuBudget;
  /**
   * Aborted when nobody waits for the answer any more: the guest has cancelled its call, the call that it is asked for was
   * cancelled, given up or lost, or the guest has ended. Work that takes long or only reads ends then; a write goes on.
   */
  readonly signal: AbortSignal;
}

/** How a tool is called. */
export interface ToolCallOptions {
  /** Awaited immediately before the guest is asked. */
  readonly begun?: () => Promise<void>;
  /** Tells the guest to leave the handler, and aborts what it has under way for the call. */
  readonly signal?: AbortSignal;
  /** Is told how far the handler says it is. */
  readonly progress?: ProgressSink;
}

/** What a guest is working on, and what caused it. */
export interface InHand {
  readonly hook?: string;
  readonly traceId?: string;
  readonly job?: string;
  readonly cause?: Actor;
}
