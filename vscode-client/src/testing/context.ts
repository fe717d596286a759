import { EventEmitter, Uri } from "vscode";
import type { ClientContext } from "../feature.ts";
import type { KernelState } from "../kernel/kernel.ts";
import { agentNames } from "../model/agent-names.ts";
import type { Action, Agent, Ask, NotificationParamsOf, ServerNotification, Status } from "../protocol.ts";

/** A test's access to a feature that is created from `context`. */
export interface FakeContext {
  readonly context: ClientContext;
  readonly asked: { method: string; params: unknown }[];
  readonly stateChanged: EventEmitter<KernelState>;
  readonly actionsChanged: EventEmitter<void>;
  readonly agentsChanged: EventEmitter<void>;
  readonly asksChanged: EventEmitter<void>;
  readonly statusChanged: EventEmitter<void>;
  /** The extension's global state. */
  readonly kept: Map<string, unknown>;
  state: KernelState;
  isReady: boolean;
  /** All that the kernel says of itself, where a test cares. */
  status: Status | undefined;
  actions: readonly Action[];
  /** Questions that wait. */
  asks: readonly Ask[];
  agents: readonly Pick<Agent, "id" | "name">[];
  tell<Method extends ServerNotification>(method: Method, params: NotificationParamsOf<Method>): void;
  /** Lets all promises settle that wait for nothing else. */
  settle(): Promise<void>;
}

/** Creates a context with a kernel whose answers the test gives, by method. */
export function fakeContext(answers: Readonly<Record<string, (params: never) => unknown>> = {}): FakeContext {
  const listeners = new Map<string, Set<(params: never) => void>>();
  const kernel = {
    get state() {
      return fake.state;
    },
    onDidChangeState: (listener: (state: KernelState) => void) => fake.stateChanged.event(listener),
    async request(method: string, params: never) {
      fake.asked.push({ method, params });
      const answer = answers[method];
      if (answer === undefined) throw new Error(`${method} has no answer in this test`);
      return answer(params);
    },
    on(method: string, listener: (params: never) => void) {
      const others = listeners.get(method) ?? new Set();
      listeners.set(method, others.add(listener));
      return { dispose: () => others.delete(listener) };
    },
  };
  const actions = {
    get pending() {
      return fake.actions.filter(({ state }) => state === "PendingApproval");
    },
    get recent() {
      return fake.actions.filter(({ state }) => state !== "PendingApproval");
    },
    get: (id: string) => fake.actions.find((action) => action.id === id),
    async withDiffs(id: string) {
      const action = this.get(id);
      if (action === undefined) throw new Error(`There is no action ${id}.`);
      return action;
    },
    onDidChange: (listener: () => void) => fake.actionsChanged.event(listener),
  };
  const agents = {
    get all() {
      return fake.agents;
    },
    get: (id: string) => fake.agents.find((agent) => agent.id === id),
    nameOf: (id: string) => agentNames(fake.agents)(id),
    onDidChange: (listener: () => void) => fake.agentsChanged.event(listener),
  };
  const asks = {
    get pending() {
      return fake.asks;
    },
    onDidChange: (listener: () => void) => fake.asksChanged.event(listener),
  };
  const status = {
    get current() {
      return fake.status ?? { ready: fake.isReady };
    },
    onDidChange: (listener: () => void) => fake.statusChanged.event(listener),
  };
  const globalState = {
    get: (key: string) => fake.kept.get(key),
    update: async (key: string, value: unknown) => void fake.kept.set(key, value),
  };
  const extension = { extensionUri: Uri.file("/extension"), globalState };
  const fake: FakeContext = {
    context: {
      kernel,
      models: {
        actions,
        agents,
        asks,
        status,
        jobs: {
          of: () => ({ items: [], total: 0, dead: { items: [], total: 0 } }),
          onDidChange: new EventEmitter().event,
        },
        reminders: { onDidRemind: new EventEmitter().event },
      },
      extension,
    } as unknown as ClientContext,
    asked: [],
    stateChanged: new EventEmitter(),
    actionsChanged: new EventEmitter(),
    agentsChanged: new EventEmitter(),
    asksChanged: new EventEmitter(),
    statusChanged: new EventEmitter(),
    kept: new Map(),
    state: { kind: "running" },
    isReady: true,
    status: undefined,
    actions: [],
    asks: [],
    agents: [],
    tell: (method, params) => {
      for (const listener of listeners.get(method) ?? []) listener(params as never);
    },
    async settle() {
      for (let turn = 0; turn < 20; turn++) await Promise.resolve();
    },
  };
  return fake;
}
