import type { Clock } from "../../../base/clock.ts";
import { abiBounds as bounds } from "./bounds.ts";

const windowMs = 1000;

/** What became of a message: of use and only long, dropped, or a call that was refused unread. */
export type Spent = "used" | "wasted" | "refused";

/**
 * Counts what a guest sends that comes to nothing. Reading a line costs the kernel more than it costs a guest to
 * write the same one again, so its own CPU limit does not bound what it takes from the others.
 */
export class FloodGate {
  readonly #clock: Clock;
  #windowStart = Number.NEGATIVE_INFINITY;
  #wasted = 0;
  #refused = 0;
  #characters = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** A sentence once it is too much within a second; null before. */
  take(what: Spent, characters: number): string | null {
    const now = this.#clock.monotonic();
    if (now - this.#windowStart >= windowMs) {
      this.#windowStart = now;
      this.#wasted = 0;
      this.#refused = 0;
      this.#characters = 0;
    }
    if (what === "wasted") this.#wasted += 1;
    if (what === "refused") this.#refused += 1;
    this.#characters += characters;
    if (this.#wasted > bounds.maxWastedPerSecond) {
      return `It flooded the kernel: more than ${bounds.maxWastedPerSecond} of its messages within a second had to be dropped.`;
    }
    if (this.#refused > bounds.maxRefusedCallsPerSecond) {
      return `It flooded the kernel: more than ${bounds.maxRefusedCallsPerSecond} of its calls within a second had to be refused.`;
    }
    if (this.#characters > bounds.maxWastedCharactersPerSecond) {
      return `It flooded the kernel: more than ${bounds.maxWastedCharactersPerSecond} characters within a second, in notifications and in messages that had to be dropped or refused.`;
    }
    return null;
  }
}
