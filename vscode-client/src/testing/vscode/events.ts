export class Disposable {
  readonly #dispose: () => void;
  constructor(dispose: () => void) {
    this.#dispose = dispose;
  }
  static from(...items: { dispose(): unknown }[]): Disposable {
    return new Disposable(() => {
      for (const item of items) item.dispose();
    });
  }
  dispose(): void {
    this.#dispose();
  }
}

export class EventEmitter<Value> {
  readonly #listeners = new Set<(value: Value) => unknown>();
  readonly event = (listener: (value: Value) => unknown): Disposable => {
    this.#listeners.add(listener);
    return new Disposable(() => this.#listeners.delete(listener));
  };
  fire(value: Value): void {
    for (const listener of Array.from(this.#listeners)) listener(value);
  }
  dispose(): void {
    this.#listeners.clear();
  }
}
