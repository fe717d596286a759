import { tmpdir } from "node:os";
import { LaresError } from "../../base/errors.ts";
import type { Action } from "../../base/vocabulary/action.ts";
import type { Decision } from "../../base/vocabulary/approval-rule.ts";
import type { Ask } from "../../base/vocabulary/ask.ts";
import type { Agent } from "../../base/vocabulary/agent.ts";
import type { Job } from "../../base/vocabulary/job.ts";
import type { AgentNotification } from "../../base/vocabulary/notification.ts";
import type { TraceEntry } from "../../base/vocabulary/trace.ts";
import type { CliPorts, ConnectOptions, KernelConnection } from "../ports.ts";
import type { Status } from "../render/model.ts";
import type { TrustCard, TrustFolder, TrustPart, TrustQuestion } from "../../base/vocabulary/trust.ts";

/** Larger than any process id a system gives out. */
const noProcess = 2 ** 30;
const hash = `sha256:${"a".repeat(64)}` as const;

export function anAction(id: string, more: Partial<Action> = {}): Action {
  return {
    id,
    agent: "dev.lares.storage",
    title: `Archive 1 extra copy of ${id}.jpg`,
    reason: "The same content twice.",
    state: "PendingApproval",
    impact_score: 0.2,
    digest: hash,
    effects: [
      {
        kind: "file.move",
        path: `archive/${id}.jpg`,
        from: `inbox/${id}.jpg`,
        before: hash,
        after: hash,
        summary: "Moves it",
      },
    ],
    created: "2026-11-20T10:00:00.000Z",
    ...more,
  };
}

export function anAgent(id: string, more: Partial<Agent> = {}): Agent {
  return {
    id,
    name: id,
    version: "0.1.0",
    state: "Active",
    since: "2026-11-20T10:00:00.000Z",
    hooks: [],
    tools: [],
    permissions: ["read_entries"],
    locations: ["."],
    metrics: {
      events_today: 3,
      events_received: 3,
      events_processed: 3,
      events_failed: 0,
      avg_event_latency_ms: 1,
      p99_event_latency_ms: 1,
      temporal_events_count: 0,
      knowledge_items_count: 0,
      memory_size_bytes: 512,
      jobs_dispatched: 0,
      jobs_completed: 0,
      jobs_failed: 0,
      cpu_time_ms: 4,
      peak_memory_bytes: 1_000_000,
      wakeups: 1,
    },
    ...more,
  };
}

export function anAsk(id: string, more: Partial<Ask> = {}): Ask {
  return {
    id,
    agent: "dev.lares.storage",
    kind: "model",
    title: "May agents use it?",
    reason: "None is named.",
    sources: [],
    facts: {},
    scopes: ["always", "once"],
    digest: hash,
    state: "Pending",
    created: "2026-11-20T10:00:00.000Z",
    expires: "2026-11-21T10:00:00.000Z",
    ...more,
  };
}

export function aNotification(id: string, more: Partial<AgentNotification> = {}): AgentNotification {
  return {
    id,
    agent: "dev.lares.storage",
    title: "No second copy",
    message: "film.mp4",
    severity: "warning",
    state: "New",
    count: 1,
    created: "2026-11-20T10:00:00.000Z",
    updated: "2026-11-20T10:00:00.000Z",
    ...more,
  };
}

export function aJob(id: string, more: Partial<Job> = {}): Job {
  return {
    id,
    agent: "dev.lares.storage",
    name: "survey",
    state: "Waiting",
    priority: "normal",
    when_idle: false,
    dispatched: "2026-11-20T10:00:00.000Z",
    attempt: 1,
    checkpoint: false,
    ...more,
  };
}

export function aTrace(message: string, more: Partial<TraceEntry> = {}): TraceEntry {
  return {
    timestamp: "2026-11-20T10:00:00.000Z",
    level: "info",
    agent: "dev.lares.filetypes",
    message,
    trace_id: "t",
    span_id: "s",
    ...more,
  };
}

/** A question with one extension that wants to see, move and delete files in two folders. */
export function aQuestion(card: Partial<TrustCard> = {}, more: Partial<TrustQuestion> = {}): TrustQuestion {
  const part = (id: string, group: TrustPart["group"], title: string): TrustPart => ({
    id,
    group,
    title,
    permission: id.split("/")[0] ?? id,
    change: "new",
    granted: false,
    answered: false,
  });
  const folder = (path: string): TrustFolder => ({
    path,
    title: path,
    requested: true,
    change: "new",
    granted: false,
    answered: false,
  });
  return {
    digest: hash,
    trusted: false,
    answered: false,
    since: null,
    extensions: [
      {
        extension: "dev.lares.storage",
        name: "Storage",
        description: "Finds extra copies of files.",
        version: "0.4.0",
        origin: "comes with Lares",
        state: "new",
        granted: false,
        answered: false,
        changes: [],
        program: { change: "new" },
        parts: [
          part("read_entries", "see", "All files: names and content"),
          part("propose_actions/file.move", "change", "Moving and renaming files"),
          part("propose_actions/file.delete", "change", "Deleting files"),
        ],
        folders: [folder("photos"), folder("letters")],
        facts: [{ kind: "trigger", text: "When a file changes", change: "new" }],
        cannot: ["Change what is in a file", "Reach the internet"],
        ...card,
      },
    ],
    workspace: [],
    ...more,
  };
}

/** A kernel that answers from memory: what the commands say to it can be read back in `requests`. */
export class FakeKernel {
  readonly requests: { method: string; params: object }[] = [];
  readonly connects: ConnectOptions[] = [];
  readonly actions = new Map<string, Action>();
  agents: Agent[] = [anAgent("dev.lares.filetypes"), anAgent("dev.lares.storage")];
  traces: TraceEntry[] = [];
  tools: unknown[] = [];
  commands: unknown[] = [];
  jobs: Job[] = [];
  asks: Ask[] = [];
  notifications: AgentNotification[] = [];
  decisions: Decision[] = [];
  toolResult: unknown = { status: "success", value: { total: 3 } };
  verification: object = { ok: true, records: 3, head: hash };
  /** Answers to memory requests except verify, by method: a value, an error, or a function of the params. */
  readonly memories = new Map<string, unknown>();
  trusted = true;
  idle = true;
  pending: string[] = [];
  changedPrograms: string[] = [];
  question: TrustQuestion = aQuestion();
  disposed = 0;
  readonly #listeners = new Set<(method: string, params: unknown) => void>();

  get status(): Status {
    return {
      version: "0.1.0",
      pid: noProcess,
      ready: true,
      idle: this.idle,
      workspace: "/w",
      stateFolder: "/s",
      trusted: this.trusted,
      trust: {
        digest: hash,
        asks: ["dev.lares.storage may move files in ."],
        pending: this.pending,
        changedPrograms: this.changedPrograms,
      },
      agents: this.agents.length,
      index: { entries: 21, complete: true },
      clients: 1,
      lasting: false,
      pendingActions: [...this.actions.values()].filter(({ state }) => state === "PendingApproval").length,
      totals: { events: 41, actions: this.actions.size, refusals: 1 },
    };
  }

  tell(method: string, params: unknown): void {
    for (const listener of this.#listeners) listener(method, params);
  }

  readonly connect = (options: ConnectOptions): Promise<KernelConnection> => {
    this.connects.push(options);
    if (options.trusted === true) this.trusted = true;
    return Promise.resolve({
      request: (method, params) => this.#answer(method, params),
      onNotification: (listener) => {
        this.#listeners.add(listener);
        return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
      },
      closed: new Promise(() => undefined),
      [Symbol.asyncDispose]: () => {
        this.disposed += 1;
        return Promise.resolve();
      },
    });
  };

  async #answer(method: string, params: object): Promise<unknown> {
    this.requests.push({ method, params });
    const { id = "", digest } = params as { id?: string; digest?: string };
    switch (method) {
      case "lares/status":
        return this.status;
      case "lares/trust":
        this.trusted = true;
        this.pending = [];
        this.changedPrograms = [];
        return this.status;
      case "lares/trust/question":
        return this.question;
      case "lares/agents/list":
        return this.agents;
      case "lares/agents/control":
        return this.agents.find((agent) => agent.id === id);
      case "lares/traces/follow":
        for (const entry of this.traces) this.tell("lares/traces/entry", { subscription: "1", entry });
        return { subscription: "1" };
      case "lares/notifications/list": {
        const { state, limit } = params as { state?: string; limit: number };
        const items = this.notifications.filter((item) => state === undefined || item.state === state);
        return { items: items.slice(0, limit), total: items.length };
      }
      case "lares/notifications/dismiss":
        return { dismissed: (params as { ids: string[] }).ids.length };
      case "lares/notifications/act":
        return anAction("a1");
      case "lares/traces/query":
        return this.traces.toReversed();
      case "lares/actions/list":
        return this.#actionsBefore((params as { before?: string }).before);
      case "lares/actions/get":
        return this.#action(id);
      case "lares/actions/diff":
        return { diff: null };
      case "lares/actions/approve":
        if (digest !== this.#action(id).digest) throw new LaresError("DigestMismatch", "another digest");
        return this.#decide(id, "Committed");
      case "lares/actions/reject":
        return this.#decide(id, "Rejected");
      case "lares/actions/undo":
        return this.#decide(id, "Undone");
      case "lares/tools/list":
        return this.tools;
      case "lares/commands/list":
        return this.commands;
      case "lares/commands/run":
        return this.toolResult;
      case "lares/tools/call":
        return this.toolResult;
      case "lares/decisions/list":
        return { items: this.decisions };
      case "lares/decisions/revoke":
        return this.decisions.find((decision) => decision.id === id);
      case "lares/asks/list":
        return this.asks;
      case "lares/asks/answer": {
        const { allow } = params as { readonly allow: boolean };
        return { ...this.asks.find((ask) => ask.id === id), state: allow ? "Allowed" : "Denied" };
      }
      case "lares/jobs/list": {
        const { state } = params as { readonly state?: "dead" };
        const items = this.jobs.filter((job) => (job.state === "Dead") === (state === "dead"));
        return { items, total: items.length };
      }
      case "lares/jobs/retry":
        return { ...this.#job(id), state: "Waiting" };
      case "lares/jobs/remove":
        return this.#job(id);
      case "lares/jobs/cancel":
        return { ...this.#job(id), state: "Cancelled" };
      case "lares/memory/verify":
        return this.verification;
      default: {
        const answer = this.memories.get(method);
        if (answer instanceof Error) throw answer;
        if (typeof answer === "function") return answer(params);
        if (answer !== undefined) return answer;
        throw new LaresError("MethodNotFound", `The fake has no ${method}.`);
      }
    }
  }

  /** Newest first, as the kernel lists them. */
  #actionsBefore(before?: string): Action[] {
    const listed = [...this.actions.values()].toReversed();
    return before === undefined ? listed : listed.slice(listed.findIndex(({ id }) => id === before) + 1);
  }

  #action(id: string): Action {
    const action = this.actions.get(id);
    if (action === undefined) throw new LaresError("NotFound", `There is no action "${id}".`);
    return action;
  }

  #job(id: string): Job {
    const job = this.jobs.find((one) => one.id === id);
    if (job === undefined) throw new LaresError("NotFound", `There is no job "${id}".`);
    return job;
  }

  #decide(id: string, state: Action["state"]): Action {
    const decided: Action = { ...this.#action(id), state, decided_by: "user" };
    this.actions.set(id, decided);
    this.tell("lares/actions/changed", decided);
    return decided;
  }
}

/** Ports with this kernel behind them; everything else answers that all is well. */
export function portsOf(kernel: FakeKernel, more: Partial<CliPorts> = {}): CliPorts {
  return {
    version: "0.1.0",
    connect: kernel.connect,
    userDocument: () => Promise.resolve(null),
    checkDocument: () => Promise.resolve([]),
    programFault: () => Promise.resolve(null),
    stripTypes: (code) => Promise.resolve({ code }),
    constantModel: () => Promise.resolve(new Uint8Array()),
    conformance: () => Promise.resolve([]),
    explain: () => Promise.resolve({ values: [], environmentFaults: [], protected: [] }),
    serve: () => Promise.resolve(0),
    stopKernel: () => Promise.resolve({ pid: null, killed: false }),
    stateHome: () => tmpdir(),
    stateOf: async () => tmpdir(),
    hasState: async () => true,
    adoptableState: async () => null,
    adoptState: async () => ({ before: "/before", setAside: null }),
    probeSandbox: () => Promise.resolve({ ok: true, detail: "a guest answered" }),
    withUserServices: () => Promise.reject(new Error("There are no services of the user here.")),
    withPackages: () => Promise.reject(new Error("There are no packages here.")),
    withExtensionModels: (use) =>
      use({
        list: () => Promise.resolve([]),
        fetch: () => Promise.reject(new Error("No model can be fetched here.")),
        runtime: true,
      }),
    models: () => [],
    fetchModel: () => Promise.reject(new Error("No model can be fetched here.")),
    examplesFolder: null,
    templatesFolder: new URL("../../../../manifests/templates", import.meta.url).pathname,
    sdkFolder: new URL("../../../../extensions/sdk", import.meta.url).pathname,
    ...more,
  };
}
