import type { Clock } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import type { ObjectStore } from "../../platform/files/object-store.ts";
import type { Ledger } from "./ledger.ts";
import { actionLimits } from "../limits.ts";

/** Actions that are too old are removed within this time, even if nothing grows. */
const sweepEveryMs = 3_600_000;

interface RetentionPorts {
  readonly ledger: Ledger;
  readonly objects: ObjectStore;
  readonly clock: Clock;
  readonly log: Log;
  /** Runs a task while no action is being committed or undone. */
  enqueue<Result>(run: () => Promise<Result>): Promise<Result>;
}

/** Drops what ended actions keep beyond the bounds, and contents that no action needs. */
export class Retention implements Disposable {
  readonly #ports: RetentionPorts;
  /** Writes of contents for actions that are not in the ledger yet. */
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

  /**
   * Runs a task that stores contents and then records the action that needs them; no sweep removes them in between.
   */
  async storing<Result>(run: () => Promise<Result>): Promise<Result> {
    while (this.#sweeping !== null) await this.#sweeping.catch(() => undefined);
    const running = run();
    const ended = running.catch(() => undefined).finally(() => this.#storing.delete(ended));
    this.#storing.add(ended);
    return running;
  }

  /** Called when an action was stored or has ended, with the size that it added. */
  grew(bytes: number): void {
    this.#grownBytes += bytes;
    this.#grownActions += 1;
    if (
      this.#grownBytes >= actionLimits.sweepAfterBytes ||
      this.#grownActions >= actionLimits.sweepAfterActions
    )
      this.#sweepBehind();
  }

  /** Removes everything over the bounds. Called at start; repeats by itself. */
  async sweep(): Promise<void> {
    const { ledger, objects, enqueue, clock } = this.#ports;
    this.#grownBytes = 0;
    this.#grownActions = 0;
    await enqueue(async () => {
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
        this.#ports.log.error(
          "The stored contents of old actions could not be removed. The kernel will retry.",
          {
            error: messageOf(error),
          },
        );
      })
      .finally(() => (this.#isDue = false));
  }
}
