import { dirname, join } from "node:path";
import { openActions } from "../../actions/service/actions.ts";
import type { Actions } from "../../actions/api.ts";
import { ContentTasks } from "../../actions/contents/content-tasks.ts";
import { ContentQueue } from "../../actions/contents/content-work.ts";
import { actionsMigrations } from "../../actions/ledger/migrations.ts";
import type { ActionSettings } from "../../actions/ports.ts";
import { TestMetadata } from "../../actions/testing/bench.ts";
import { DayCounts } from "../../agents/day-counts.ts";
import { Supervisor } from "../../agents/lifecycle/supervisor.ts";
import type { AgentDefinition, Caller } from "../../agents/ports.ts";
import type { AgentRoster } from "../../agents/lifecycle/roster.ts";
import { type Behaviour, definitionOf, FakeGuest, FakeQueue } from "../../agents/testing/fake-guest.ts";
import { FakeJobs } from "../../agents/testing/fake-jobs.ts";
import { neverAborted } from "../../base/abort.ts";
import { messageOf, notFound, scopeViolation } from "../../base/errors.ts";
import { silentLog } from "../../base/log.ts";
import type { MindSource } from "../../base/vocabulary/mind.ts";
import type { Authority } from "../../base/vocabulary/permissions.ts";
import { ownAccord, personAt, type ProcessPrincipal } from "../../base/vocabulary/principal.ts";
import type { ToolResult } from "../../base/vocabulary/tool-result.ts";
import { mind as testMind } from "../../minds/testing/test-mind.ts";
import { systemClock } from "../../platform/clock.ts";
import { openObjectStore } from "../../platform/files/object-store.ts";
import { openRootedFs } from "../../platform/files/rooted-fs.ts";
import { WorkspaceFiles } from "../../platform/files/workspace-files.ts";
import { openNearDatabase } from "../../platform/testing/near-database.ts";
import type { GuestServices } from "../../protocol/guest/v1/calls.ts";
import { keyedCallMigrations } from "../../tools/keyed-calls.ts";
import { openTestWorkspace, type TestWorkspace } from "../../workspace/testing/test-workspace.ts";
import { actionServices } from "../../guests/v1/actions.ts";
import { Thumbnails } from "../../pictures/thumbnails.ts";
import { createGuestDoor } from "../../guests/v1/door.ts";
import { toolServices } from "../../guests/v1/tools.ts";
import { vdfsServices } from "../../guests/v1/vdfs.ts";
import type { KernelContext } from "../../composition/subsystems/kernel-context.ts";
import { type MindToolOptions, MindTools } from "../mind-tools.ts";
import { openTools } from "../../tools/open-tools.ts";

export const mind = "dev.test.mind";
/** An agent whose tools the mind may call; its guest answers by `MindBed.behaviour`. */
export const helper = "dev.test.helper";

export const worker: ProcessPrincipal = {
  kind: "process",
  process: "worker",
  agent: mind,
  conversation: "c1",
  lineage: ownAccord,
};

const everything: Authority = {
  extension: mind,
  requested: {},
  effective: {
    read_entries: true,
    propose_actions: ["*"],
    call_tools: [`${helper}/count`, `${helper}/make_note`],
  },
  denied: [],
  locations: ["."],
  protectedPaths: [],
  forbiddenPaths: ["state"],
  memory: true,
  namespaces: {},
};

/**
 * A mind's agent over a real workspace, with real actions, tools and services; guests are fakes, and no process of the
 * mind runs by itself.
 */
export class MindBed implements AsyncDisposable {
  readonly workspace: TestWorkspace;
  readonly settings: { -readonly [Key in keyof ActionSettings]: ActionSettings[Key] } = {
    rules: [],
    autoApproveBelow: 0,
    expireAfterMs: 86_400_000,
  };
  /** Refusals and other messages in the traces of agents. */
  readonly traces: string[] = [];
  /** Host calls that reached a service: "method path". */
  readonly calls: string[] = [];
  /** Called before each host call is answered. */
  onCall = (_method: string): void => undefined;
  behaviour: Behaviour = () => ({ status: "success", value: null });
  actions!: Actions;
  tools!: MindTools;
  #opened = new AsyncDisposableStack();
  #supervisors = new Map<string, Supervisor>();
  #authority = everything;
  #sources: readonly MindSource[] = [];
  #keys = 0;

  private constructor(workspace: TestWorkspace) {
    this.workspace = workspace;
  }

  static async open(
    prepare: (write: TestWorkspace["write"], root: string) => void,
    roots: readonly string[] = [],
  ): Promise<MindBed> {
    const named = (root: string) => roots.map((name) => ({ name, path: join(root, name) }));
    const bed = new MindBed(
      await openTestWorkspace({ prepare, ...(roots.length === 0 ? {} : { roots: named }) }),
    );
    await bed.#open();
    return bed;
  }

  /** Reopens everything but the index on the same ledger, as the next kernel does. */
  async restart(): Promise<void> {
    await this.#opened.disposeAsync();
    this.#opened = new AsyncDisposableStack();
    await this.#open();
  }

  /** Changes what the mind's agent may do. */
  async grant(change: Partial<Authority>): Promise<void> {
    this.#authority = { ...everything, ...change };
    await this.supervisor(mind).update(this.#definition());
  }

  /** Changes where the texts of the mind come from. */
  async readFrom(sources: readonly MindSource[]): Promise<void> {
    this.#sources = sources;
    await this.supervisor(mind).update(this.#definition());
  }

  supervisor(agent: string): Supervisor {
    const found = this.#supervisors.get(agent);
    if (found === undefined) throw notFound("agent", agent);
    return found;
  }

  /** Calls a tool for the worker, with a key of its own. */
  call(name: string, args: unknown, options: Partial<MindToolOptions> = {}): Promise<ToolResult> {
    const all = this.tools.toolsFor(["files/*", `${helper}/*`]).map((tool) => tool.name);
    this.#keys += 1;
    return this.tools.call(name, args, worker, {
      offered: all,
      key: `call-${this.#keys}`,
      signal: neverAborted,
      ...options,
    });
  }

  /** Returns the value of a call that succeeds. */
  async value<Value>(name: string, args: unknown): Promise<Value> {
    const result = await this.call(name, args);
    if (result.status !== "success") throw new Error(JSON.stringify(result));
    return result.value as Value;
  }

  /** Returns what the guest of the mind's agent gets for a host call: "allowed", or the error's message. */
  async asGuest(method: string, params: unknown): Promise<string> {
    const answer = await this.supervisor(mind).callTool("ask", { method, params }, personAt());
    return String(answer);
  }

  #definition(): AgentDefinition {
    return definitionOf({
      id: mind,
      authority: this.#authority,
      tools: [],
      hooks: [],
      mind: { ...testMind, sources: this.#sources },
    });
  }

  async #open(): Promise<void> {
    const { workspace, root } = this.workspace;
    const state = join(dirname(root), "kernel");
    const files = this.#opened.adopt(await openRootedFs(root), (opened) => opened[Symbol.dispose]());
    const rooted = new WorkspaceFiles([{ name: "root", files }]);
    const objects = await openObjectStore(`${state}/objects`);
    const database = this.#opened.use(
      await openNearDatabase({
        path: join(dirname(root), "kernel.sqlite"),
        migrations: [...actionsMigrations, ...TestMetadata.migrations, ...keyedCallMigrations],
        log: silentLog,
      }),
    );
    const tasks = new ContentTasks(rooted);
    const contents = new ContentQueue({
      run: (request) => tasks.run(request),
      [Symbol.asyncDispose]: async () => undefined,
    });
    this.actions = this.#opened.use(
      openActions({
        database,
        files: rooted,
        contents,
        objects,
        clock: systemClock,
        log: silentLog,
        metadata: new TestMetadata(),
        settings: () => this.settings,
        authorityOf: (agent) => this.#supervisors.get(agent)?.authority ?? null,
        openWithUnsavedChanges: async () => null,
        copies: (content) => workspace.copies(content, () => true).paths,
        index: workspace.view,
        touched: (paths) => workspace.touched(paths),
        tellEnd: () => ({ statements: [], committed: () => undefined }),
        remember: async () => undefined,
        originOf: () => ({}),
        used: () => [],
      }),
    );
    this.#opened.use(contents);
    const link = {
      get: (agent: string) => this.supervisor(agent),
      definitions: () => [...this.#supervisors.values()].map((supervisor) => supervisor.definition),
    } as unknown as AgentRoster;
    const context = { clock: systemClock, log: silentLog, opened: this.#opened } as unknown as KernelContext;
    const kernelTools = await openTools(context, { database, agents: link, actions: this.actions });
    const door = createGuestDoor({
      ...vdfsServices({
        workspace,
        thumbnails: this.#opened.use(new Thumbnails({ clock: systemClock, log: silentLog })),
        refuseLink: async (path) => {
          if ((await rooted.stat(path))?.kind === "link")
            throw scopeViolation(path, `"${path}" is a link; links are not followed.`);
        },
      }),
      ...actionServices({ actions: this.actions, proposed: () => undefined }),
      ...toolServices({
        actions: this.actions,
        callTool: kernelTools.call,
        toolProgress: (agent, call, progress) => this.supervisor(agent).toolProgress(call, progress),
      }),
    } as unknown as GuestServices<Caller>);
    for (const definition of [this.#definition(), helperDefinition]) this.#start(definition, door);
    await this.actions.recover();
    this.tools = new MindTools({ workspace, agents: link, tools: kernelTools.tools }, systemClock, silentLog);
  }

  #start(definition: AgentDefinition, door: ReturnType<typeof createGuestDoor>): void {
    const supervisor = new Supervisor({
      definition,
      clock: systemClock,
      idleUnloadMs: () => 300_000,
      ports: {
        queue: new FakeQueue(() => systemClock.now()),
        dayCounts: new DayCounts(systemClock),
        jobs: new FakeJobs(() => systemClock.now()),
        jobProgress: () => undefined,
        traces: { write: ({ message }) => void this.traces.push(message) },
        startGuest: async (_definition, handlers) =>
          new FakeGuest(handlers, (method, params, guest) => {
            if (method === "shutdown") queueMicrotask(() => guest.die("exited"));
            if (method === "initialize")
              return { handlers: [], tools: ["ask", "count", "erase"], jobs: [], actions: ["makeNote"] };
            if (method !== "tool" && method !== "action") return {};
            return params["name"] === "ask" ? ask(guest, params) : this.behaviour(method, params, guest);
          }),
        authorityOf: (agent) => this.#supervisors.get(agent)?.authority ?? null,
        readHostCall: (method, params) => {
          const call = door(method, params);
          return {
            ...call,
            answer: (caller) => {
              this.onCall(method);
              this.calls.push(method);
              return call.answer(caller);
            },
          };
        },
        memoryFigures: () => ({ temporalEvents: 0, knowledgeItems: 0, sizeBytes: 0 }),
        openMemory: async () => undefined,
        isEntry: () => false,
        hides: (path) => this.workspace.workspace.view.hides(path),
        acquireSlot: async () => ({ [Symbol.dispose]: () => undefined }),
        takeTurn: async () => undefined,
        ran: () => undefined,
        suspension: () => null,
      },
    });
    this.#supervisors.set(definition.id, supervisor);
    this.#opened.use(supervisor);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#opened.disposeAsync();
    await this.workspace[Symbol.asyncDispose]();
  }
}

async function ask(guest: FakeGuest, { arguments: asked }: Record<string, unknown>): Promise<string> {
  const { method, params } = asked as { method: string; params: unknown };
  try {
    await guest.handlers.call(method, params);
    return "allowed";
  } catch (error) {
    return messageOf(error);
  }
}

const helperDefinition = definitionOf({
  id: helper,
  hooks: [],
  authority: { ...everything, extension: helper },
  actions: [
    {
      name: "make_note",
      title: "Make the note {name}",
      description: "Makes a note.",
      handler: "makeNote",
      parameters: { type: "object", required: ["name"], properties: { name: { type: "string" } } },
    },
  ],
  tools: ["count", "erase"].map((name) => ({
    name,
    description: `Can ${name}.`,
    handler: name,
    parameters: { type: "object", properties: { n: { type: "integer" } }, additionalProperties: false },
  })),
});
