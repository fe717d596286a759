import type { Action, EffectInput, ProposalOptions, Reasons } from "./action.ts";
import type { AgentHealth } from "./agents.ts";
import type { CallOptions } from "./call.ts";
import type { Entry, EntryPage, EntryQuery } from "./entry.ts";
import type { Ai, Credentials, FetchAnswer, FetchInit } from "./outside.ts";
import type { AgentMemory, MemoryShape, Untyped } from "./memory.ts";
import type { SharedValues } from "./shared-types.ts";

export type Severity = "info" | "warning" | "error";
export type Fields = Readonly<Record<string, unknown>>;

export interface ThumbnailOptions extends CallOptions {
  /** The longer side in pixels, 1 to 1024. A smaller picture keeps its size. */
  readonly maxPx: number;
  /** `rgba8`: 4 bytes a pixel (red, green, blue, opacity), row by row. `jpeg`: a JPEG file without metadata. */
  readonly format: "rgba8" | "jpeg";
}

export interface Thumbnail {
  /** Pixels. */
  readonly width: number;
  readonly height: number;
  readonly bytes: Uint8Array;
}

/** The workspace's files, as far as they were granted. The writes are actions of one effect. */
export interface Vdfs {
  query(query?: EntryQuery, options?: CallOptions): Promise<EntryPage>;
  count(query?: EntryQuery, options?: CallOptions): Promise<number>;
  /** Null if there is nothing, or nothing that the agent may see. */
  get(path: string | { readonly id: string }, options?: CallOptions): Promise<Entry | null>;
  /** The bytes from `offset` (default 0), `length` of them (default: to the end), read in pieces. */
  read(
    path: string,
    options?: { readonly offset?: number; readonly length?: number } & CallOptions,
  ): Promise<Uint8Array>;
  /**
   * The picture in a file, upright and made small: JPEG, PNG, WebP, or a GIF's first frame. Rejects with `InvalidParams` for
   * what is damaged or not such a picture, and with `LimitExceeded` for one that is too large.
   */
  thumbnail(path: string, options: ThumbnailOptions): Promise<Thumbnail>;
  /** The whole file as UTF-8. */
  readText(path: string, options?: CallOptions): Promise<string>;
  readJson<Value = Untyped>(path: string, options?: CallOptions): Promise<Value>;
  /** Other files of the same content. */
  copies(
    contentId: string,
    options?: CallOptions,
  ): Promise<{ readonly count: number; readonly paths: readonly string[] }>;
  readonly tags: {
    add(path: string, tag: string): Promise<Action>;
    remove(path: string, tag: string): Promise<Action>;
  };
  readonly fields: {
    /** In the agent's own namespace. */
    set(path: string, key: string, value: unknown): Promise<Action>;
  };
  readonly sidecar: {
    /** Null if the entry has none of this kind. */
    read<Data = Untyped>(path: string, kind: string, options?: CallOptions): Promise<Data | null>;
    write(path: string, kind: string, data: unknown): Promise<Action>;
  };
}

export interface Actions {
  /** Previews the effects; nothing is stored. */
  preview(effects: readonly EffectInput[], reasons: Reasons): Promise<Action>;
  /** At once: `Committed` where policy allows it, else `PendingApproval`. */
  propose(effects: readonly EffectInput[], reasons: Reasons, options?: ProposalOptions): Promise<Action>;
  get(id: string): Promise<Action>;
  /** Waits until the action has ended: committed, rejected, expired, … */
  settled(id: string, options?: CallOptions): Promise<Action>;
  /** Withdraws an action that waits for a person. `IllegalTransition` if it does not wait any more. */
  withdraw(id: string): Promise<Action>;
}

export interface Trace {
  debug(message: string, fields?: Fields): void;
  info(message: string, fields?: Fields): void;
  warn(message: string, fields?: Fields): void;
  error(message: string, fields?: Fields): void;
}

/** Everything an agent can reach. Calls reject with a `LaresError`. */
export interface AgentContext<Memory = MemoryShape> {
  readonly extension: { readonly id: string; readonly version: string };
  /** `config` of `lares.yaml`, as it is written there. */
  readonly config: Readonly<Record<string, Untyped>>;
  /** Aborted when the agent is told to shut down. */
  readonly signal: AbortSignal;
  /** Returns true if the path is in a granted folder. */
  inGrantedScope(path: string): boolean;
  readonly vdfs: Vdfs;
  readonly memory: AgentMemory<Memory>;
  readonly actions: Actions;
  readonly jobs: {
    /** The job's id. */
    dispatch(
      name: string,
      input: unknown,
      options?: {
        readonly priority?: "low" | "normal" | "high";
        readonly whenIdle?: boolean;
        readonly key?: string;
      },
    ): Promise<string>;
  };
  readonly tools: {
    /** `"agent.id/tool"`; the tool's value, or throws what it failed with (`ToolError`). */
    call<Value = Untyped>(
      tool: string,
      args?: Readonly<Record<string, unknown>>,
      options?: ToolCallOptions,
    ): Promise<Value>;
  };
  readonly agents: {
    /** The agents of the workspace and how they are, by id. Needs the permission `see_agents`. */
    list(): Promise<readonly AgentHealth[]>;
  };
  readonly events: { emit(name: string, data: unknown): Promise<void> };
  readonly shared: {
    // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the author says what is stored there
    read<Value = Untyped>(key: string): Promise<{ readonly version: number; readonly value: Value } | null>;
    /** With `version`: only if it is still that one, else `Conflict`. */
    write(key: string, value: unknown, options?: { readonly version?: number }): Promise<void>;
  };
  /**
   * Values of a type that the extensions of the workspace share: a bare name is this extension's, "extension.id/Type" is
   * another's.
   */
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the author says what the type's values are
  types<Value = Untyped>(type: string): SharedValues<Value>;
  readonly ai: Ai;
  /** Sends a request to a host of `resources.allowed_hosts`. Rejects with `EgressDenied`, `LeakBlocked` or `NetworkError`. */
  fetch(url: string | URL, init?: FetchInit): Promise<FetchAnswer>;
  readonly credentials: Credentials;
  readonly trace: Trace;
  /**
   * Shows the person something; with `action`, offers to do it. Resolves once it is kept for a person who is not there. The
   * same title and severity is one message with a count; of more than 10 in a row a person gets the number.
   */
  notify(
    title: string,
    message: string,
    options?: { readonly severity?: Severity; readonly action?: readonly EffectInput[] },
  ): Promise<void>;
}

export interface ToolCallOptions extends CallOptions {
  /**
   * Any text up to 256 characters. Calling again with the same key does not run the tool again: it returns what the first
   * call returned, or throws what that threw, also after a restart.
   */
  readonly key?: string;
  /**
   * How long to wait, in milliseconds. What the tool calls in turn gets what is left of it. Rejects with `DeadlineExceeded`,
   * and so does a call that is made for a call whose own deadline has passed; its `facts` say whose it was.
   */
  readonly deadlineMs?: number;
}

/** A tool's result that says: this can be done once a person has approved it. */
export interface NeedsApproval {
  readonly status: "needs_approval";
  readonly action: string;
  readonly reason: string;
}

export interface ToolContext<Memory = MemoryShape> extends AgentContext<Memory> {
  readonly callId: string;
  /** "user", "model", or the calling extension's id. */
  readonly caller: string;
  /** Aborted when the caller no longer waits, or when the agent is told to shut down. */
  readonly signal: AbortSignal;
  /** How far it is, from 0 to 1, for whoever called. */
  progress(fraction: number, message?: string): Promise<void>;
  /** To be returned from the tool. */
  needsApproval(action: Action, reason: string): NeedsApproval;
}

/** The context of a named action's handler: a tool's context without `needsApproval`. */
export type ActionContext<Memory = MemoryShape> = Omit<ToolContext<Memory>, "needsApproval">;

export interface JobContext<Memory = MemoryShape> extends AgentContext<Memory> {
  /**
   * Aborted when a person cancelled this job, or the agent is told to shut down. A job that has not ended two seconds
   * later is ended with its agent.
   */
  readonly signal: AbortSignal;
  readonly jobId: string;
  /** The last value passed to `save` before a crash or an unload; undefined on the first run. */
  readonly checkpoint: Untyped;
  /** From 0 to 1. */
  progress(fraction: number, message?: string): Promise<void>;
  /** Saves a checkpoint from which the job is resumed, and restarts its CPU budget. */
  save(checkpoint: unknown): Promise<void>;
  /**
   * Runs a function of the program's `tasks` as a part of this job and returns its result. The result is stored: a later call
   * with the same name and input returns it, even after a restart. A failed task is retried up to `attempts` times (default
   * 3), after `backoff` ("1s") and then twice as long each time. Rejects with `ToolError` if every attempt failed.
   */
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the author says what the task returns
  task<Result = Untyped>(name: string, input: unknown, options?: TaskOptions): Promise<Result>;
}

export interface TaskOptions {
  /** From 1 to 10. */
  readonly attempts?: number;
  /** "500ms", "1s", "2m". */
  readonly backoff?: string;
}

/** The context of a task. The manifest's `agent.concurrency` limits how many run at once. */
export interface TaskContext<Memory = MemoryShape> extends AgentContext<Memory> {
  /** Aborted with the job's signal. */
  readonly signal: AbortSignal;
  readonly jobId: string;
}
