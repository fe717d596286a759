import type { Clock } from "../base/clock.ts";
import { messageOf } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import type { ObjectStore } from "../platform/object-store.ts";
import type { Ledger } from "./ledger.ts";
import { actionLimits } from "./limits.ts";

/** What is only too old, and not too much, goes within this time. */
const sweepEveryMs = 3_600_000;

export interface RetentionPorts {
  readonly ledger: Ledger;
  readonly objects: ObjectStore;
  readonly clock: Clock;
  readonly log: Log;
  /** Runs while no action is being committed or undone. */
  inLine<Result>(run: () => Promise<Result>): Promise<Result>;
}

/** Drops what ended actions left behind when it is too old or too much, and the contents that nobody needs. */
export class Retention implements Disposable {
  readonly #ports: RetentionPorts;
  /** Contents on their way to an action that is not yet in the ledger. */
  readonly #storing = new Set<Promise<unknown>>();
  #sweeping: Promise<void> | null = null;
  #isDue = false;
  #isDisposed = false;
  #grownBytes = 0;
  #grownActions = 0;
  #timer: Disposable | null = null;

  constructor(ports: RetentionPorts) {
    this.#ports = ports;
  }

  /** Puts contents and writes down who needs them: no sweep takes them away in between. */
  async storing<Result>(run: () => Promise<Result>): Promise<Result> {
    while (this.#sweeping !== null) await this.#sweeping.catch(() => undefined);
    const running = run();
    const ended = running.catch(() => undefined).finally(() => this.#storing.delete(ended));
    this.#storing.add(ended);
    return running;
  }

  /** An action was stored or has ended, and so much was kept for it. */
  grew(bytes: number): void {
    this.#grownBytes += bytes;
    this.#grownActions += 1;
    if (
      this.#grownBytes >= actionLimits.sweepAfterBytes ||
      this.#grownActions >= actionLimits.sweepAfterActions
    )
      this.#sweepBehind();
  }

  /** Whatever is over the bounds goes now; called at start, then it comes again by itself. */
  async sweep(): Promise<void> {
    const { ledger, objects, inLine, clock } = this.#ports;
    this.#grownBytes = 0;
    this.#grownActions = 0;
    await inLine(async () => {
      this.#sweeping = Promise.all(this.#storing).then(async () => {
        await ledger.forgetOld();
        await objects.sweep(await ledger.neededObjects());
      });
      try {
        await this.#sweeping;
      } finally {
        this.#sweeping = null;
      }
    });
    this.#timer?.[Symbol.dispose]();
    this.#timer = this.#isDisposed ? null : clock.timer(sweepEveryMs, () => this.#sweepBehind());
  }

  [Symbol.dispose](): void {
    this.#isDisposed = true;
    this.#timer?.[Symbol.dispose]();
    this.#timer = null;
  }

  #sweepBehind(): void {
    if (this.#isDue || this.#isDisposed) return;
    this.#isDue = true;
    this.sweep()
      .catch((error: unknown) => {
        this.#ports.log.error("What old actions kept could not be removed; it is tried again later.", {
          error: messageOf(error),
        });
      })
      .finally(() => (this.#isDue = false));
  }
}
