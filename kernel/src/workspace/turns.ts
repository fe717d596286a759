import type { Clock } from "../base/clock.ts";

/** Calls `take` in a later turn of the event loop or at a given time. */
export class Turns implements Disposable {
  readonly #clock: Clock;
  readonly #take: () => void;
  #turn: NodeJS.Immediate | null = null;
  #timer: { readonly dueAtMs: number; readonly handle: Disposable } | null = null;
  #isStopped = false;

  constructor(clock: Clock, take: () => void) {
    this.#clock = clock;
    this.#take = take;
  }

  soon(): void {
    if (this.#isStopped) return;
    this.#turn ??= setImmediate(() => {
      this.#turn = null;
      this.#take();
    });
  }

  /** Schedules a call. `dueAtMs` is the clock's time; Infinity means never. An earlier requested time stays. */
  at(dueAtMs: number): void {
    if (this.#isStopped) return;
    const nowMs = this.#clock.now();
    if (dueAtMs <= nowMs) return this.soon();
    if (this.#timer !== null && this.#timer.dueAtMs <= dueAtMs && this.#timer.dueAtMs > nowMs) return;
    this.#timer?.handle[Symbol.dispose]();
    this.#timer = null;
    if (dueAtMs === Infinity) return;
    const handle = this.#clock.timer(dueAtMs - nowMs, () => {
      this.#timer = null;
      this.soon();
    });
    this.#timer = { dueAtMs, handle };
  }

  [Symbol.dispose](): void {
    this.#isStopped = true;
    if (this.#turn !== null) clearImmediate(this.#turn);
    this.#timer?.handle[Symbol.dispose]();
  }
}
