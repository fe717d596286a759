import { egressBounds as bounds } from "../bounds.ts";

export interface ResolvedAddress {
  readonly address: string;
  readonly family: number;
}

/** Returns the addresses of a name, or rejects. */
export type Resolve = (host: string) => Promise<readonly ResolvedAddress[]>;

/** Looks up names: each once at a time, and for agents only so many that others still find a thread. */
export class Lookups {
  readonly #resolve: Resolve;
  readonly #running = new Map<string, Promise<readonly ResolvedAddress[]>>();
  readonly #waiting: (() => void)[] = [];
  #ofAgents = 0;

  constructor(resolve: Resolve) {
    this.#resolve = resolve;
  }

  of(host: string, isForAgent: boolean): Promise<readonly ResolvedAddress[]> {
    // A provider does not wait in the agents' line, also for a name that one of them asked for.
    const key = `${isForAgent ? "agent" : "provider"} ${host}`;
    const known = this.#running.get(key);
    if (known !== undefined) return known;
    const running = (isForAgent ? this.#forAgent(host) : this.#resolve(host)).finally(() =>
      this.#running.delete(key),
    );
    this.#running.set(key, running);
    return running;
  }

  async #forAgent(host: string): Promise<readonly ResolvedAddress[]> {
    if (this.#ofAgents < bounds.maxAgentLookups) this.#ofAgents++;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await this.#resolve(host);
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#ofAgents--;
      else next();
    }
  }
}
