import { Inspections } from "../agents/inspections.ts";
import { DeadJobDesk } from "../agents/running-jobs/dead-jobs.ts";
import { ForeignPlaces } from "../agent-state/foreign-places.ts";
import { TaintedContents } from "../conversations/tainted-contents.ts";
import { isoTime } from "../base/clock.ts";
import { Emitter } from "../base/emitter.ts";
import { messageOf } from "../base/errors.ts";
import { useLater } from "../base/use-later.ts";
import { Clients } from "../services/clients.ts";
import { EditorModels } from "../services/editor-models.ts";
import type { Services, WorkProgress } from "../services/ports.ts";
import { createTraceService } from "../services/traces.ts";
import { DiskTimer } from "../journal/disk-timer.ts";
import { ChatBindingRows } from "../conversations/chat-bindings.ts";
import { createConversationService } from "../minds/conversation-service.ts";
import { createCommandService } from "./command-service.ts";
import { Activation } from "./activation.ts";
import { DecisionUses } from "../decisions/uses.ts";
import { createDecisionService } from "./subsystems/decision-service.ts";
import { openLedger } from "./ledger.ts";
import { createServices } from "./services.ts";
import { openShownDecisions } from "./shown-decisions.ts";
import { openAsks } from "./subsystems/asks.ts";
import { openKernelActions } from "./subsystems/actions.ts";
import { AgentLink } from "./subsystems/agent-link.ts";
import { openAgents } from "./subsystems/agents.ts";
import { openConfiguration, openPersonDecisions } from "./subsystems/configuration.ts";
import { openFiles } from "./subsystems/files.ts";
import type { KernelContext, KernelOptions } from "./subsystems/kernel-context.ts";
import { createModelServices } from "./model-services.ts";
import { rehearsalOf } from "./models/rehearsal.ts";
import { openKernelModels } from "./subsystems/kernel-models.ts";
import { openInterception } from "./subsystems/interception.ts";
import { openMemories } from "./subsystems/memories.ts";
import { openMindTools } from "./subsystems/mind-tools.ts";
import { openForeign } from "./subsystems/foreign.ts";
import { openMadeSchedules } from "./subsystems/made-schedules.ts";
import { openNotifications } from "./subsystems/notifications.ts";
import { openMinds } from "./subsystems/minds.ts";
import { openQueues, openTraces } from "./subsystems/queues.ts";
import { openSharedTypes } from "./subsystems/shared-types.ts";
import { openSandbox } from "./subsystems/sandbox.ts";
import { openTools } from "./subsystems/tools.ts";
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

/** Opens each subsystem from the earlier ones. Only `agents` and the emitters refer to later ones. */
async function assemble(context: KernelContext): Promise<Kernel> {
  const { stateFolder, clock, log, version, opened } = context;
  const agents = new AgentLink();
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
  const memories = await openMemories(context, {
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
    agents,
    progress,
  });
  const { workspace } = index;
  index.rootReturned.on(() => documents.watch.renew());
  const { interception, announcer } = openInterception(context, { agents, workspace });
  const actions = openKernelActions(context, {
    interception,
    database,
    files,
    configuration: documents,
    workspace: index,
    agents,
    uses,
  });
  const tools = await openTools(context, { database, agents, actions });
  const notifications = openNotifications(context, {
    database,
    traces,
    agents,
    actions,
    rules: () => configuration.configuration.notifications,
  });
  const tainted = new TaintedContents(database);
  const places = await ForeignPlaces.open(database);
  const types = openSharedTypes(context, { database, agents, tools, places });
  const schedules = await openMadeSchedules(context, { database, asks });
  const minds = openMinds(context, {
    database,
    configuration,
    agents,
    models,
    tools: openMindTools(context, { workspace, agents, tools }),
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
  });
  const inspections = new Inspections();
  const { registry, proposed } = await openAgents(context, {
    inspections,
    database,
    files: files.files,
    sandbox,
    configuration,
    traces,
    queues,
    memories,
    workspace,
    actions,
    tools,
    models,
    agents,
    progress,
    notifications: notifications.notifications,
    types,
    foreign: openForeign({
      configuration,
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

  const scheduled = schedules.before(registry);

  await actions.recover();
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
    decisions: createDecisionService(decisions, uses),
    tools: tools.tools,
    callTool: (caller, agent, name, args, options) => tools.call(agent, name, args, caller, options),
    proposed,
    memories,
    conversations,
    chatBindings: new ChatBindingRows(database, clock),
    filesMoved: index.filesMoved,
    types: types.service,
    commands: createCommandService({ agents, tools, conversations }),
    traces: createTraceService(traces, log, (mayInspect, agent) => inspections.begin(mayInspect, agent)),
    ...createModelServices(models, clock),
    files: files.files,
    clientFiles: files.clientFiles,
    unsaved: files.unsaved,
    clientPaths: files.clientPaths,
    notifications: notifications.service,
    progress,
    rehearsal: rehearsalOf(context.environment),
    isLasting: () => context.keep || minds.isBusy,
  });
  const clients = new Clients({
    services,
    counted: (trusted, untrusted) => {
      decisions.store.clients(trusted);
      // With `--keep` minds work on, within their budgets, whoever is there.
      minds.attended(context.keep || trusted > 0);
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
