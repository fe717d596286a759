import type { Clock } from "../../base/clock.ts";

/** The part of a child that a keeper needs; `Child` has it. */
export interface KeptChild {
  readonly pid: number;
  readonly isAlive: boolean;
  /** True after the child was told to end. */
  readonly isEnding: boolean;
  readonly ended: Promise<string>;
}

interface RestartBounds {
  /** The delay before a child that died is restarted; it doubles from the first value to the last. */
  readonly firstRestartDelayMs: number;
  readonly maxRestartDelayMs: number;
  /** A child that lived this long resets the restart delay. */
  readonly stableAfterMs: number;
}

interface ChildKeeperOptions<Kept extends KeptChild> {
  readonly clock: Clock;
  readonly restarts: RestartBounds;
  /** Resolves when the child accepts requests. */
  start(): Promise<Kept>;
  /** Ends the child within a bounded time, when the keeper is closed. */
  end(child: Kept): Promise<void>;
  /** Called when the child has ended and the keeper is not closed. `deaths` counts consecutive unexpected ends. */
  gone(child: Kept, how: string, deaths: number): void;
  /** Returns the error with which `connect` rejects after the keeper was closed. */
  closed(): Error;
}

/** Keeps one child: starts it when it is first needed, and restarts it after a death, with exponential backoff. */
export class ChildKeeper<Kept extends KeptChild> implements AsyncDisposable {
  readonly #options: ChildKeeperOptions<Kept>;
  #child: Kept | null = null;
  #starting: Promise<Kept> | null = null;
  /** Consecutive deaths and failed starts. */
  #deaths = 0;
  #isClosed = false;
  #endPause = (): void => {};

  constructor(options: ChildKeeperOptions<Kept>) {
    this.#options = options;
  }

  /** The running child; null while none runs, and while one is being started. */
  get child(): Kept | null {
    return this.#child?.isAlive === true ? this.#child : null;
  }

  get pid(): number | null {
    return this.child?.pid ?? null;
  }

  /** Returns the running child, or starts one. Rejects as `start` does; the next call retries after a delay. */
  async connect(): Promise<Kept> {
    if (this.#isClosed) throw this.#options.closed();
    if (this.child !== null) return this.child;
    this.#starting ??= this.#start().finally(() => (this.#starting = null));
    return await this.#starting;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    this.#endPause();
    // The caller that waits for the start receives its error.
    await this.#starting?.catch(() => undefined);
    const { child } = this;
    if (child !== null) await this.#options.end(child);
  }

  async #start(): Promise<Kept> {
    if (this.#deaths > 0) await this.#pause();
    if (this.#isClosed) throw this.#options.closed();
    const { clock } = this.#options;
    try {
      const startedAt = clock.monotonic();
      const child = await this.#options.start();
      this.#child = child;
      void child.ended.then((how) => this.#ended(child, how, clock.monotonic() - startedAt));
      return child;
    } catch (error) {
      this.#deaths++;
      throw error;
    }
  }

  #ended(child: Kept, how: string, livedMs: number): void {
    this.#child = null;
    if (this.#isClosed) return;
    if (livedMs >= this.#options.restarts.stableAfterMs) this.#deaths = 0;
    if (!child.isEnding) this.#deaths++;
    this.#options.gone(child, how, this.#deaths);
  }

  #pause(): Promise<void> {
    const { firstRestartDelayMs, maxRestartDelayMs } = this.#options.restarts;
    const delayMs = Math.min(maxRestartDelayMs, firstRestartDelayMs * 2 ** (this.#deaths - 1));
    return new Promise((resolve) => {
      this.#endPause = resolve;
      this.#options.clock.timer(delayMs, resolve);
    });
  }
}
