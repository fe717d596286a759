import type { AgentDefinition } from "../agent.ts";
import type { AgentContext, JobContext, NeedsApproval, ToolContext } from "../types/context.ts";
import type { PartOf } from "../types/memory.ts";
import type { OwnModel } from "../types/infer.ts";
import type { Permissions } from "../types/permissions.ts";
import type { Kernel } from "./kernel.ts";
import { makeMemory } from "./memory.ts";
import { isInScope } from "./scope.ts";
import { makeOutside } from "./outside.ts";
import { makeServices } from "./services.ts";
import { makeTypes } from "./types.ts";
import { makeVdfs } from "./vdfs.ts";

/** The kernel's facts about the agent; the last three fields change while it runs. */
export interface Identity {
  readonly extension: { readonly id: string; readonly version: string };
  readonly config: Readonly<Record<string, unknown>>;
  permissions: Permissions;
  locations: readonly string[];
  models: readonly OwnModel[];
}

/** The one context of a running agent; tools and jobs get it with their own additions. */
export function makeContext<Memory>(
  kernel: Kernel,
  identity: Identity,
  definition: AgentDefinition<Memory>,
  signal: AbortSignal,
): AgentContext<Memory> {
  const fieldNamespace = (): string =>
    identity.permissions.write_custom_fields?.namespace ?? identity.extension.id;
  return {
    extension: identity.extension,
    config: identity.config,
    signal,
    inGrantedScope: (path) => isInScope(path, identity.locations),
    vdfs: makeVdfs(kernel, fieldNamespace),
    memory: makeMemory<Memory>(kernel, (definition.memory?.plan ?? {}) as PartOf<Memory, "plan">),
    ...makeServices(kernel),
    types: makeTypes(kernel, identity.extension.id),
    ...makeOutside(kernel, () => identity.models),
  };
}

/** Distinguishes real approvals from values that merely look like them. */
const approvals = new WeakSet<object>();

export function isNeedsApproval(value: unknown): value is NeedsApproval {
  return typeof value === "object" && value !== null && approvals.has(value);
}

export function forTool<Memory>(
  context: AgentContext<Memory>,
  kernel: Kernel,
  call: { readonly callId: string; readonly caller: string; readonly signal: AbortSignal },
): ToolContext<Memory> {
  return {
    ...context,
    ...call,
    progress: async (fraction, message) =>
      void (await kernel.call("tools/progress", { call_id: call.callId, fraction, message })),
    needsApproval: (action, reason) => {
      const result: NeedsApproval = { status: "needs_approval", action: action.id, reason };
      approvals.add(result);
      return result;
    },
  };
}

export function forJob<Memory>(
  context: AgentContext<Memory>,
  kernel: Kernel,
  job: { readonly id: string; readonly checkpoint?: unknown; readonly signal: AbortSignal },
): JobContext<Memory> {
  return {
    ...context,
    signal: job.signal,
    jobId: job.id,
    checkpoint: job.checkpoint,
    progress: async (fraction, message) => void (await kernel.call("jobs/progress", { fraction, message })),
    task: (async (name, input, { attempts, backoff } = {}) =>
      (await kernel.call("jobs/task", { name, input: input ?? null, attempts, backoff }))
        .result) as JobContext["task"],
    save: async (checkpoint) => void (await kernel.call("jobs/checkpoint", { data: checkpoint ?? null })),
  };
}
