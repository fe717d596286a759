import type { AgentContext, JobContext, ToolContext } from "./types/context.ts";
import type { HookEvent } from "./types/event.ts";
import type { MemoryShape, PartOf, Untyped } from "./types/memory.ts";

/** An agent's program: the handlers its manifest names. */
export interface AgentDefinition<Memory = MemoryShape> {
  /** What the memories hold before anything was written. */
  memory?: { plan?: PartOf<Memory, "plan"> };
  /** Before the first event. */
  onStartup?(ctx: AgentContext<Memory>): unknown;
  /** The last call; what it awaits must be done within seconds. */
  onShutdown?(ctx: AgentContext<Memory>): unknown;
  /** After what it was granted has changed. */
  onPermissionChange?(ctx: AgentContext<Memory>): unknown;
  /** By the name the manifest's `handler` gives. An event is acknowledged when its handler returns. */
  hooks?: Record<string, (event: HookEvent, ctx: AgentContext<Memory>) => unknown>;
  /** Resumed after a crash from what they saved. */
  jobs?: Record<string, (input: Untyped, ctx: JobContext<Memory>) => unknown>;
  /** Arguments were checked against the manifest's schema. Returned: success; thrown: error; or `ctx.needsApproval(…)`. */
  tools?: Record<string, (args: Untyped, ctx: ToolContext<Memory>) => unknown>;
}

/** Types an agent's definition; the default export of its program. */
export function defineAgent<Memory = MemoryShape>(
  definition: AgentDefinition<Memory>,
): AgentDefinition<Memory> {
  return definition;
}
