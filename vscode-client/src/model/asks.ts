import { EventEmitter, type Disposable } from "vscode";
import type { Kernel } from "../kernel/kernel.ts";
import type { Ask } from "../protocol.ts";
import type { AsksModel } from "./ports.ts";

/** The questions that calls wait for, as last reported by the kernel, which bounds their number. */
export class KernelAsks implements AsksModel, Disposable {
  readonly #kernel: Kernel;
  readonly #changed = new EventEmitter<void>();
  readonly onDidChange = this.#changed.event;
  readonly #subscriptions: Disposable[];
  readonly #byId = new Map<string, Ask>();
  /** Those that ended while a list was being loaded, because the list may be older; null while none is. */
  #endedSinceAsked: Set<string> | null = null;

  constructor(kernel: Kernel) {
    this.#kernel = kernel;
    this.#subscriptions = [
      kernel.on("lares/asks/changed", (ask) => this.#take(ask)),
      kernel.onDidChangeState(({ kind }) => {
        // The calls that waited ended with their kernel.
        this.#forget();
        if (kind === "running") this.#load();
      }),
    ];
    if (kernel.state.kind === "running") this.#load();
  }

  get pending(): readonly Ask[] {
    return [...this.#byId.values()];
  }

  dispose(): void {
    for (const subscription of this.#subscriptions) subscription.dispose();
    this.#changed.dispose();
  }

  #take(ask: Ask): void {
    if (ask.state === "Pending") this.#byId.set(ask.id, ask);
    else {
      this.#endedSinceAsked?.add(ask.id);
      if (!this.#byId.delete(ask.id)) return;
    }
    this.#changed.fire();
  }

  #forget(): void {
    if (this.#byId.size === 0) return;
    this.#byId.clear();
    this.#changed.fire();
  }

  #load(): void {
    const ended = new Set<string>();
    this.#endedSinceAsked = ended;
    this.#kernel
      .request("lares/asks/list", { state: "Pending" })
      .then((found) => {
        if (this.#endedSinceAsked !== ended) return;
        for (const ask of found.toReversed())
          if (!ended.has(ask.id) && !this.#byId.has(ask.id)) this.#byId.set(ask.id, ask);
        if (found.length > 0) this.#changed.fire();
      })
      // The kernel is shutting down or gone; its next state loads them again.
      .catch(() => undefined)
      .finally(() => {
        if (this.#endedSinceAsked === ended) this.#endedSinceAsked = null;
      });
  }
}
