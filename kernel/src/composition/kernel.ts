import { join } from "node:path";
import { openActions } from "../actions/actions.ts";
import { openContentWork } from "../actions/content-work.ts";
import { actionsMigrations } from "../actions/ledger.ts";
import { DayCounts, dayCountMigrations, DayWatch } from "../agents/day-counts.ts";
import { agentMigrations } from "../agents/first-sight.ts";
import { AgentRegistry } from "../agents/registry.ts";
import { scheduleMigrations } from "../agents/schedules.ts";
import { isoTime, type Clock } from "../base/clock.ts";
import { Emitter } from "../base/emitter.ts";
import { messageOf, scopeViolation } from "../base/errors.ts";
import { newId } from "../base/ids.ts";
import type { JsonValue } from "../base/json.ts";
import type { Log } from "../base/log.ts";
import { useLater } from "../base/use-later.ts";
import { Activation } from "./activation.ts";
import { agentQueue } from "./agent-queue.ts";
import { eventOfChange } from "../events/changes.ts";
import { openInbox } from "../inbox/inbox.ts";
import { Jobs } from "../jobs/jobs.ts";
import { jobsMigrations } from "../jobs/migrations.ts";
import { inboxMigrations } from "../inbox/migrations.ts";
import { memoryMigrations } from "../memory/journal/heads.ts";
import { SharedData, sharedDataMigrations } from "../memory/shared-data.ts";
import { cacheKey, openCacheFolder } from "../platform/cache-folder.ts";
import { openDatabase, type Statement } from "../platform/database.ts";
import { settleHeap } from "../platform/heap.ts";
import { openObjectStore } from "../platform/object-store.ts";
import { openRootedFs } from "../platform/rooted-fs.ts";
import { WorkspaceFiles } from "../platform/workspace-files.ts";
import { createSandboxHost } from "../sandbox/host/sandbox-host.ts";
import { guestPreamble } from "../sandbox/guest/preamble.ts";
import type { AgentNotice, WorkProgress, KernelServices } from "../server/ports.ts";
import { ToolRegistry } from "../tools/registry.ts";
import { openTraceLog } from "../trace/trace-log.ts";
import { openWorkspace } from "../workspace/workspace.ts";
import { workspaceMigrations } from "../workspace/migrations.ts";
import { Catalog } from "./catalog.ts";
import {
  createDecisionService,
  decisionMigrations,
  originOf,
  tidyUses,
  useStatements,
} from "./decision-service.ts";
import { openDecisions } from "./decisions-file.ts";
import { eventPorts } from "./documents.ts";
import { createFileService, unsavedAmong } from "./file-service.ts";
import { Governor } from "./governor.ts";
import { startGuest } from "./guests.ts";
import { createHostServices } from "./host-services.ts";
import { validateHostCall } from "./host-call-shapes.ts";
import { openMemories } from "./memories.ts";
import { dayCountStatements, readDayCounts } from "./kept-day-counts.ts";
import { readSchedules, scheduleStatements } from "./kept-schedules.ts";
import { createProgramLoader, type Program } from "./programs.ts";
import { bundle, readGuestRuntime, resources } from "./resources.ts";
import { createServices } from "./services.ts";
import { workOfJob } from "./job-work.ts";
import { readShown, sightStatements } from "./shown-locations.ts";
import { readTraceSettings } from "./trace-settings.ts";
import { namedRoots, pathMapper, throughLinks } from "./workspace-paths.ts";
import { PathWatch } from "./path-watch.ts";

export interface KernelOptions {
  readonly stateFolder: string;
  /** Holds the state of all workspaces. Links resolved, as in the other paths. */
  readonly stateHome: string;
  /** As the client named them: what it has open it names in the same way. */
  readonly givenRoots: readonly string[];
  /** Absolute paths, links resolved. */
  readonly roots: readonly string[];
  readonly userFolder: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly version: string;
  readonly clock: Clock;
  readonly log: Log;
}

export interface Kernel extends AsyncDisposable {
  readonly services: KernelServices;
  readonly lingerMs: () => number;
  /** Who knows what clients have open and unsaved, by URI. */
  setUnsavedDocuments(documents: () => Promise<readonly string[]>): void;
}

/** Puts the rooms together for one workspace. Nothing of the workspace is indexed and no agent runs before trust. */
export async function openKernel(options: KernelOptions): Promise<Kernel> {
  const { stateFolder, clock, log } = options;
  // Closed in reverse order, also when something below fails to open.
  const opened = new AsyncDisposableStack();
  try {
    return await assemble(options, opened);
  } catch (error) {
    log.error(`The kernel in ${stateFolder} could not be opened: ${messageOf(error)}`, {
      at: isoTime(clock.now()),
    });
    await opened.disposeAsync();
    throw error;
  }
}

async function assemble(options: KernelOptions, opened: AsyncDisposableStack): Promise<Kernel> {
  const { stateFolder, clock, log, environment, version } = options;
  // Its thread begins while the documents are read.
  const openingDatabase = useLater(
    opened,
    openDatabase({
      path: join(stateFolder, "ledger.sqlite"),
      migrations: [
        ...workspaceMigrations,
        ...inboxMigrations,
        ...jobsMigrations,
        ...actionsMigrations,
        ...memoryMigrations,
        ...sharedDataMigrations,
        ...agentMigrations,
        ...dayCountMigrations,
        ...scheduleMigrations,
        ...decisionMigrations,
      ],
      log,
    }),
  );
  const decisions = await openDecisions(stateFolder, clock, log);
  opened.defer(() => decisions.close());
  const objects = await openObjectStore(join(stateFolder, "objects"));
  const roots = namedRoots(options.roots);
  const rooted = await Promise.all(
    roots.map(async ({ name, path }) => ({ name, files: opened.use(await openRootedFs(path)) })),
  );

  const sandbox = opened.use(
    createSandboxHost<Program>({
      clock,
      log,
      cache: openCacheFolder(join(stateFolder, "cache"), {
        maxFiles: 256,
        key: await cacheKey(join(stateFolder, "cache.key"), log),
        log,
      }),
      javascript: { runtime: readGuestRuntime, preamble: (program) => guestPreamble(program) },
    }),
  );
  const catalog = new Catalog({
    roots: options.roots,
    userFolder: options.userFolder,
    stateHome: options.stateHome,
    bundledExtensions: resources.extensions,
    defaultsFile: resources.defaults,
    environment,
    kernelVersion: version,
    events: eventPorts(clock),
    programs: createProgramLoader(bundle, (bytes) => sandbox.check({ kind: "wasm", bytes })),
    log,
  });

  const workspacePaths = pathMapper(roots);
  let reload = (): void => undefined;
  const watch = opened.use(new PathWatch({ clock, log, bases: options.roots, changed: () => reload() }));
  let applyDefinitions: AgentRegistry<Statement>["apply"] = async () => undefined;
  const governor = await Governor.open({
    catalog,
    decisions: decisions.store,
    log,
    context: {
      clock,
      workspacePaths,
      // Of every workspace, not only of this one: who opens their home has them all inside.
      forbiddenPaths: workspacePaths(options.stateHome),
      protectedPaths: workspacePaths(options.userFolder),
    },
    apply: (definitions) => applyDefinitions(definitions),
    watch: (extensionFolders, { paths, listed }) => watch.watch({ paths, listed, trees: extensionFolders }),
  });
  reload = () => governor.reloadBehind();
  const configuration = () => governor.configuration;
  const database = await openingDatabase;
  await tidyUses(database, decisions.store);

  const traces = opened.use(
    await openTraceLog({
      folder: join(stateFolder, "traces"),
      clock,
      log,
      ...(await readTraceSettings(configuration())),
    }),
  );
  const dayCounts = new DayCounts(clock, await readDayCounts(database));
  const inbox = opened.use(
    await openInbox({ database, clock, log, alongside: () => dayCounts.unsaved(dayCountStatements) }),
  );
  const memories = opened.use(
    await openMemories({
      stateFolder,
      userFolder: options.userFolder,
      environment,
      database,
      clock,
      log,
      configuration,
      namespaces: () => governor.namespaces,
      agent: (id) => {
        const definition = registry.find(id)?.definition;
        return (
          definition && {
            limits: definition.limits,
            retentionDays: definition.memoryRetentionDays,
            prune: definition.memoryPrune,
          }
        );
      },
      warn: (agent, message) =>
        traces.write({ level: "warn", agent, message, trace_id: newId(), span_id: newId() }),
    }),
  );
  const { memory } = memories;

  const progress = new Emitter<WorkProgress>();
  memories.progress.on((work) => progress.emit(work));
  let heapSettled: Promise<void> | undefined;
  const workspace = opened.use(
    await openWorkspace(
      { roots, stateFolder: options.stateHome, index: configuration().index },
      {
        database,
        clock,
        log,
        open: (root) => openRootedFs(root),
        deliver: (changes) => registry.deliver(changes),
        rootReturned: () => watch.renew(),
        indexed: (run) => {
          progress.emit({ work: "index", kind: "end", message: `${run.entries} entries` });
          registry
            .indexed(run)
            .catch((error: unknown) => log.error(`The index's end was not delivered: ${messageOf(error)}`));
          heapSettled ??= settleHeap();
        },
      },
    ),
  );

  let unsaved: () => Promise<readonly string[]> = async () => [];
  // A client may know the workspace by a path with links in it.
  const given = pathMapper(
    options.givenRoots.map((path, index) => ({ name: roots[index]?.name ?? "", path })),
  );
  const clientPaths = throughLinks((absolute) => [...workspacePaths(absolute), ...given(absolute)]);
  const files = new WorkspaceFiles(rooted);
  const clientFiles = createFileService(files, clientPaths);
  const contents = openContentWork(files);
  const actions = opened.use(
    openActions({
      database,
      files,
      contents,
      objects,
      clock,
      log,
      metadata: {
        ...workspace.metadata,
        sidecar: (path, sidecar) =>
          workspace.readSidecar(path, sidecar) as Promise<{ data: JsonValue } | null>,
      },
      settings: () => ({
        rules: governor.rules,
        autoApproveBelow: configuration().approvals.autoApproveBelow,
        expireAfterMs: configuration().approvals.expireAfterMs,
      }),
      authorityOf: (agent) => {
        const supervisor = registry.find(agent);
        return supervisor?.isListening === true ? supervisor.authority : null;
      },
      openWithUnsavedChanges: async (paths) => unsavedAmong(clientFiles, await unsaved(), paths),
      copies: (content) => workspace.copies(content, () => true).paths,
      index: workspace.view,
      touched: (paths) => workspace.touched(paths),
      remember: (rules) => decisions.store.remember(rules),
      originOf: (basis) => originOf(decisions, governor, basis),
      used: (origins) => useStatements(origins, clock),
    }),
  );

  // Ended before the actions are: what an agent asked for does not hold up the kernel's end.
  opened.use(contents);

  const tools = opened.use(
    new ToolRegistry({
      owners: () => registry.definitions(),
      invoke: (agent, handler, args, caller) => registry.get(agent).callTool(handler, args, caller),
    }),
  );
  const notifications = new Emitter<AgentNotice>();
  let proposed = 0;
  const callTool = async (agent: string, name: string, args: unknown, caller: string) => {
    const result = await tools.call(agent, name, args, caller);
    if (result.status !== "needs_approval") return result;
    const action = await actions.get(result.action);
    if (action === null || action.agent !== agent) {
      return {
        status: "error" as const,
        message: `${agent}/${name} asked for approval of an action that is not its own.`,
        recoverable: false,
      };
    }
    return { ...result, action };
  };
  const shown = await readShown(database);
  const alreadyFired = await readSchedules(database);
  const registry: AgentRegistry<Statement> = opened.use(
    new AgentRegistry<Statement>({
      clock,
      nextTurn: (run) => void setImmediate(run),
      eventOf: (change) => eventOfChange(change, { id: newId(), timestamp: isoTime(clock.now()) }),
      idleUnloadMs: () => configuration().limits.idleUnloadMs,
      activeAgents: () => configuration().limits.activeAgents,
      validateHostCall,
      queue: agentQueue(inbox),
      dayCounts,
      jobs: await Jobs.open(database, clock),
      jobProgress: (told) => progress.emit(workOfJob(told)),
      traces,
      startGuest: (definition, handlers) =>
        startGuest(
          { sandbox, clock, programOf: (wanted) => governor.programOf(wanted) },
          definition,
          handlers,
        ),
      services: createHostServices({
        workspace,
        actions,
        memories,
        sharedData: new SharedData(database),
        traces,
        callTool,
        traceLevelOf: (agent) => registry.find(agent)?.definition.traceLevel ?? "info",
        refuseLink: async (path) => {
          if ((await files.stat(path))?.kind === "link")
            throw scopeViolation(path, `"${path}" is a link; links are not followed.`);
        },
        jobs: {
          dispatch: (agent, request) => registry.get(agent).jobs.dispatch(request),
          progress: (agent, job, fraction, message) =>
            registry.get(agent).jobs.progress(job, fraction, message),
          checkpoint: (agent, job, data) => registry.get(agent).jobs.checkpoint(job, data),
        },
        emit: (name, data) => registry.emit(name, data),
        notify: (notification) => notifications.emit(notification),
        proposed: () => (proposed += 1),
      }),
      memoryFigures: (agent) => memory.stats(`extension/${agent}`),
      openMemory: async (agent) => void (await memory.open(`extension/${agent}`)),
      enqueue: (deliveries) =>
        inbox.prepare(
          deliveries.map(({ payload, ...delivery }) => ({
            ...delivery,
            payload: payload as unknown as JsonValue,
          })),
        ),
      commit: async (statements) => void (statements.length > 0 && (await database.batch(statements))),
      sightStatements,
      ...shown,
      scheduleStatements,
      alreadyFired,
      waiting: (agent, source) => inbox.waiting(agent, source),
      isEntry: (path) => workspace.get({ path }, () => true) !== null,
      clearQueue: (agent) => inbox.clear(agent),
      allEntries: () => workspace.allEntries(),
    }),
  );
  applyDefinitions = (definitions) => registry.apply(definitions);
  opened.use(new DayWatch(clock, () => registry.dayTurned()));

  await actions.recover();

  const activation = new Activation({
    log,
    begin: async (agentsKnown) => {
      await governor.activate(true);
      agentsKnown();
      progress.emit({ work: "index", kind: "begin", title: "Lares: indexing" });
      await workspace.start();
      await registry.start();
      if (governor.snapshot.entries.length > 0) sandbox.prewarm();
    },
    pause: () => governor.activate(false),
    resume: () => governor.activate(true),
  });

  const services = createServices({
    version,
    roots: options.roots,
    stateFolder,
    clock,
    log,
    catalog,
    governor,
    activation,
    registry,
    dayCounts,
    workspace,
    actions,
    decisions: createDecisionService(decisions, database),
    clientsTrusted: (trusted) => decisions.store.clients(trusted),
    tools,
    callTool: (agent, name, args) => callTool(agent, name, args, "user"),
    proposed: () => proposed,
    memories,
    traces,
    files,
    clientFiles,
    clientPaths,
    notifications,
    progress,
  });
  return {
    services,
    lingerMs: () => configuration().kernel.lingerMs,
    setUnsavedDocuments: (documents) => (unsaved = documents),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}
