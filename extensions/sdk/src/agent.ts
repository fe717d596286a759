import type { ActionPlan } from "./types/action.ts";
import type { ActionContext, AgentContext, JobContext, TaskContext, ToolContext } from "./types/context.ts";
import type { HookEvent } from "./types/event.ts";
import type { MemoryShape, PartOf, Untyped } from "./types/memory.ts";

/** An agent's program: the handlers that its manifest names. */
export interface AgentDefinition<Memory = MemoryShape> {
  /** The content of the memories before anything was written. */
  memory?: { plan?: PartOf<Memory, "plan"> };
  /** Called before the first event. */
  onStartup?(ctx: AgentContext<Memory>): unknown;
  /** The last call; it must finish within seconds. */
  onShutdown?(ctx: AgentContext<Memory>): unknown;
  /** Called after the agent's permissions have changed. */
  onPermissionChange?(ctx: AgentContext<Memory>): unknown;
  /**
   * By the manifest's `handler`. An event is acknowledged when its handler returns; a hook with `intercept: true` returns an
   * `InterceptAnswer`.
   */
  hooks?: Record<string, (event: HookEvent, ctx: AgentContext<Memory>) => unknown>;
  /** Resumed after a crash from the last saved checkpoint. */
  jobs?: Record<string, (input: Untyped, ctx: JobContext<Memory>) => unknown>;
  /** Parts of jobs, which `ctx.task(name, input)` runs. */
  tasks?: Record<string, (input: Untyped, ctx: TaskContext<Memory>) => unknown>;
  /**
   * The arguments were validated against the manifest's schema. A returned value means success, an exception means
   * error; or return `ctx.needsApproval(…)`.
   */
  tools?: Record<string, (args: Untyped, ctx: ToolContext<Memory>) => unknown>;
  /**
   * By the manifest's `handler`, for its named actions. The parameters were validated against the manifest's schema. The
   * handler returns effects; the kernel proposes them like any other proposal, with preview, decision and undo. Return no
   * effects if there is nothing to do.
   */
  actions?: Record<
    string,
    (parameters: Untyped, ctx: ActionContext<Memory>) => ActionPlan | Promise<ActionPlan>
  >;
  /**
   * Migrations of the manifest's types, by name. `migrate` converts a value from the older version `from` to the manifest's
   * version; the key must not change. Without `migrate`, older values must fit the new schema unchanged.
   */
  types?: Record<string, { migrate?(value: Untyped, from: number): unknown }>;
  /** Functions that a person runs by name; otherwise like `tools`. */
  commands?: Record<string, (args: Untyped, ctx: ToolContext<Memory>) => unknown>;
}

/** Types an agent's definition; the default export of its program. */
export function defineAgent<Memory = MemoryShape>(
  definition: AgentDefinition<Memory>,
): AgentDefinition<Memory> {
  return definition;
}
