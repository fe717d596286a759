import type { Clock } from "../base/clock.ts";

/** Named timers: setting one replaces the timer with the same name; disposing clears all. */
export class NamedTimers<Name extends string> implements Disposable {
  readonly #clock: Clock;
  readonly #timers = new Map<Name, Disposable>();
  #disposed = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  has(name: Name): boolean {
    return this.#timers.has(name);
  }

  set(name: Name, delayMs: number, run: () => void): void {
    this.clear(name);
    if (this.#disposed) return;
    const timer = this.#clock.timer(delayMs, () => {
      this.#timers.delete(name);
      run();
    });
    this.#timers.set(name, timer);
  }

  clear(name: Name): void {
    this.#timers.get(name)?.[Symbol.dispose]();
    this.#timers.delete(name);
  }

  [Symbol.dispose](): void {
    this.#disposed = true;
    for (const name of this.#timers.keys()) this.clear(name);
  }
}
