import type { JsonObject } from "../json.ts";
import type { Hash, Place } from "./common.ts";
import type { DeclaredModel } from "./declared-model.ts";
import type { LaresEvent } from "./event.ts";
import type { MindDefinition, MindText } from "./mind.ts";
import type { NamedAction } from "./named-action.ts";
import type { AgentLimits, Authority } from "./permissions.ts";
import type { SharedTypeDefinition } from "./shared-type.ts";
import type { TraceLevel } from "./trace.ts";

/** A hook of the manifest, its filter compiled. */
export interface HookDefinition {
  /** The function of the program; for a hook with a prompt, the prompt's file. */
  readonly handler: string;
  /** Present if a conversation is started with this text instead of a function being called. Only with `schedule`. */
  readonly prompt?: MindText & {
    /** The answer is sent to the person as a notification. */
    readonly target: "notify";
    /** Outside of these hours, in the schedule's time zone, the run is skipped. */
    readonly activeHours?: ActiveHours;
  };
  /** Present if the hook is asked before the event takes effect; lower numbers are asked first. */
  readonly intercept?: { readonly order: number };
  readonly on?: string;
  readonly filter?: string;
  readonly schedule?: string;
  /** The next time the schedule is due, computed when asked. */
  readonly nextRun?: () => string | null;
  /** Present if the schedule does not run on this device, because it needs this capability. */
  readonly missingCapability?: string;
  /** Present if the schedule could be parsed, and runs on this device. */
  readonly timing?: ScheduleTiming;
  /** Returns true if the event passes the filter; a failed evaluation counts as false and is reported. */
  readonly accepts: (event: LaresEvent, inGrantedScope: (path: string) => boolean) => FilterAnswer;
}

/** Hours of the day. They go over midnight if the end is before the beginning. */
export interface ActiveHours {
  /** Minutes since midnight. */
  readonly fromMinutes: number;
  /** Minutes since midnight, not included. */
  readonly untilMinutes: number;
}

/** Why a schedule is suspended. */
export interface ScheduleSuspension {
  /** ISO 8601. */
  readonly since: string;
  readonly error: string;
}

/** When a schedule is due; times are milliseconds since 1970. */
export interface ScheduleTiming {
  /** IANA name. */
  readonly timezone: string;
  /** What happens to missed runs. */
  readonly catchUp: "skip" | "once" | "all";
  /** Whether a run that is due before the previous one has ended is skipped or queued. */
  readonly overlap: "skip" | "queue";
  /** Runs are delayed by up to this, in milliseconds. */
  readonly jitterMs: number;
  /** Returns whether a run may begin at this time. */
  isActive(atMs: number): boolean;
  /** Returns the first run after this time, or null. */
  next(afterMs: number): number | null;
  /** Returns the newest `count` runs after the first time and not after the second, oldest first. */
  between(afterMs: number, throughMs: number, count: number): number[];
}

interface FilterAnswer {
  readonly passed: boolean;
  readonly error?: string;
}

interface ToolDefinition {
  readonly name: string;
  readonly description: string;
  readonly handler: string;
  readonly parameters: Record<string, unknown>;
}

/** An event that an agent declares. */
export interface EventDefinition {
  /** Without the publisher. */
  readonly name: string;
  readonly version: number;
  /** JSON Schema of its fields. */
  readonly schema: Record<string, unknown>;
}

/** Something that a person can have the agent do by its name. */
export interface CommandDefinition {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /** The function under `commands` of the program, or the text that is sent to the mind. */
  readonly runs: { readonly handler: string } | { readonly prompt: MindText };
  /** JSON Schema; absent: it takes no arguments. */
  readonly parameters?: Record<string, unknown>;
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
  /** Absent: none. */
  readonly commands?: readonly CommandDefinition[];
  /** The events that it may emit; absent: any that its permission lists. */
  readonly events?: readonly EventDefinition[];
  /** Its named actions; absent: none. */
  readonly actions?: readonly NamedAction[];
  /** The types of values that it declares; absent: none. */
  readonly types?: readonly SharedTypeDefinition[];
  /** The models that it brings; absent: none. */
  readonly models?: readonly DeclaredModel[];
  readonly authority: Authority;
  readonly limits: AgentLimits;
  readonly config: JsonObject;
  /** Present if people can talk to it. */
  readonly mind?: MindDefinition;
  /** Maximum number of a job's tasks that run at once. */
  readonly concurrency: number;
  readonly memory: boolean;
  /** For how many days the events of its memory are kept; null: forever. */
  readonly memoryRetentionDays: number | null;
  /** Knowledge that was never found, and is less important and older than this, is removed; null: none is. */
  readonly memoryPrune: { readonly belowImportance: number; readonly olderThanDays: number } | null;
  readonly traceLevel: TraceLevel;
  /** Runs the agent: its program in the sandbox or, if it has none, a part of the kernel. */
  readonly body: "guest" | "kernel";
  /**
   * Over the program, or, without one, over the manifest and the files that belong to it: what the person accepted. Null:
   * the program could not be prepared, and `fault` says why.
   */
  readonly bundleDigest: Hash | null;
  readonly fault?: string;
  /** Errors in its manifest, or in its program's source, that keep it from being used. */
  readonly problems?: {
    readonly count: number;
    readonly first: { readonly message: string; readonly place?: Place };
    /** True if nothing of the manifest applies, so a loaded guest must not be used either. */
    readonly isUnusable: boolean;
  };
  /** Present if `fault` is only that nobody has accepted the extension yet. */
  readonly awaiting?: "acceptance";
}
