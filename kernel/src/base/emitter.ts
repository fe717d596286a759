/** A typed list of listeners. An error in one listener is reported, and the other listeners are still called. */
export class Emitter<Event> {
  readonly #listeners = new Set<(event: Event) => void>();
  readonly #onError: (error: unknown) => void;

  constructor(onError: (error: unknown) => void = reportLater) {
    this.#onError = onError;
  }

  /** Adds a listener. Disposing the result removes it. */
  on(listener: (event: Event) => void): Disposable {
    // Each call gets its own wrapper, so that one function can be added twice and removed twice.
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
  // Rethrown asynchronously, so that the process-wide handler reports the error instead of losing it.
  queueMicrotask(() => {
    throw error;
  });
}
