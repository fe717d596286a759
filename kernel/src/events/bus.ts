import { LaresError } from "../base/errors.ts";
import type { LaresEvent } from "../base/vocabulary/event.ts";

/** How many events may be waiting because listeners publish while they are being told. */
export const maxPendingEvents = 10_000;

type Listener = (event: LaresEvent) => void;

/**
 * Tells everyone who listens, in this process and at once. What must survive the process is put into an
 * inbox by whoever publishes here.
 *
 * All listeners see all events in the same order: what a listener publishes is delivered after the event
 * it is being told about. A listener that throws is reported and the others still hear.
 */
export class EventBus {
  readonly #listeners = new Map<string, Set<Listener>>();
  readonly #onError: (error: unknown, event: LaresEvent) => void;
  readonly #pending: LaresEvent[] = [];
  #delivering = false;

  constructor(onError: (error: unknown, event: LaresEvent) => void) {
    this.#onError = onError;
  }

  /** Listens to the events of this name, or to all of them ("*"), until the result is disposed. */
  on(name: string, listener: Listener): Disposable {
    const listeners = this.#listeners.get(name) ?? new Set();
    this.#listeners.set(name, listeners);
    // A wrapper of its own, so that one function may listen twice and leave twice.
    const own: Listener = (event) => listener(event);
    listeners.add(own);
    return {
      [Symbol.dispose]: () => {
        listeners.delete(own);
        if (listeners.size === 0 && this.#listeners.get(name) === listeners) this.#listeners.delete(name);
      },
    };
  }

  publish(event: LaresEvent): void {
    if (this.#pending.length >= maxPendingEvents) {
      throw new LaresError(
        "LimitExceeded",
        `${maxPendingEvents} events wait on the bus: a listener publishes without end.`,
        {
          limit: "maxPendingEvents",
          value: maxPendingEvents,
        },
      );
    }
    this.#pending.push(event);
    if (this.#delivering) return;
    this.#delivering = true;
    try {
      for (let next = this.#pending.shift(); next !== undefined; next = this.#pending.shift())
        this.#deliver(next);
    } finally {
      this.#delivering = false;
    }
  }

  #deliver(event: LaresEvent): void {
    const listeners = [...(this.#listeners.get(event.name) ?? []), ...(this.#listeners.get("*") ?? [])];
    for (const listener of listeners) {
      try {
        listener(event);
      } catch (error) {
        this.#onError(error, event);
      }
    }
  }
}
