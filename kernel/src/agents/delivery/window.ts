/** Maximum number of events that a guest receives before it has answered the first, if it supports that many. */
export const maxOpenHooks = 16;
/** Work, in milliseconds, that is delivered ahead, so that the guest never waits for the next event. */
export const aheadMs = 4;
/** Weight of the last handler's time in the average. */
const weight = 0.2;

/**
 * Computes how many events an agent may have open. Quick handlers receive the next events before they have
 * answered, which hides the latency of the round trip. Slow ones receive events one by one, so that urgent events
 * do not wait behind many others. After a guest was lost, the window is one until an event is answered, so that
 * the next loss identifies the event that causes it.
 */
export class DeliveryWindow {
  #averageMs: number | null = null;

  /** `limit`: the maximum that the guest supports. */
  size(limit: number): number {
    if (this.#averageMs === null) return 1;
    const ahead = this.#averageMs > 0 ? Math.floor(aheadMs / this.#averageMs) : maxOpenHooks;
    return Math.max(1, Math.min(ahead, limit, maxOpenHooks));
  }

  handled(tookMs: number): void {
    this.#averageMs =
      this.#averageMs === null ? tookMs : this.#averageMs + (tookMs - this.#averageMs) * weight;
  }

  lost(): void {
    this.#averageMs = null;
  }
}
