import type { Clock } from "../base/clock.ts";
import { messageOf } from "../base/errors.ts";
import type { Log } from "../base/log.ts";

/** The delay of the first maintenance after a write or query; short, because some kernels do not live long. */
const firstMaintenanceMs = 60 * 1000;
/** The interval of maintenance while knowledge is written or queried. */
const maintenanceIntervalMs = 10 * 60 * 1000;
/** The number of maintenances for pending work without further use, because a service may be down permanently. */
const maxUnaskedMaintenances = 6;
/** The number of writes after which maintenance runs at the latest: surplus vectors must not wait for the timer. */
const writesPerMaintenance = 1000;
/** The number of events and items that the projections may lag behind before they are updated without a query. */
const maxUnasked = 5000;

interface UpkeepParts {
  readonly clock: Clock;
  readonly log: Log;
  /** Returns the number of stored events and items. */
  stored(): number;
  /** Unfinished if pending work needs another maintenance even without further use. */
  maintain(): Promise<{ readonly isUnfinished: boolean }>;
  project(): Promise<unknown>;
}

/**
 * The background work of a memory: maintenance, and keeping the projections so current that a first query need not
 * wait. Does nothing for a memory that is not used.
 */
export class Upkeep implements Disposable {
  readonly #parts: UpkeepParts;
  #storedWhenProjected: number;
  #writes = 0;
  #unaskedMaintenances = 0;
  #timer: Disposable | null = null;
  #pauseMs = firstMaintenanceMs;
  #isRunning = false;
  #isClosed = false;

  constructor(parts: UpkeepParts) {
    this.#parts = parts;
    this.#storedWhenProjected = parts.stored();
  }

  /** Called when the journal has grown. Cheap, because every write calls it. */
  grown(): void {
    const stored = this.#parts.stored();
    if (stored - this.#storedWhenProjected < maxUnasked || this.#isRunning) return;
    this.#storedWhenProjected = stored;
    this.#run("be brought up to date", () => this.#parts.project());
  }

  /** Called when knowledge was queried or changed. */
  asked(): void {
    this.#unaskedMaintenances = 0;
    this.#waitForNext();
  }

  #waitForNext(): void {
    if (this.#isClosed) return;
    this.#timer ??= this.#parts.clock.timer(this.#pauseMs, () => this.#maintain());
  }

  /** Called when knowledge was added. */
  wrote(): void {
    this.asked();
    this.#writes += 1;
    if (this.#writes >= writesPerMaintenance && !this.#isRunning) this.#maintain();
  }

  /**
   * Does not wait for running work: projecting may take a minute, and the next kernel waits for the end of this
   * one. Its result is written as a whole before the journal closes, or refused as a whole.
   */
  [Symbol.dispose](): void {
    this.#isClosed = true;
    this.#timer?.[Symbol.dispose]();
  }

  #maintain(): void {
    this.#timer?.[Symbol.dispose]();
    this.#timer = null;
    this.#writes = 0;
    this.#pauseMs = maintenanceIntervalMs;
    this.#run("be maintained", async () => {
      const { isUnfinished } = await this.#parts.maintain();
      if (!isUnfinished || this.#unaskedMaintenances >= maxUnaskedMaintenances) return;
      this.#unaskedMaintenances += 1;
      this.#waitForNext();
    });
  }

  #run(what: string, work: () => Promise<unknown>): void {
    if (this.#isClosed || this.#isRunning) return;
    this.#isRunning = true;
    work()
      .catch((error: unknown) => {
        // A failure is expected if the memory was closed meanwhile.
        if (this.#isClosed) return;
        const reason = messageOf(error);
        this.#parts.log.warn(`A memory could not ${what}; it is retried later.`, { reason });
      })
      .finally(() => (this.#isRunning = false));
  }
}
