import { StoppedWork } from "../agents/stopped-work.ts";
import { Inspections } from "../agents/inspections.ts";
import { AgentRoster } from "../agents/lifecycle/roster.ts";
import { DeadJobDesk } from "../agents/running-jobs/dead-jobs.ts";
import { ForeignPlaces } from "../agent-state/foreign-places.ts";
import { TaintedContents } from "../conversations/tainted-contents.ts";
import { matcherOf } from "../policy/path-matcher.ts";
import { foldPath } from "../policy/paths.ts";
import { isoTime } from "../base/clock.ts";
import { Emitter } from "../base/emitter.ts";
import { messageOf } from "../base/errors.ts";
import { settleHeap } from "../platform/processes/heap.ts";
import { useLater } from "../base/use-later.ts";
import { Clients } from "../services/clients.ts";
import { EditorModels } from "../services/editor-models.ts";
import type { Services, WorkProgress } from "../services/ports.ts";
import { createTraceService } from "../services/traces.ts";
import { DiskTimer } from "../journal/disk-timer.ts";
import { ChatBindingRows } from "../conversations/chat-bindings.ts";
import { createConversationService } from "../minds/conversation-service.ts";
import { createCommandService } from "../services/command-service.ts";
import { memoryForgotten } from "../minds/forgotten-memories.ts";
import { Activation } from "./activation.ts";
import { DecisionUses } from "../decisions/uses.ts";
import { createDecisionService } from "../decisions/decision-service.ts";
import { forgetMemory } from "../minds/forget-memory.ts";
import { type LogRedaction, removeFrom } from "../minds/redacting.ts";
import { openForgetting } from "./forgetting.ts";
import { openLedger } from "./ledger.ts";
import { createServices } from "./services.ts";
import { openShownDecisions } from "../services/shown-decisions.ts";
import { openAsks } from "./subsystems/asks.ts";
import { openKernelActions } from "./subsystems/actions.ts";
import { openAgents } from "./subsystems/agents.ts";
import { openConfiguration, openPersonDecisions } from "./subsystems/configuration.ts";
import { openDeliveries } from "./subsystems/deliveries.ts";
import { openFiles } from "./subsystems/files.ts";
import type { KernelContext, KernelOptions } from "./subsystems/kernel-context.ts";
import { createModelServices } from "../outside/model-services.ts";
import { rehearsalOf } from "../outside/rehearsal.ts";
import { openKernelModels } from "./subsystems/kernel-models.ts";
import { openInterception } from "./subsystems/interception.ts";
import { openMemories } from "./subsystems/memories.ts";
import { MindTools } from "../agent-minds/mind-tools.ts";
import { openForeign } from "./subsystems/foreign.ts";
import { openMadeSchedules } from "./subsystems/made-schedules.ts";
import { withSchedules } from "../minds/schedule-decisions.ts";
import { createNotificationService } from "../notifications/notification-service.ts";
import { openNotifications } from "./subsystems/notifications.ts";
import { openMinds } from "./subsystems/minds.ts";
import { openQueues, openTraces } from "./subsystems/queues.ts";
import { openSharedTypes } from "./subsystems/shared-types.ts";
import { openSandbox } from "./subsystems/sandbox.ts";
import { openTools } from "../tools/open-tools.ts";
import { openIndex } from "./subsystems/workspace.ts";

interface Kernel extends AsyncDisposable {
  readonly services: Services;
  /** The connections through which clients arrive. */
  readonly clients: Clients;
  readonly lingerMs: () => number;
  /** True while conversations work. */
  readonly isAtWork: () => boolean;
}

/** Wires the rooms for one workspace. Before trust, nothing of the workspace is indexed and no agent runs. */
export async function openKernel(options: KernelOptions): Promise<Kernel> {
  const { stateFolder, clock, log } = options;
  // Disposed in reverse order, also if a later step fails.
  const opened = new AsyncDisposableStack();
  try {
    return await assemble({ ...options, opened });
  } catch (error) {
    log.error(`The kernel in ${stateFolder} could not be opened: ${messageOf(error)}`, {
      at: isoTime(clock.now()),
    });
    await opened.disposeAsync();
    throw error;
  }
}

/** Opens each subsystem from the earlier ones. */
async function assemble(context: KernelContext): Promise<Kernel> {
  const { stateFolder, clock, log, version, opened } = context;
  const agents = new AgentRoster();
  const stopped = new StoppedWork();
  const progress = new Emitter<WorkProgress>();

  // Its thread starts while the documents are read.
  const openingLedger = useLater(opened, openLedger(stateFolder, log));
  const decisions = await openPersonDecisions(context);
  const files = await openFiles(context);
  const sandbox = await openSandbox(context);
  const documents = await openConfiguration(context, decisions, sandbox, files);
  const { configuration } = documents;
  const database = await openingLedger;
  const uses = new DecisionUses(database, clock);
  await uses.keepOnly(decisions.store.decisions.map(({ id }) => id));
  const traces = await openTraces(context, configuration);
  const queues = await openQueues(context, database);
  const asks = await openAsks(context, { database, configuration: documents });
  const editorModels = new EditorModels(clock);
  const disk = new DiskTimer(clock);
  const models = await openKernelModels(context, {
    disk,
    database,
    configuration,
    traces,
    asks,
    editor: editorModels,
  });
  const places = await ForeignPlaces.open(database);
  const memories = await openMemories(context, {
    places,
    disk,
    database,
    configuration,
    agents,
    traces,
    progress,
    models,
  });
  const index = await openIndex(context, {
    database,
    roots: files.roots,
    index: configuration.configuration.index,
    progress,
  });
  const { workspace } = index;
  index.rootReturned.on(() => documents.watch.renew());
  const deliveries = await openDeliveries(context, { database, inbox: queues.inbox, agents, index });
  const { interception, announcer } = openInterception(context, { agents, deliveries, workspace });
  const untrusted = matcherOf(() => configuration.configuration.conversations.untrusted);
  const tainted = new TaintedContents(database, {
    isUntrusted: untrusted.matches,
    mayHoldUntrusted: untrusted.reaches,
    fold: foldPath,
    contentOf: (path) => workspace.get({ path }, () => true)?.content_id ?? null,
  });
  const actions = openKernelActions(context, {
    interception,
    tainted,
    database,
    files,
    configuration: documents,
    workspace: index,
    agents,
    deliveries,
    uses,
    stopped,
  });
  const tools = await openTools(context, { database, agents, actions });
  const channelRules = () => configuration.configuration.notifications;
  const notifications = openNotifications(context, { database, traces, actions, rules: channelRules });
  const types = openSharedTypes(context, { database, agents, tools, places });
  const schedules = await openMadeSchedules(context, { database, asks });
  const chatBindings = new ChatBindingRows(database, clock);
  const forgetting = openForgetting(context, {
    database,
    asks,
    actions,
    memories,
    schedules,
    traces,
    chats: chatBindings,
    files: files.files,
  });
  const minds = openMinds(context, {
    forgetting,
    database,
    configuration,
    agents,
    models,
    tools: new MindTools({ workspace, agents, tools: tools.tools }, clock, log),
    actions,
    asks,
    disk,
    notifications: notifications.notifications,
    interception,
    announcer,
    schedules,
    tainted,
    places,
    memories,
    workspace,
    // The agents are opened behind the minds that they are the agents of.
    stopWork: (...stop) => registry.stopWork(...stop),
  });
  const inspections = new Inspections();
  const { registry, proposed } = await openAgents(context, {
    inspections,
    stopped,
    database,
    files: files.files,
    sandbox,
    configuration,
    traces,
    queues,
    memories,
    index,
    actions,
    tools,
    models,
    agents,
    deliveries,
    progress,
    notifications: notifications.notifications,
    tellSchedule: notifications.tellSchedule,
    types,
    foreign: openForeign({
      workspace,
      actions,
      models,
      memories,
      sharedTypes: types.sharedTypes,
      tainted,
      places,
    }),
    runPrompt: async (agent, prompt, { id }, handler) => {
      await minds.prompt(agent, prompt, id);
      await schedules.ran(handler);
    },
  });

  // Agents may be gone because their folder is, which may return before anybody looks at it again.
  context.opened.use(configuration.changed.on(() => void workspace.missingRoots()));
  context.opened.use(registry.added.on(() => minds.agentsReturned()));
  const scheduled = schedules.before(registry);

  await actions.recover();
  // Before anything reads what a person wanted removed.
  await forgetting.resume((logs) => removeFrom(minds, logs as LogRedaction));
  const shown = await openShownDecisions({ actions, asks });

  const activation = new Activation({
    log,
    begin: async (agentsKnown) => {
      await configuration.start(scheduled);
      agentsKnown();
      progress.emit({ work: "index", kind: "begin", title: "Lares: indexing" });
      await workspace.start();
      await registry.start();
      actions.agentsAreKnown(true);
      await minds.start();
      schedules.start();
      if (configuration.snapshot.entries.length > 0) sandbox.prewarm();
      // Reading many documents leaves more garbage than the documents take.
      void settleHeap();
    },
    pause: async () => {
      await minds.pause();
      actions.agentsAreKnown(false);
      await configuration.pause();
    },
    resume: async () => {
      await configuration.start(scheduled);
      actions.agentsAreKnown(true);
      await minds.start();
      schedules.start();
    },
  });

  const conversations = createConversationService(minds);
  context.opened.use(conversations.deleted.on((id) => asks.conversationEnded(id)));
  const services = createServices({
    version,
    roots: context.roots,
    stateFolder,
    clock,
    log,
    documents: documents.documents,
    configuration,
    activation,
    registry,
    dayCounts: queues.dayCounts,
    deadJobs: new DeadJobDesk({
      queue: queues.jobs,
      traces,
      changed: (agent) => {
        agents.find(agent)?.pump();
        registry.jobsChanged.emit(agent);
      },
    }),
    workspace,
    actions,
    shown,
    editorModels,
    decisions: withSchedules(createDecisionService(decisions, uses), schedules),
    tools: tools.tools,
    callTool: (caller, agent, name, args, options) => tools.call(agent, name, args, caller, options),
    proposed,
    memories,
    forgetCopies: (memory, remove) => forgetMemory(minds, memory, remove),
    memoryForgotten: (agent, memory) => memoryForgotten(minds, agent, memory),
    conversations,
    chatBindings,
    filesMoved: index.filesMoved,
    types: types.service,
    commands: createCommandService({ agents, tools, conversations }),
    traces: createTraceService(traces, log, (mayInspect, agent) => inspections.begin(mayInspect, agent)),
    ...createModelServices(models, clock),
    files: files.files,
    clientFiles: files.clientFiles,
    unsaved: files.unsaved,
    clientPaths: files.clientPaths,
    notifications: {
      ...createNotificationService(notifications.notifications, {
        agents: registry,
        actions,
        rules: channelRules,
      }),
      told: notifications.told,
    },
    progress,
    rehearsal: rehearsalOf(context.environment),
    isLasting: () => context.keep || minds.isBusy,
  });
  const clients = new Clients({
    services,
    counted: (trusted, untrusted) => {
      decisions.store.setTrustedClients(trusted);
      // With `--keep` minds work on, within their budgets, whoever is there.
      minds.setAttended(context.keep || trusted > 0);
      activation.startOrPause(trusted, untrusted);
    },
  });
  return {
    services,
    clients,
    lingerMs: () => configuration.configuration.kernel.lingerMs,
    isAtWork: () => minds.isBusy,
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}
