import type { Kernel } from "../kernel/kernel.ts";

/** Whose memory: an agent's own, or a shared one that it may open. */
export interface Whose {
  readonly agent: string;
  readonly namespace?: string | undefined;
}

/**
 * Says when the memory that a page shows may have become another. The kernel has no word for it: what it counts of
 * memories without opening one is compared with what it counted before.
 */
export class MemoryWatch {
  readonly #kernel: Kernel;
  readonly #changed: () => void;
  #watched: Whose | undefined;
  /** Undefined: not counted yet. */
  #count: string | undefined;
  /** Once more, though nothing was added: an item is embedded after it is counted. */
  #onceMore = false;
  #isAsking = false;

  constructor(kernel: Kernel, changed: () => void) {
    this.#kernel = kernel;
    this.#changed = changed;
  }

  /** From now on this one's. What was written while the page asked for the first time is told of with the next look. */
  watch(whose: Whose | undefined): void {
    this.#watched = whose;
    this.#count = undefined;
    this.#onceMore = true;
  }

  /** One question at a time, and none where nothing is watched or the kernel does not run. */
  async look(): Promise<void> {
    const watched = this.#watched;
    if (watched === undefined || this.#isAsking || this.#kernel.state.kind !== "running") return;
    this.#isAsking = true;
    try {
      const count = await countOf(this.#kernel, watched);
      if (watched !== this.#watched) return;
      const isOther = count === null || (this.#count !== undefined && count !== this.#count);
      if (isOther || this.#onceMore) this.#changed();
      this.#onceMore = isOther && count !== null;
      this.#count = count ?? undefined;
    } catch {
      // The kernel is going, or what is watched is gone: the page is told by its situation, or when it asks.
    } finally {
      this.#isAsking = false;
    }
  }
}

/** Null where it cannot be known: another workspace's kernel writes it. */
async function countOf(kernel: Kernel, { agent, namespace }: Whose): Promise<string | null> {
  if (namespace !== undefined) {
    const { namespaces } = await kernel.request("lares/memory/namespaces", { agent });
    const records = namespaces.find(({ name }) => name === namespace)?.records;
    return records === undefined ? null : String(records);
  }
  const agents = await kernel.request("lares/agents/list", {});
  const metrics = agents.find(({ id }) => id === agent)?.metrics;
  if (metrics === undefined) return null;
  return [metrics.temporal_events_count, metrics.knowledge_items_count, metrics.memory_size_bytes].join(" ");
}
