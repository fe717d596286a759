import type { Kernel } from "../kernel/kernel.ts";

/** The owner of a memory: an agent, or a namespace that it may open. */
export interface Whose {
  readonly agent: string;
  readonly namespace?: string | undefined;
}

/**
 * Reports when the memory that a page shows may have changed. The kernel sends no notification for this, so the counts
 * that it keeps of memories without opening them are compared with the previous ones.
 */
export class MemoryWatch {
  readonly #kernel: Kernel;
  readonly #changed: () => void;
  #watched: Whose | undefined;
  /** Undefined before the first count. */
  #count: string | undefined;
  /** True for one extra report although nothing was added, because an item is embedded after it is counted. */
  #onceMore = false;
  #isAsking = false;

  constructor(kernel: Kernel, changed: () => void) {
    this.#kernel = kernel;
    this.#changed = changed;
  }

  /** Watches this memory from now on. Writes during the page's first request are reported by the next look. */
  watch(whose: Whose | undefined): void {
    this.#watched = whose;
    this.#count = undefined;
    this.#onceMore = true;
  }

  /** Makes one request at a time, and none if nothing is watched or the kernel does not run. */
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
      // The kernel is shutting down, or the memory is gone; the page learns this from the common state or from its next
      // request.
    } finally {
      this.#isAsking = false;
    }
  }
}

/** Returns null if the count cannot be known because another workspace's kernel writes the memory. */
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
