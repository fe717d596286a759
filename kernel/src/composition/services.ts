import process from "node:process";
import { hookOf, type DayCounts } from "../agents/day-counts.ts";
import { describeAgent } from "../agents/describe.ts";
import { MetricsRecorder } from "../agents/metrics.ts";
import type { AgentDefinition } from "../agents/ports.ts";
import type { AgentRegistry } from "../agents/registry.ts";
import { isoTime, type Clock } from "../base/clock.ts";
import type { Agent } from "../base/vocabulary/agent.ts";
import type { Statement } from "../platform/database.ts";
import type { WorkspaceFiles } from "../platform/workspace-files.ts";
import type { KernelServices } from "../server/ports.ts";
import type { ToolRegistry } from "../tools/registry.ts";
import type { Workspace } from "../workspace/ports.ts";
import type { openActions } from "../actions/actions.ts";
import type { Activation } from "./activation.ts";
import type { Log } from "../base/log.ts";
import type { Catalog } from "./catalog.ts";
import { createEditorServices } from "./editor-services.ts";
import type { createFileService } from "./file-service.ts";
import type { Governor } from "./governor.ts";
import type { Memories } from "./memories.ts";
import { createMemoryService } from "./memory-service.ts";
import { openShownFiles } from "./shown-files.ts";

/** The rooms of one workspace, as far as clients are answered from them. */
export interface ServiceRooms extends Pick<
  KernelServices,
  "version" | "traces" | "decisions" | "notifications" | "progress"
> {
  /** Absolute paths, links resolved. */
  readonly roots: readonly string[];
  readonly stateFolder: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly catalog: Catalog;
  readonly governor: Governor;
  readonly activation: Activation;
  readonly registry: AgentRegistry<Statement>;
  readonly dayCounts: DayCounts;
  readonly workspace: Workspace;
  readonly actions: ReturnType<typeof openActions>;
  /** How many clients there are now whom the workspace's agents may act for. */
  readonly clientsTrusted: (clients: number) => void;
  readonly tools: Pick<ToolRegistry, "list">;
  /** In the name of the person. */
  readonly callTool: KernelServices["tools"]["call"];
  /** Actions that agents proposed since the kernel started. */
  readonly proposed: () => number;
  readonly memories: Memories;
  readonly files: WorkspaceFiles;
  readonly clientFiles: ReturnType<typeof createFileService>;
  /** Workspace paths of an absolute one, as clients name it. */
  readonly clientPaths: (absolute: string) => Promise<readonly string[]>;
}

/** How many jobs are listed where nothing else is asked. */
const defaultJobs = 100;

/** What the server asks, from the rooms that know. */
export function createServices(rooms: ServiceRooms): KernelServices {
  const { version, roots, stateFolder, clock, log, catalog, governor, activation, registry, workspace } =
    rooms;
  const { actions, tools, callTool, proposed, memories, traces, files, clientFiles, clientPaths } = rooms;
  const { notifications, progress, dayCounts } = rooms;
  return {
    version,
    status: {
      read: () => ({
        version,
        pid: process.pid,
        ready: activation.isActive && workspace.status().complete,
        workspace: roots[0] ?? "",
        stateFolder,
        trust: governor.trust,
        agents: activation.isActive ? registry.list().length : governor.definitions.length,
        index: workspace.status(),
        pendingActions: actions.pendingCount(),
        idle: activation.isActive && workspace.isIdle && registry.isIdle,
        totals: { ...registry.totals(), actions: proposed() },
      }),
    },
    trust: {
      isAccepted: () => governor.isAccepted(),
      accept: (digest) => governor.accept(digest),
      revoke: () => governor.revoke(),
      connections: (trusted, untrusted) => {
        rooms.clientsTrusted(trusted);
        activation.connections(trusted, untrusted);
      },
    },
    agents: {
      list: () =>
        activation.isActive
          ? registry.list()
          : governor.definitions.map((definition) => asleep(definition, clock, dayCounts.get(definition.id))),
      control: async (id, command) => {
        await activation.agentsKnown();
        return registry.control(id, command);
      },
      changed: registry.changed,
      counted: registry.counted,
      eventsToday: (id, handler, event) => dayCounts.get(id, hookOf(handler, event)),
    },
    traces,
    // After a restart a client's request may come before the documents are read; what follows needs the agents.
    actions: {
      changed: actions.changed,
      list: (query) => actions.list(query),
      get: (id) => actions.get(id),
      diff: (id, effect) => actions.diff(id, effect),
      content: (id, effect, side, offset, length) => actions.content(id, effect, side, offset, length),
      approve: async (id, approval) => {
        await activation.agentsKnown();
        return actions.approve(id, approval);
      },
      reject: (id, reason) => actions.reject(id, reason),
      undo: (id) => actions.undo(id),
    },
    decisions: rooms.decisions,
    tools: {
      list: async (agent) => {
        await activation.agentsKnown();
        return tools.list(agent);
      },
      call: async (agent, name, args) => {
        await activation.agentsKnown();
        return callTool(agent, name, args);
      },
    },
    jobs: {
      list: async (limit = defaultJobs, agent) => {
        await activation.agentsKnown();
        return registry.jobs(limit, agent);
      },
      cancel: async (id, agent) => {
        await activation.agentsKnown();
        return registry.cancelJob(id, agent);
      },
      changed: registry.jobsChanged,
    },
    entries: { query: (query) => workspace.query(query, () => true) },
    memory: createMemoryService({
      memories,
      namespaces: () => governor.namespaces,
      agents: () => registry.list().map(({ id }) => id),
      checkAgent: async (agent) => {
        await activation.agentsKnown();
        registry.get(agent);
      },
    }),
    files: clientFiles,
    ...createEditorServices({ catalog, clock, log, roots, files, clientPaths }),
    shownFiles: openShownFiles(stateFolder),
    notifications,
    progress,
  };
}

/** An agent that may not run yet, as it is shown. */
function asleep(definition: AgentDefinition, clock: Clock, eventsToday: number): Agent {
  const memory = { temporalEvents: 0, knowledgeItems: 0, sizeBytes: 0 };
  const metrics = new MetricsRecorder().snapshot(memory, eventsToday);
  return describeAgent(definition, {
    state: "Unloaded",
    reason: null,
    isEnabled: definition.enabled,
    since: isoTime(clock.now()),
    metrics,
  });
}
