import type { Disposable } from "vscode";
import type { Kernel } from "../kernel/kernel.ts";
import { CoalescedEvent } from "./coalesced.ts";
import type { AgentJobs, AgentsModel, JobsModel } from "./ports.ts";

/** The number of jobs that are requested per agent: those that run, and those that come next; and as many dead ones. */
export const maxJobs = 20;

const none: AgentJobs = { items: [], total: 0, dead: { items: [], total: 0 } };

/**
 * The agents' jobs, as far as they are visible: the kernel notifies that an agent's jobs changed, and they are
 * requested one agent after the other.
 */
export class KernelJobs implements JobsModel, Disposable {
  readonly #kernel: Kernel;
  readonly #agents: Pick<AgentsModel, "all" | "get" | "onDidChange">;
  readonly #changed = new CoalescedEvent();
  readonly onDidChange = this.#changed.event;
  readonly #subscriptions: Disposable[];
  readonly #byAgent = new Map<string, AgentJobs>();
  /** Agents whose jobs have changed since they were loaded. */
  readonly #stale = new Set<string>();
  #isWatched = false;
  #isAsking = false;

  constructor(kernel: Kernel, agents: Pick<AgentsModel, "all" | "get" | "onDidChange">) {
    this.#kernel = kernel;
    this.#agents = agents;
    this.#subscriptions = [
      kernel.on("lares/jobs/changed", ({ agent }) => {
        if (this.#agents.get(agent) === undefined) return;
        this.#stale.add(agent);
        this.#ask();
      }),
      agents.onDidChange(() => this.#follow()),
      kernel.onDidChangeState(({ kind }) => {
        // Another kernel may have run them, or be about to.
        if (kind === "running") this.#lookAgain();
        else if (kind === "failed") this.#forget();
      }),
    ];
    this.#lookAgain();
  }

  of(agent: string): AgentJobs {
    return this.#byAgent.get(agent) ?? none;
  }

  watch(isWatched: boolean): void {
    this.#isWatched = isWatched;
    this.#ask();
  }

  dispose(): void {
    for (const subscription of this.#subscriptions) subscription.dispose();
    this.#isWatched = false;
    this.#changed.dispose();
  }

  /** Follows agents that were added or removed. */
  #follow(): void {
    for (const { id } of this.#agents.all) if (!this.#byAgent.has(id)) this.#stale.add(id);
    for (const id of this.#byAgent.keys()) if (this.#agents.get(id) === undefined) this.#byAgent.delete(id);
    this.#ask();
  }

  #lookAgain(): void {
    for (const { id } of this.#agents.all) this.#stale.add(id);
    this.#ask();
  }

  #forget(): void {
    this.#byAgent.clear();
    this.#changed.fire();
  }

  /** One at a time: changes meanwhile cause a single further request. */
  #ask(): void {
    const [agent] = this.#stale;
    if (agent === undefined || this.#isAsking || !this.#isWatched || this.#kernel.state.kind !== "running")
      return;
    this.#stale.delete(agent);
    this.#isAsking = true;
    this.#request(agent)
      .then((jobs) => this.#take(agent, jobs))
      // The kernel is shutting down or gone; its next state asks again.
      .catch(() => undefined)
      .finally(() => {
        this.#isAsking = false;
        this.#ask();
      });
  }

  async #request(agent: string): Promise<AgentJobs> {
    const jobs = await this.#kernel.request("lares/jobs/list", { agent, limit: maxJobs });
    const dead = await this.#kernel.request("lares/jobs/list", { agent, state: "dead", limit: maxJobs });
    return { ...jobs, dead };
  }

  #take(agent: string, jobs: AgentJobs): void {
    if (this.#agents.get(agent) === undefined) return;
    const before = this.#byAgent.get(agent);
    this.#byAgent.set(agent, jobs);
    if ([jobs, jobs.dead, before, before?.dead].some((list) => (list?.total ?? 0) > 0)) this.#changed.fire();
  }
}
