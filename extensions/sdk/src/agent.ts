import type { AgentContext, JobContext, ToolContext } from "./types/context.ts";
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
  /**
   * The arguments were validated against the manifest's schema. A returned value means success, an exception means
   * error; or return `ctx.needsApproval(…)`.
   */
  tools?: Record<string, (args: Untyped, ctx: ToolContext<Memory>) => unknown>;
  /** Functions that a person runs by name; otherwise like `tools`. */
  commands?: Record<string, (args: Untyped, ctx: ToolContext<Memory>) => unknown>;
}

/** Types an agent's definition; the default export of its program. */
export function defineAgent<Memory = MemoryShape>(
  definition: AgentDefinition<Memory>,
): AgentDefinition<Memory> {
  return definition;
}
