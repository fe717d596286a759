import { messageOf } from "../../base/errors.ts";
import type { StoreNotice, StoreStats } from "../../memory-contract/store-port.ts";

/** What a memory's knowledge reports to the kernel: how far a rebuilding is, and what went wrong. */
export class Notices {
  readonly #memory: string;
  readonly #tell: (notice: StoreNotice) => void;
  #rebuilding: StoreStats["rebuilding"];

  constructor(memory: string, tell: (notice: StoreNotice) => void) {
    this.#memory = memory;
    this.#tell = tell;
  }

  /** The rebuilding that is not done yet. */
  get rebuilding(): StoreStats["rebuilding"] {
    return this.#rebuilding;
  }

  progress(what: "embeddings" | "index", done: number, total: number): void {
    this.#rebuilding = done < total ? { what, fraction: done / total } : undefined;
    this.#tell({ kind: "progress", memory: this.#memory, what, done, total });
  }

  log(level: "warn" | "error", error: unknown): void {
    this.#tell({ kind: "log", level, message: messageOf(error), fields: { memory: this.#memory } });
  }
}
