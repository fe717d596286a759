import type { Disposable } from "vscode";
import type { Kernel } from "../kernel/kernel.ts";
import type { Agent } from "../protocol.ts";
import { agentNames } from "./agent-names.ts";
import { CoalescedEvent } from "./coalesced.ts";
import type { AgentsModel, StatusModel } from "./ports.ts";

/** The agents as last reported by the kernel, by id. */
export class KernelAgents implements AgentsModel, Disposable {
  readonly #kernel: Kernel;
  readonly #changed = new CoalescedEvent();
  readonly onDidChange = this.#changed.event;
  readonly #subscriptions: Disposable[];
  #byId = new Map<string, Agent>();
  #sorted: readonly Agent[] | null = null;
  #names: ((id: string) => string) | null = null;
  /** What changed while a list was being loaded, because the list may be older; null while none is. */
  #sinceAsked: Map<string, Agent> | null = null;

  constructor(kernel: Kernel, status: StatusModel) {
    this.#kernel = kernel;
    let pid: number | undefined;
    this.#subscriptions = [
      kernel.on("lares/agents/changed", (agent) => this.#take(agent)),
      status.onDidChange(() => {
        const now = status.current;
        if (now === undefined) return;
        // Another kernel, or an agent was added or removed: there is no notification for a removed one.
        if (now.pid !== pid || now.agents !== this.#byId.size) this.#load();
        pid = now.pid;
      }),
      kernel.onDidChangeState(({ kind }) => {
        if (kind === "running" || kind === "untrusted") this.#load();
        else if (kind === "failed") this.#replace([]);
      }),
    ];
    // A starting kernel answers this together with its first status, so there is no need to wait for the status.
    if (kernel.state.kind === "running" || kernel.state.kind === "starting") this.#load();
  }

  /** Sorted by name, so that the order is stable. */
  get all(): readonly Agent[] {
    this.#sorted ??= [...this.#byId.values()].toSorted(
      (one, other) => one.name.localeCompare(other.name) || one.id.localeCompare(other.id),
    );
    return this.#sorted;
  }

  get(id: string): Agent | undefined {
    return this.#byId.get(id);
  }

  nameOf(id: string): string {
    this.#names ??= agentNames([...this.#byId.values()]);
    return this.#names(id);
  }

  dispose(): void {
    for (const subscription of this.#subscriptions) subscription.dispose();
    this.#changed.dispose();
  }

  #take(agent: Agent): void {
    this.#byId.set(agent.id, agent);
    this.#announce();
    this.#sinceAsked?.set(agent.id, agent);
  }

  #load(): void {
    if (this.#sinceAsked !== null) return;
    const changed = new Map<string, Agent>();
    this.#sinceAsked = changed;
    this.#kernel
      .request("lares/agents/list", {})
      .then((agents) => this.#replace([...agents, ...changed.values()]))
      // The kernel is shutting down or gone; its next state loads the list again.
      .catch(() => undefined)
      .finally(() => {
        this.#sinceAsked = null;
      });
  }

  #replace(agents: readonly Agent[]): void {
    this.#byId = new Map(agents.map((agent) => [agent.id, agent]));
    this.#announce();
  }

  #announce(): void {
    this.#sorted = null;
    this.#names = null;
    this.#changed.fire();
  }
}
