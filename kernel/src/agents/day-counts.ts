import type { Clock } from "../base/clock.ts";

/** Different things that are counted; what comes after them is not. */
export const maxCounted = 1024;

/** Counts that begin anew at each midnight of the machine's time zone. */
export class DayCounts {
  readonly #clock: Pick<Clock, "now">;
  readonly #counts = new Map<string, number>();
  #day: string;

  constructor(clock: Pick<Clock, "now">) {
    this.#clock = clock;
    this.#day = dayOf(clock.now());
  }

  add(what: string): void {
    this.#turn();
    const count = this.#counts.get(what);
    if (count !== undefined || this.#counts.size < maxCounted) this.#counts.set(what, (count ?? 0) + 1);
  }

  get(what: string): number {
    this.#turn();
    return this.#counts.get(what) ?? 0;
  }

  #turn(): void {
    const day = dayOf(this.#clock.now());
    if (day === this.#day) return;
    this.#day = day;
    this.#counts.clear();
  }
}

/** The day a person's calendar shows. */
export function dayOf(nowMs: number): string {
  return new Date(nowMs).toDateString();
}
