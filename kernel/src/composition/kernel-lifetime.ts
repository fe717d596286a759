import type { Clock } from "../base/clock.ts";

interface KernelLifetimeOptions {
  readonly clock: Pick<Clock, "timer">;
  /** True if the kernel keeps running without clients. */
  readonly keep: boolean;
  /** How long it waits for its first client. Milliseconds. */
  readonly unjoinedMs: number;
  /** How long it stays after its last client left. Milliseconds. */
  readonly lingerMs: () => number;
  /** Returns true while work that a person began continues without clients; the kernel stays for it. */
  readonly isAtWork?: () => boolean;
}

/**
 * Decides when a kernel without clients ends. The wait for the first client starts at construction, before the
 * kernel listens, so that a client that connects during setup is counted.
 */
export class KernelLifetime {
  readonly #options: KernelLifetimeOptions;
  readonly #ending = Promise.withResolvers<string>();
  #timer: Disposable | undefined;

  constructor(options: KernelLifetimeOptions) {
    this.#options = options;
    this.#endAfter(options.unjoinedMs, "nobody joined it");
  }

  /** Resolves with the reason, as the end of a sentence about the kernel. */
  get ended(): Promise<string> {
    return this.#ending.promise;
  }

  /** Reports the current number of clients. */
  clientsChanged(clients: number): void {
    this.#timer?.[Symbol.dispose]();
    if (clients === 0) this.#endAfter(this.#options.lingerMs(), "its last client left");
  }

  end(reason: string): void {
    this.#timer?.[Symbol.dispose]();
    this.#ending.resolve(reason);
  }

  #endAfter(delayMs: number, reason: string): void {
    const { clock, keep, isAtWork } = this.#options;
    // The system's clock does not keep the process alive by itself; the socket does.
    this.#timer = keep
      ? undefined
      : clock.timer(delayMs, () =>
          isAtWork?.() === true ? this.#endAfter(delayMs, reason) : this.end(reason),
        );
  }
}
