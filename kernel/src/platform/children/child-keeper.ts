import type { Clock } from "../../base/clock.ts";

/** What a keeper has to know of a child; `Child` is one. */
export interface KeptChild {
  readonly pid: number;
  readonly isAlive: boolean;
  /** It was told to end. */
  readonly isEnding: boolean;
  readonly ended: Promise<string>;
}

interface RestartBounds {
  /** Waiting before a child that died is started again: doubled from the first to the last. */
  readonly firstRestartDelayMs: number;
  readonly maxRestartDelayMs: number;
  /** A child that lived this long starts the doubling anew. */
  readonly stableAfterMs: number;
}

interface ChildKeeperOptions<Kept extends KeptChild> {
  readonly clock: Clock;
  readonly restarts: RestartBounds;
  /** Resolves when requests can be sent to it. */
  start(): Promise<Kept>;
  /** Ends it, within a bounded time, when the keeper is closed. */
  end(child: Kept): Promise<void>;
  /** It has ended, and the keeper is not closed. `deaths`: in a row, those that were told to end not counted. */
  gone(child: Kept, how: string, deaths: number): void;
  /** What `connect` rejects with after the keeper was closed. */
  closed(): Error;
}

/** Keeps one child: started when it is first needed, and again after it died, with growing pauses. */
export class ChildKeeper<Kept extends KeptChild> implements AsyncDisposable {
  readonly #options: ChildKeeperOptions<Kept>;
  #child: Kept | null = null;
  #starting: Promise<Kept> | null = null;
  /** Deaths and failed starts in a row. */
  #deaths = 0;
  #isClosed = false;
  #endPause = (): void => {};

  constructor(options: ChildKeeperOptions<Kept>) {
    this.#options = options;
  }

  /** The child that runs; null while none does, and while one is being started. */
  get child(): Kept | null {
    return this.#child?.isAlive === true ? this.#child : null;
  }

  get pid(): number | null {
    return this.child?.pid ?? null;
  }

  /** Returns the child that runs, or starts one. Rejects as `start` does; the next call tries again after a pause. */
  async connect(): Promise<Kept> {
    if (this.#isClosed) throw this.#options.closed();
    if (this.child !== null) return this.child;
    this.#starting ??= this.#start().finally(() => (this.#starting = null));
    return await this.#starting;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    this.#endPause();
    // Whoever waits for it is told why it did not start.
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
