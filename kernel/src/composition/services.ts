import { checkPerson } from "../base/vocabulary/principal.ts";
import process from "node:process";
import { hookOf, type DayCounts } from "../agents/day-counts.ts";
import { describeAgent } from "../agents/describe.ts";
import { MetricsRecorder } from "../agents/metrics.ts";
import type { AgentDefinition } from "../agents/ports.ts";
import type { DeadJobDesk } from "../agents/running-jobs/dead-jobs.ts";
import type { AgentRegistry } from "../agents/lifecycle/registry.ts";
import { isoTime, type Clock } from "../base/clock.ts";
import type { Agent } from "../base/vocabulary/agent.ts";
import type { Status } from "../base/vocabulary/status.ts";
import type { Statement } from "../platform/database/database.ts";
import type { WorkspaceFiles } from "../platform/files/workspace-files.ts";
import { FolderCounts } from "../services/folder-counts.ts";
import type { Services } from "../services/ports.ts";
import type { ToolRegistry } from "../tools/registry.ts";
import type { Workspace } from "../workspace/ports.ts";
import type { openActions } from "../actions/service/actions.ts";
import type { Activation } from "./activation.ts";
import type { Log } from "../base/log.ts";
import type { WorkspaceDocuments } from "../configuration/workspace-documents.ts";
import { createEditorServices } from "../authoring/editor-services.ts";
import type { createFileService } from "./subsystems/file-service.ts";
import type { ConfigurationManager } from "../configuration/configuration-manager.ts";
import type { Memories } from "./subsystems/memories.ts";
import { createMemoryService } from "./memory-service.ts";
import type { ShownDecisions } from "../services/shown-decisions.ts";
import { sourceReader } from "./subsystems/resources.ts";

/** The rooms of one workspace that answer clients. */
interface ServiceRooms extends Pick<
  Services,
  | "version"
  | "traces"
  | "conversations"
  | "chatBindings"
  | "filesMoved"
  | "commands"
  | "types"
  | "editorModels"
  | "decisions"
  | "unsaved"
  | "notifications"
  | "progress"
  | "models"
  | "usage"
  | "secrets"
> {
  /** Absolute paths, links resolved. */
  readonly roots: readonly string[];
  readonly stateFolder: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly documents: WorkspaceDocuments;
  readonly configuration: ConfigurationManager;
  readonly activation: Activation;
  readonly registry: AgentRegistry<Statement>;
  readonly dayCounts: DayCounts;
  readonly deadJobs: DeadJobDesk;
  readonly workspace: Workspace;
  readonly actions: ReturnType<typeof openActions>;
  readonly shown: ShownDecisions;
  readonly tools: Pick<ToolRegistry, "list">;
  readonly callTool: Services["tools"]["call"];
  /** Actions that agents proposed since the kernel started. */
  readonly proposed: () => number;
  readonly memories: Memories;
  readonly forgetCopies: Parameters<typeof createMemoryService>[0]["forgetCopies"];
  readonly memoryForgotten: Parameters<typeof createMemoryService>[0]["forgotten"];
  readonly files: WorkspaceFiles;
  readonly clientFiles: ReturnType<typeof createFileService>;
  readonly rehearsal: NonNullable<Status["rehearsal"]> | null;
  /** Returns true if the kernel would not end by itself now. */
  readonly isLasting: () => boolean;
  /** Returns the workspace paths of an absolute path from a client. */
  readonly clientPaths: (absolute: string) => Promise<readonly string[]>;
}

/** Default number of listed jobs. */
const defaultJobs = 100;

/** Creates the clients' services from the rooms. */
export function createServices(rooms: ServiceRooms): Services {
  const {
    version,
    roots,
    stateFolder,
    clock,
    log,
    documents,
    configuration,
    activation,
    registry,
    workspace,
  } = rooms;
  const { actions, shown, tools, callTool, proposed, memories, traces, files, clientFiles, clientPaths } =
    rooms;
  const { notifications, progress, dayCounts, rehearsal, isLasting } = rooms;
  const folderCounts = new FolderCounts(workspace, clock);
  return {
    version,
    status: {
      read: () => ({
        version,
        pid: process.pid,
        ready: activation.isActive && workspace.status().complete,
        workspace: roots[0] ?? "",
        stateFolder,
        trust: configuration.trust,
        agents: activation.isActive ? registry.list().length : configuration.definitions.length,
        index: workspace.status(),
        lasting: isLasting(),
        ...(rehearsal === null ? {} : { rehearsal }),
        pendingActions: Math.max(0, actions.pendingCount() - shown.hiddenActions()),
        idle: activation.isActive && workspace.isIdle && registry.isIdle,
        totals: { ...registry.totals(), actions: proposed() },
      }),
    },
    trust: {
      reloadAndCheckAnswered: () => configuration.reloadAndCheckAnswered(),
      accept: async (by, digest, grants) => {
        checkPerson(by, "accept what a workspace asks for");
        await configuration.accept(digest, grants);
      },
      question: async () => folderCounts.of(await configuration.question()),
      program: (extension, path) => configuration.programChanges(extension, path),
      revoke: async (by) => {
        checkPerson(by, "revoke what was accepted");
        await configuration.revoke();
      },
    },
    agents: {
      list: () =>
        activation.isActive
          ? registry.list()
          : configuration.definitions.map((definition) =>
              asleep(definition, clock, dayCounts.get(definition.id)),
            ),
      control: async (by, id, command, hook) => {
        await activation.agentsKnown();
        return registry.control(by, id, command, hook);
      },
      changed: registry.changed,
      counted: registry.counted,
      eventsToday: (id, handler, event) => dayCounts.get(id, hookOf(handler, event)),
    },
    traces,
    // After a restart a client's request may arrive before the documents are read; the answer needs the agents.
    actions: {
      ...shown.actions,
      get: (id) => actions.get(id),
      diff: (id, effect) => actions.diff(id, effect),
      content: (id, effect, side, offset, length) => actions.content(id, effect, side, offset, length),
      approve: async (by, id, approval) => {
        await activation.agentsKnown();
        return actions.approve(by, id, approval);
      },
      reject: (by, id, reason) => actions.reject(by, id, reason),
      rebase: async (by, id) => {
        await activation.agentsKnown();
        return actions.rebase(by, id);
      },
      undo: (by, id) => actions.undo(by, id),
    },
    asks: shown.asks,
    decisions: rooms.decisions,
    tools: {
      list: async (agent) => {
        await activation.agentsKnown();
        return tools.list(agent);
      },
      call: async (caller, agent, name, args, options) => {
        await activation.agentsKnown();
        return callTool(caller, agent, name, args, options);
      },
    },
    jobs: {
      list: async (limit = defaultJobs, agent, state) => {
        await activation.agentsKnown();
        return state === "dead" ? rooms.deadJobs.list(limit, agent) : registry.jobs(limit, agent);
      },
      cancel: async (by, id, agent) => {
        await activation.agentsKnown();
        return registry.cancelJob(by, id, agent);
      },
      retry: async (by, id) => {
        await activation.agentsKnown();
        return rooms.deadJobs.retry(by, id);
      },
      remove: (by, id) => rooms.deadJobs.remove(by, id),
      changed: registry.jobsChanged,
    },
    types: rooms.types,
    entries: { query: (query, signal) => workspace.query(query, () => true, undefined, signal) },
    memory: createMemoryService({
      memories,
      namespaces: () => configuration.namespaces,
      forgetCopies: rooms.forgetCopies,
      agents: () => registry.list().map(({ id }) => id),
      forgotten: rooms.memoryForgotten,
      checkAgent: async (agent) => {
        await activation.agentsKnown();
        registry.get(agent);
      },
    }),
    conversations: afterAgents(activation, rooms.conversations),
    chatBindings: rooms.chatBindings,
    filesMoved: rooms.filesMoved,
    commands: {
      list: () => rooms.commands.list(),
      run: async (by, agent, name, args, signal) => {
        await activation.agentsKnown();
        return await rooms.commands.run(by, agent, name, args, signal);
      },
    },
    models: rooms.models,
    usage: rooms.usage,
    secrets: rooms.secrets,
    files: clientFiles,
    ...createEditorServices({ documents, clock, log, roots, files, clientPaths, sources: sourceReader }),
    unsaved: rooms.unsaved,
    editorModels: rooms.editorModels,
    notifications: {
      ...notifications,
      act: async (by, id) => {
        await activation.agentsKnown();
        return await notifications.act(by, id);
      },
    },
    progress,
  };
}

/** After a restart a client's request may arrive before the documents are read, which name the minds. */
function afterAgents(
  activation: Activation,
  conversations: Services["conversations"],
): Services["conversations"] {
  return {
    ...conversations,
    open: async (by, request) => {
      await activation.agentsKnown();
      return await conversations.open(by, request);
    },
    send: async (by, message) => {
      await activation.agentsKnown();
      return await conversations.send(by, message);
    },
    search: async (query) => {
      await activation.agentsKnown();
      return await conversations.search(query);
    },
    context: async (id, process) => {
      await activation.agentsKnown();
      return await conversations.context(id, process);
    },
    why: async (query) => {
      await activation.agentsKnown();
      return await conversations.why(query);
    },
  };
}

/** Describes an agent that may not run yet. */
function asleep(definition: AgentDefinition, clock: Clock, eventsToday: number): Agent {
  const memory = { temporalEvents: 0, knowledgeItems: 0, sizeBytes: 0 };
  const metrics = new MetricsRecorder().snapshot(memory, eventsToday);
  return describeAgent(definition, {
    ...(definition.problems?.isUnusable === true
      ? { state: "Error" as const, reason: definition.fault ?? null }
      : { state: "Unloaded" as const, reason: null }),
    isEnabled: definition.enabled,
    since: isoTime(clock.now()),
    metrics,
  });
}
