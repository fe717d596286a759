import type { Clock } from "../../../base/clock.ts";
import { abiBounds as bounds } from "./bounds.ts";

const windowMs = 1000;

/** What happened to a message: used, dropped, or refused as an unread call. */
export type Spent = "used" | "wasted" | "refused";

/**
 * Counts a guest's messages that have no effect. Reading a line costs the kernel more than writing it costs the
 * guest, so the guest's CPU limit does not bound what its messages take from other agents.
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

  /** Returns the reason for termination when too many such messages arrived within a second; otherwise null. */
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
