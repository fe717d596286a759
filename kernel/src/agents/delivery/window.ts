/** Events that a guest is handed before it answered the first of them, where it says that it takes so many. */
export const maxOpenHooks = 16;
/** How much work, in milliseconds, is handed over ahead: enough that the guest never waits for the next event. */
export const aheadMs = 4;
/** How much the last handler's time counts in the average. */
const weight = 0.2;

/**
 * How many events an agent may have in hand. Quick handlers get the next events before they answered, so that the way
 * there and back is not waited for each time; slow ones get them one by one, so that what is urgent need not wait
 * behind much. After a guest was lost it is one again, until an event was answered: the next loss then falls on the
 * event that brings it.
 */
export class DeliveryWindow {
  #averageMs: number | null = null;

  /** `limit`: what the guest takes. */
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
