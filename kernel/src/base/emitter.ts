/** A typed list of listeners. A listener that throws is reported and does not keep the others from hearing. */
export class Emitter<Event> {
  readonly #listeners = new Set<(event: Event) => void>();
  readonly #onError: (error: unknown) => void;

  constructor(onError: (error: unknown) => void = reportLater) {
    this.#onError = onError;
  }

  /** Listens until the result is disposed. */
  on(listener: (event: Event) => void): Disposable {
    // A wrapper of its own for each call, so that one function may listen twice and leave twice.
    const own = (event: Event): void => listener(event);
    this.#listeners.add(own);
    return { [Symbol.dispose]: () => void this.#listeners.delete(own) };
  }

  emit(event: Event): void {
    for (const listener of Array.from(this.#listeners)) {
      try {
        listener(event);
      } catch (error) {
        this.#onError(error);
      }
    }
  }

  get listenerCount(): number {
    return this.#listeners.size;
  }
}

function reportLater(error: unknown): void {
  // Rethrown from the queue so that the process-wide handler sees it: swallowed would be worse.
  queueMicrotask(() => {
    throw error;
  });
}
