import { notFound } from "../../base/errors.ts";
import type { Authority } from "../../base/vocabulary/permissions.ts";
import type { AgentHealth } from "../describe.ts";
import type { AgentDefinition } from "../ports.ts";
import type { Supervisor } from "./supervisor.ts";

/**
 * The agents that there are now; none before the registry has added them. What agents use is opened before the registry, and
 * finds them here.
 */
export class AgentRoster {
  readonly #supervisors = new Map<string, Supervisor>();
  /** Those that ended because no trusted client is connected. They return with the next one. */
  readonly #paused = new Map<string, Supervisor>();

  get byId(): ReadonlyMap<string, Supervisor> {
    return this.#supervisors;
  }

  get all(): readonly Supervisor[] {
    return [...this.#supervisors.values()];
  }

  get paused(): readonly Supervisor[] {
    return [...this.#paused.values()];
  }

  add(supervisor: Supervisor): void {
    this.#supervisors.set(supervisor.id, supervisor);
    this.#paused.delete(supervisor.id);
  }

  /** Sets all agents aside. Their events are kept until they are added again or removed. */
  pauseAll(): void {
    for (const [id, supervisor] of this.#supervisors) this.#paused.set(id, supervisor);
    this.#supervisors.clear();
  }

  remove(id: string): void {
    this.#supervisors.delete(id);
    this.#paused.delete(id);
  }

  find(id: string): Supervisor | undefined {
    return this.#supervisors.get(id);
  }

  /** Throws NotFound. */
  get(id: string): Supervisor {
    const supervisor = this.find(id);
    if (supervisor === undefined) throw notFound("agent", id);
    return supervisor;
  }

  /** The agents that are enabled. A disabled one receives no events, and what it misses is not delivered later. */
  *listening(): Generator<Supervisor> {
    for (const supervisor of this.#supervisors.values()) if (supervisor.isListening) yield supervisor;
  }

  /** The agents for which events are stored: those that are enabled, paused ones included. */
  *hearing(): Generator<Supervisor> {
    yield* this.listening();
    for (const supervisor of this.#paused.values()) if (supervisor.isListening) yield supervisor;
  }

  definitions(): AgentDefinition[] {
    return this.all.map(({ definition }) => definition);
  }

  health(): AgentHealth[] {
    return this.all.map((supervisor) => supervisor.health());
  }

  /** Returns an agent's current authority; null if it is not installed or is disabled. */
  authorityOf(id: string): Authority | null {
    const supervisor = this.find(id);
    return supervisor?.isListening === true ? supervisor.authority : null;
  }

  /** Returns the current authorities of all enabled agents. */
  authorities(): Authority[] {
    return [...this.listening()].map(({ authority }) => authority);
  }
}
