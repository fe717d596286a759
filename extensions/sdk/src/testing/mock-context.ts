import { effectivePermissions } from "../../../../kernel/src/policy/decide.ts";
import type { Authority } from "../../../../kernel/src/base/vocabulary/permissions.ts";
import { forJob, forTool, makeContext } from "../context/context.ts";
import type { AgentHealth } from "../types/agents.ts";
import type { JobContext, ToolContext } from "../types/context.ts";
import type { MemoryShape, PartOf } from "../types/memory.ts";
import type { Permissions } from "../types/permissions.ts";
import { mockModels, type MockOutside, mockOutside } from "./mock-outside.ts";
import type { MockType } from "./mock-type.ts";
import { MockTypes } from "./mock-types.ts";
import { makeMockKernel } from "./mock-kernel.ts";
import { type MockEntry, MockWorkspace } from "./mock-workspace.ts";
import type { Recorded } from "./recorded.ts";

export interface MockOptions<Memory = MemoryShape> extends MockOutside {
  readonly entries?: readonly MockEntry[];
  /** The initial content of working memory. */
  readonly memory?: { readonly plan?: PartOf<Memory, "plan"> };
  /**
   * The manifest's permissions; default: everything that needs no name, with `model` models of the category "chat", and
   * with `secrets` these.
   */
  readonly permissions?: Permissions;
  /** As `grants` in lares.yaml; default: the whole workspace, all requested permissions. */
  readonly grants?: {
    readonly locations?: readonly string[];
    readonly allow?: readonly string[];
    readonly deny?: readonly string[];
    /** Shared memories, as `shared_namespaces` and `import_namespaces` name them; default: none. Each begins empty. */
    readonly namespaces?: Readonly<Record<string, "read" | "read_write">>;
  };
  /** Milliseconds since 1970; default: the machine's clock. */
  readonly clock?: { now(): number };
  readonly config?: Readonly<Record<string, unknown>>;
  readonly extension?: { readonly id: string; readonly version: string };
  /** Shared types, by "Person" or "agent.id/Person"; others need the permission `shared_types`. */
  readonly types?: Readonly<Record<string, MockType>>;
  /** How the agents of the workspace are; default: there are none. */
  readonly agents?: readonly AgentHealth[];
  /** Other agents' tools, by "agent.id/tool". */
  readonly tools?: Readonly<Record<string, (args: unknown) => unknown>>;
  /** For a job: what its tasks answer, by name; default: there are none. */
  readonly tasks?: Readonly<Record<string, (input: unknown) => unknown>>;
  /** For a job: the checkpoint from which it resumes. */
  readonly checkpoint?: unknown;
}

/** A context for hooks, tools and jobs alike, with a record of the handler's calls. */
export type MockContext<Memory = MemoryShape> = ToolContext<Memory> &
  JobContext<Memory> & { readonly recorded: Recorded };

const everything: Permissions = {
  read_entries: true,
  write_tags: true,
  dispatch_jobs: true,
  see_agents: true,
  propose_actions: ["file.*", "folder.*"],
};

const everythingOf = ({ model, secrets }: MockOutside): Permissions => ({
  ...everything,
  ...(model === undefined ? {} : { use_models: [{ category: "chat" }] }),
  ...(secrets === undefined ? {} : { use_credentials: secrets }),
});

/**
 * A context that runs a handler in a plain test: the SDK's own code over entries in memory, decided by the
 * kernel's own policy, so that what is refused here is refused there.
 *
 *     const ctx = mockContext({ entries: [{ path: "photos/a.jpg" }], grants: { locations: ["photos"] } });
 *     await agent.hooks.photoAdded(event, ctx);
 *     expect(ctx.recorded.actions).toHaveLength(1);
 */
export function mockContext<Memory = MemoryShape>(options: MockOptions<Memory> = {}): MockContext<Memory> {
  const { extension = { id: "dev.test.agent", version: "1.0.0" }, grants = {} } = options;
  // The kernel's type is equal except that it is derived from a schema, in which lists are not readonly.
  const permissions = (options.permissions ?? everythingOf(options)) as Authority["requested"];
  const now = (): number => options.clock?.now() ?? Date.now();
  const locations = [...(grants.locations ?? ["."])].map((location) => location.replace(/\/+$/, ""));
  const models = mockModels(options);
  const authority: Authority = {
    extension: extension.id,
    requested: permissions,
    ...effectivePermissions(permissions, grants),
    locations,
    protectedPaths: [],
    forbiddenPaths: [],
    memory: true,
    namespaces: grants.namespaces ?? {},
    hosts: options.hosts ?? [],
    models: models.map(({ name }) => name),
  };
  const kernel = makeMockKernel({
    authority,
    workspace: new MockWorkspace(options.entries ?? [], new Date(now()).toISOString()),
    now,
    plan: options.memory?.plan,
    agents: options.agents ?? [],
    tools: options.tools ?? {},
    types: new MockTypes(extension.id, options.types ?? {}),
    tasks: options.tasks ?? {},
    outside: mockOutside(options),
  });
  const identity = {
    extension,
    config: options.config ?? {},
    permissions: authority.effective,
    locations,
    models: authority.denied.includes("use_models") ? [] : models,
  };
  const plan = options.memory?.plan;
  const context = makeContext<Memory>(
    kernel,
    identity,
    plan === undefined ? {} : { memory: { plan } },
    new AbortController().signal,
  );
  return {
    ...forTool(context, kernel, { callId: "call-1", caller: "user", signal: context.signal }),
    ...forJob(context, kernel, {
      id: "job-1",
      checkpoint: options.checkpoint,
      signal: context.signal,
    }),
    recorded: kernel.recorded,
  };
}
