import type { ClientContext } from "../feature.ts";
import type { KernelState } from "../kernel/kernel.ts";
import { agentNames } from "../model/agent-names.ts";
import type { Action, Agent, Status } from "../protocol.ts";
import { EventEmitter, window } from "./vscode.ts";
import { FakeWire } from "./wire.ts";

/** A client's context in which a test plays the kernel and sets what is known. */
export function playedContext(given: { actions?: readonly Action[]; agents?: readonly Agent[] } = {}) {
  const wire = new FakeWire<KernelState>({ kind: "running" });
  const changed = { actions: new EventEmitter<void>(), agents: new EventEmitter<void>() };
  const statusChanged = new EventEmitter<void>();
  const known = {
    actions: given.actions ?? [],
    agents: given.agents ?? [],
    status: undefined as Status | undefined,
  };
  const memory = new Map<string, unknown>();
  const context = {
    kernel: wire,
    models: {
      jobs: {
        of: () => ({ items: [], total: 0 }),
        watch: () => undefined,
        onDidChange: new EventEmitter<void>().event,
      },
      asks: { pending: [], onDidChange: new EventEmitter<void>().event },
      reminders: { onDidRemind: new EventEmitter<never>().event },
      actions: {
        get pending() {
          return known.actions.filter(({ state }) => state === "PendingApproval");
        },
        get recent() {
          return known.actions.filter(({ state }) => state !== "PendingApproval");
        },
        get: (id: string) => known.actions.find((action) => action.id === id),
        withDiffs: (id: string) => wire.request("lares/actions/get", { id }),
        onDidChange: changed.actions.event,
      },
      agents: {
        get all() {
          return known.agents;
        },
        get: (id: string) => known.agents.find((agent) => agent.id === id),
        nameOf: (id: string) => agentNames(known.agents)(id),
        onDidChange: changed.agents.event,
      },
      status: {
        get current() {
          return known.status;
        },
        onDidChange: statusChanged.event,
      },
    },
    extension: {
      workspaceState: {
        get: (key: string) => memory.get(key),
        update: async (key: string, value: unknown) => void memory.set(key, value),
      },
    },
  } as unknown as ClientContext;
  return {
    context,
    wire,
    window,
    setActions(...actions: Action[]): void {
      known.actions = actions;
      changed.actions.fire();
    },
    setStatus(status: Status | undefined): void {
      known.status = status;
      statusChanged.fire();
    },
  };
}
