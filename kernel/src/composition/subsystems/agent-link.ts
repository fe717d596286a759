import type { AgentHealth } from "../../agents/describe.ts";
import type { AgentRegistry } from "../../agents/lifecycle/registry.ts";
import type { Enqueued } from "../../agents/lifecycle/registry-ports.ts";
import type { Supervisor } from "../../agents/lifecycle/supervisor.ts";
import { notFound } from "../../base/errors.ts";
import type { AgentDefinition } from "../../base/vocabulary/agent-definition.ts";
import type { EntryChange } from "../../base/vocabulary/event.ts";
import type { Authority } from "../../base/vocabulary/permissions.ts";
import type { Statement } from "../../platform/database/database.ts";

/**
 * Connects the subsystems that agents use to the agents. Those subsystems are opened first and reach agents only
 * through this; until the registry is connected there are no agents.
 */
export class AgentLink {
  #registry: AgentRegistry<Statement> | null = null;

  connect(registry: AgentRegistry<Statement>): void {
    this.#registry = registry;
  }

  find(agent: string): Supervisor | undefined {
    return this.#registry?.find(agent);
  }

  /** Throws NotFound. */
  get(agent: string): Supervisor {
    const supervisor = this.find(agent);
    if (supervisor === undefined) throw notFound("agent", agent);
    return supervisor;
  }

  health(): AgentHealth[] {
    return this.definitions().map(({ id }) => this.get(id).health());
  }

  definitions(): AgentDefinition[] {
    return this.#registry?.definitions() ?? [];
  }

  /** Returns an agent's current authority; null if it is not installed or is disabled. */
  authorityOf(agent: string): Authority | null {
    const supervisor = this.find(agent);
    return supervisor?.isListening === true ? supervisor.authority : null;
  }

  /** Prepares the events that follow from these changes, for the transaction that stores the changes. */
  deliver(changes: readonly EntryChange[]): Enqueued<Statement> {
    return this.#registry?.deliver(changes) ?? nothingEnqueued;
  }

  /** Prepares a built-in event for one agent, for the caller's transaction. */
  tell(agent: string, name: string, fields: Readonly<Record<string, unknown>>): Enqueued<Statement> {
    return this.#registry?.tell(agent, name, fields) ?? nothingEnqueued;
  }

  /** Delivers an agent's own event to the agents that subscribed to it. */
  async emit(...emitted: Parameters<AgentRegistry<Statement>["emit"]>): Promise<void> {
    await this.#registry?.emit(...emitted);
  }

  /** The agents that are enabled, without a list of them. */
  listening(): Iterable<Supervisor> {
    return this.#registry?.listening() ?? [];
  }

  /** Delivers events of a mind's conversations; see `AgentRegistry.tellOfMind`. */
  async tellOfMind(...told: Parameters<AgentRegistry<Statement>["tellOfMind"]>): Promise<void> {
    await this.#registry?.tellOfMind(...told);
  }

  /** Reports to the agents that an index run over the whole workspace ended. */
  async indexed(run: { entries: number; durationMs: number }): Promise<void> {
    await this.#registry?.indexed(run);
  }
}

const nothingEnqueued: Enqueued<Statement> = { statements: [], committed: () => undefined };
