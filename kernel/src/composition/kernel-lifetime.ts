import type { Clock } from "../base/clock.ts";

interface KernelLifetimeOptions {
  readonly clock: Pick<Clock, "timer">;
  /** Whether the kernel stays without clients. */
  readonly keep: boolean;
  /** How long it waits for its first client. Milliseconds. */
  readonly unjoinedMs: number;
  /** How long it stays after its last client left. Milliseconds. */
  readonly lingerMs: () => number;
}

/**
 * Decides when a kernel without clients ends. It waits for the first client from the moment it is made, so it is made
 * before the kernel listens: a client that joins while the socket is still being set up has joined.
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

  /** How many clients there are now. */
  clientsChanged(clients: number): void {
    this.#timer?.[Symbol.dispose]();
    if (clients === 0) this.#endAfter(this.#options.lingerMs(), "its last client left");
  }

  end(reason: string): void {
    this.#timer?.[Symbol.dispose]();
    this.#ending.resolve(reason);
  }

  #endAfter(delayMs: number, reason: string): void {
    const { clock, keep } = this.#options;
    // The system's clock does not keep the process alive by itself; the socket does.
    this.#timer = keep ? undefined : clock.timer(delayMs, () => this.end(reason));
  }
}
