import type { Clock } from "../base/clock.ts";
import { Emitter } from "../base/emitter.ts";

/** A change of a conversation is reported so often at most. */
const changedEveryMs = 100;

/** Reports that conversations have changed, at most ten times a second for each. */
export class GatheredChanges implements Disposable {
  /** Emits the id of a conversation. */
  readonly changed = new Emitter<string>();
  readonly #clock: Clock;
  readonly #timers = new Map<string, Disposable>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  add(id: string): void {
    if (this.#timers.has(id)) return;
    this.#timers.set(
      id,
      this.#clock.timer(changedEveryMs, () => {
        this.#timers.delete(id);
        this.changed.emit(id);
      }),
    );
  }

  [Symbol.dispose](): void {
    for (const timer of this.#timers.values()) timer[Symbol.dispose]();
  }
}
