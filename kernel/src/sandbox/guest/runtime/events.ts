/** The part of the DOM's events that `AbortSignal` needs. Installed as globals. */
export class Event {
  readonly type: string;
  readonly cancelable: boolean;
  readonly timeStamp = performance.now();
  target: EventTarget | null = null;
  #prevented = false;

  constructor(type: string, options: { cancelable?: boolean } = {}) {
    this.type = String(type);
    this.cancelable = options.cancelable ?? false;
  }
  get defaultPrevented(): boolean {
    return this.#prevented;
  }
  preventDefault(): void {
    if (this.cancelable) this.#prevented = true;
  }
}

type Listener = ((event: Event) => unknown) | { handleEvent(event: Event): unknown };
interface Registration {
  readonly listener: Listener;
  readonly once: boolean;
}

export class EventTarget {
  readonly #listeners = new Map<string, Registration[]>();

  addEventListener(
    type: string,
    listener: Listener | null,
    options?: { once?: boolean; signal?: AbortSignal } | boolean,
  ): void {
    if (listener === null) return;
    const { once = false, signal } = typeof options === "object" ? options : {};
    if (signal?.aborted) return;
    const list = this.#listeners.get(type) ?? [];
    if (list.some((known) => known.listener === listener)) return;
    this.#listeners.set(type, [...list, { listener, once }]);
    signal?.addEventListener("abort", () => this.removeEventListener(type, listener), { once: true });
  }

  removeEventListener(type: string, listener: Listener | null): void {
    const list = this.#listeners.get(type);
    if (list === undefined) return;
    this.#listeners.set(
      type,
      list.filter((known) => known.listener !== listener),
    );
  }

  dispatchEvent(event: Event): boolean {
    event.target = this;
    for (const { listener, once } of this.#listeners.get(event.type) ?? []) {
      if (once) this.removeEventListener(event.type, listener);
      try {
        if (typeof listener === "function") listener.call(this, event);
        else listener.handleEvent(event);
      } catch (error) {
        // As in a browser, an error in one listener is reported, and the other listeners are still called.
        void Promise.reject(error);
      }
    }
    return !event.defaultPrevented;
  }
}

/** Only `AbortController` and the static methods below create signals. */
const ownKey = Symbol("abort signal");

export class AbortSignal extends EventTarget {
  #reason: unknown;
  #aborted = false;
  onabort: ((event: Event) => unknown) | null = null;

  constructor(key?: symbol) {
    if (key !== ownKey) throw new TypeError("Illegal constructor");
    super();
  }
  get aborted(): boolean {
    return this.#aborted;
  }
  get reason(): unknown {
    return this.#reason;
  }
  throwIfAborted(): void {
    if (this.#aborted) throw this.#reason;
  }

  static abort(reason?: unknown): AbortSignal {
    const signal = new AbortSignal(ownKey);
    abortSignal(signal, reason);
    return signal;
  }
  static timeout(delayMs: number): AbortSignal {
    const signal = new AbortSignal(ownKey);
    const error = new DOMException("The operation timed out.", "TimeoutError");
    setTimeout(() => abortSignal(signal, error), delayMs);
    return signal;
  }
  static any(signals: Iterable<AbortSignal>): AbortSignal {
    const any = new AbortSignal(ownKey);
    for (const signal of signals) {
      if (signal.aborted) {
        abortSignal(any, signal.reason);
        break;
      }
      signal.addEventListener("abort", () => abortSignal(any, signal.reason), { once: true });
    }
    return any;
  }

  static {
    abortSignal = (signal, reason) => {
      if (signal.#aborted) return;
      signal.#aborted = true;
      signal.#reason = reason ?? new DOMException("The operation was aborted.", "AbortError");
      const event = new Event("abort");
      signal.onabort?.call(signal, event);
      signal.dispatchEvent(event);
    };
  }
}
var abortSignal: (signal: AbortSignal, reason: unknown) => void;

export class AbortController {
  readonly signal = new AbortSignal(ownKey);

  abort(reason?: unknown): void {
    abortSignal(this.signal, reason);
  }
}
