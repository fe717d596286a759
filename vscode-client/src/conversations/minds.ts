import { refusalOf } from "../deciding/explain.ts";
import type { ClientContext } from "../feature.ts";

/** The number of agents that are offered for a conversation. */
const maxMinds = 200;

/**
 * Finds the agents that have a mind. The list of agents does not say so, but only of a mind is there an activity log.
 * An answer counts as long as the agent's version and state are the same.
 */
export class Minds {
  readonly #context: Pick<ClientContext, "kernel" | "models">;
  readonly #known = new Map<string, Promise<boolean>>();

  constructor(context: Pick<ClientContext, "kernel" | "models">) {
    this.#context = context;
  }

  async all(): Promise<string[]> {
    const agents = this.#context.models.agents.all.slice(0, maxMinds);
    const has = await Promise.all(
      agents.map(({ id, version, state }) => this.#hasMind(id, `${id} ${version} ${state}`)),
    );
    return agents.flatMap(({ id }, index) => (has[index] === true ? [id] : []));
  }

  #hasMind(agent: string, key: string): Promise<boolean> {
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    if (this.#known.size > 2 * maxMinds) this.#known.clear();
    const asked = this.#context.kernel.request("lares/conversations/entries", { agent, limit: 1 }).then(
      () => true,
      (error: unknown) => {
        // Asked again next time, unless the kernel was sure.
        if (refusalOf(error) !== "NotFound") this.#known.delete(key);
        return false;
      },
    );
    this.#known.set(key, asked);
    return asked;
  }
}
