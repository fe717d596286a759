import type { Actions } from "../../actions/api.ts";
import { DayWatch } from "../../agents/day-counts.ts";
import type { Inspections } from "../../agents/inspections.ts";
import type { Deliveries } from "../../agents/lifecycle/deliveries.ts";
import { AgentRegistry } from "../../agents/lifecycle/registry.ts";
import type { RegistryPorts } from "../../agents/lifecycle/registry-ports.ts";
import type { StoppedWork } from "../../agents/stopped-work.ts";
import type { AgentRoster } from "../../agents/lifecycle/roster.ts";
import { Emitter } from "../../base/emitter.ts";
import { messageOf, scopeViolation } from "../../base/errors.ts";
import { newId } from "../../base/ids.ts";
import { Thumbnails } from "../../pictures/thumbnails.ts";
import type { ConfigurationManager } from "../../configuration/configuration-manager.ts";
import type { Program } from "../../configuration/programs.ts";
import { SharedData } from "../../memory/shared-data.ts";
import type { Database, Statement } from "../../platform/database/database.ts";
import type { WorkspaceFiles } from "../../platform/files/workspace-files.ts";
import type { SandboxHost } from "../../sandbox/host/sandbox-host.ts";
import type { Notifications } from "../../notifications/notifications.ts";
import type { WorkProgress } from "../../services/ports.ts";
import type { TraceLog } from "../../trace/trace-log.ts";
import { createGuestDoor } from "../../guests/v1/door.ts";
import { createGuestServices, type GuestServicePorts } from "../../guests/v1/services.ts";
import { mindBody, type RunPrompt, withPrompts } from "../../agent-minds/mind-body.ts";
import { workOfJob } from "../../services/job-work.ts";
import { agentQueue } from "./agent-queue.ts";
import type { OpenedForeign } from "./foreign.ts";
import { startGuest } from "../../guests/start-guest.ts";
import type { KernelContext } from "./kernel-context.ts";
import { readSchedules, scheduleStatements } from "../../agent-state/schedules.ts";
import type { Memories } from "./memories.ts";
import { ExtensionModelsWhenNeeded } from "../../extension-models/when-needed.ts";
import { AgentEmbedders } from "../../embedders/agent-embedders.ts";
import { postForEmbedders } from "../../outside/embedder-requests.ts";
import type { KernelModels } from "../../outside/open-models.ts";
import type { OpenedSharedTypes } from "./shared-types.ts";
import type { AgentQueues } from "./queues.ts";
import type { KernelTools } from "../../tools/open-tools.ts";
import type { KernelWorkspace } from "./workspace.ts";

interface AgentParts {
  readonly database: Database;
  readonly files: WorkspaceFiles;
  readonly sandbox: SandboxHost<Program>;
  readonly configuration: ConfigurationManager;
  readonly traces: TraceLog;
  readonly inspections: Inspections;
  readonly stopped: StoppedWork;
  readonly queues: AgentQueues;
  readonly memories: Memories;
  readonly index: KernelWorkspace;
  readonly actions: Actions;
  readonly tools: KernelTools;
  readonly models: KernelModels;
  readonly agents: AgentRoster;
  readonly deliveries: Deliveries<Statement>;
  readonly progress: Emitter<WorkProgress>;
  readonly notifications: Notifications;
  readonly tellSchedule: RegistryPorts<Statement>["tellSchedule"];
  readonly foreign: OpenedForeign;
  readonly types: OpenedSharedTypes;
  readonly runPrompt: RunPrompt;
}

interface KernelAgents {
  readonly registry: AgentRegistry<Statement>;
  /** Returns how many actions agents proposed since the kernel started. */
  readonly proposed: () => number;
}

/** Opens the agents, from all that they use. None runs before `registry.start()`. */
export async function openAgents(context: KernelContext, parts: AgentParts): Promise<KernelAgents> {
  const { clock, log, opened } = context;
  const { database, sandbox, configuration, queues, memories, agents, deliveries, progress } = parts;
  const { workspace } = parts.index;
  const { notifications, runPrompt } = parts;
  const { inbox, dayCounts, jobs } = queues;
  const proposals = { count: 0 };
  const hooksOf = (id: string) => agents.find(id)?.definition.hooks ?? [];
  const guestServices = createGuestServices({
    ...guestPorts(context, parts),
    notify: (notification) => notifications.add(notification),
    proposed: () => (proposals.count += 1),
  });
  const registry = opened.use(
    new AgentRegistry<Statement>({
      clock,
      stopped: parts.stopped,
      nextTurn: (run) => void setImmediate(run),
      agents,
      deliveries,
      idleUnloadMs: () => configuration.configuration.limits.idleUnloadMs,
      activeAgents: () => configuration.configuration.limits.activeAgents,
      queue: agentQueue(inbox, (event) => parts.foreign.ofEvent(event)),
      dayCounts,
      jobs,
      jobProgress: (report) => progress.emit(workOfJob(report)),
      traces: parts.traces,
      isInspected: (agent) => parts.inspections.has(agent),
      startGuest: async (definition, handlers) => {
        const session = await startGuest({ sandbox, clock, programs: configuration }, definition, handlers);
        return definition.mind === undefined
          ? session
          : withPrompts(session, definition.id, () => hooksOf(definition.id), runPrompt);
      },
      kernelBody: ({ id }) => mindBody({ id }, () => hooksOf(id), runPrompt),
      authorityOf: (agent) => agents.authorityOf(agent),
      readHostCall: createGuestDoor(guestServices),
      memoryFigures: (agent) => memories.memory.stats(`extension/${agent}`),
      adoptTypes: parts.types.adoptTypes,
      openMemory: async (agent) => void (await memories.memory.open(`extension/${agent}`)),
      scheduleStatements,
      alreadyFired: await readSchedules(database),
      waiting: (agent, source) => inbox.waiting(agent, source),
      tellSchedule: (...told) => parts.tellSchedule(...told),
      isEntry: (path) => workspace.get({ path }, () => true) !== null,
      hides: (path) => workspace.view.hides(path),
      clearQueue: (agent) => inbox.clear(agent),
    }),
  );
  opened.use(
    parts.index.indexed.on((run) => {
      registry
        .indexed(run)
        .catch((error: unknown) => log.error(`The index's end was not delivered: ${messageOf(error)}`));
    }),
  );
  opened.use(new DayWatch(clock, () => registry.dayTurned()));
  return { registry, proposed: () => proposals.count };
}

/** Returns the services that answer guests' calls. */
function guestPorts(
  { clock, log, environment, opened }: Pick<KernelContext, "clock" | "log" | "environment" | "opened">,
  {
    database,
    files,
    traces,
    memories,
    index: { workspace },
    actions,
    tools,
    models,
    agents,
    deliveries,
    foreign: ofTexts,
    types,
    progress,
  }: AgentParts,
) {
  const traced = (level: "info" | "warn", agent: string, message: string): void =>
    traces.write({ level, agent, message, trace_id: newId(), span_id: newId() });
  return {
    workspace,
    thumbnails: opened.use(new Thumbnails({ clock, log })),
    actions,
    memories,
    outside: {
      models,
      embedders: opened.use(
        new AgentEmbedders({
          specOf: (agent) => memories.embedderOf(agent),
          post: (agent) => postForEmbedders(models, agent),
          embedHere: (model, texts) => models.inference.embed(model, texts),
          clock,
          failed: (agent, message) => traced("warn", agent, message),
        }),
      ),
      checkObject: (agent, schema, value) => tools.verdictOf(agent, "ai/generate", schema, value),
    },
    infer: {
      extensionModels: opened.use(
        new ExtensionModelsWhenNeeded({
          environment,
          clock,
          log,
          models,
          modelsOf: (agent) => agents.find(agent)?.definition.models ?? [],
          progress: (news) => progress.emit(news),
          trace: traced,
        }),
      ),
    },
    sharedData: new SharedData(database),
    sharedTypes: types.sharedTypes,
    traces,
    healthOfAgents: () => agents.health(),
    callTool: tools.call,
    toolProgress: (agent, call, progress) => agents.get(agent).toolProgress(call, progress),
    traceLevelOf: (agent) => agents.find(agent)?.definition.traceLevel ?? "info",
    refuseLink: async (path) => {
      if ((await files.stat(path))?.kind === "link")
        throw scopeViolation(path, `"${path}" is a link; links are not followed.`);
    },
    jobs: {
      dispatch: (agent, request) => agents.get(agent).jobs.dispatch(request),
      task: (agent, job, request) => agents.get(agent).tasks.run(job, request),
      progress: (agent, job, fraction, message) => agents.get(agent).jobs.progress(job, fraction, message),
      checkpoint: (agent, job, data, read) => agents.get(agent).jobs.checkpoint(job, data, read),
    },
    foreign: ofTexts,
    declaredEvents: (agent) => agents.find(agent)?.definition.events,
    verdictOf: tools.verdictOf,
    emit: (name, data, foreign, lineage) => deliveries.emit(name, data, foreign, lineage),
  } satisfies Omit<GuestServicePorts, "notify" | "proposed">;
}
