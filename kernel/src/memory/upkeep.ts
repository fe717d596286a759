import type { Clock } from "../base/clock.ts";
import { messageOf } from "../base/errors.ts";
import type { Log } from "../base/log.ts";

/** After it was first written or asked, knowledge is looked after so soon: not every kernel lives for long. */
const firstMaintenanceMs = 60 * 1000;
/** Knowledge that was written or asked since is looked after so often. */
const maintenanceIntervalMs = 10 * 60 * 1000;
/** What waited then is looked after so often though nobody asks: a service may be down for good. */
const maxUnaskedMaintenances = 6;
/** And after so many writes at the latest: vectors beyond their number do not wait for the clock. */
const writesPerMaintenance = 1000;
/** Events and items behind which the projections may be before they follow, though nobody has asked yet. */
const maxUnasked = 5000;

interface UpkeepParts {
  readonly clock: Clock;
  readonly log: Log;
  /** Events and items that are stored now. */
  stored(): number;
  /** Unfinished where something waits that is to be looked after though nobody asks. */
  maintain(): Promise<{ readonly isUnfinished: boolean }>;
  project(): Promise<unknown>;
}

/**
 * What a memory does behind the backs of those who use it: maintenance, and projections that do not fall so far behind
 * that the first question would have to wait. Does nothing for a memory of which nothing is stored or asked.
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

  /** The journal has grown. Cheap: called for each write. */
  grown(): void {
    const stored = this.#parts.stored();
    if (stored - this.#storedWhenProjected < maxUnasked || this.#isRunning) return;
    this.#storedWhenProjected = stored;
    this.#run("be brought up to date", () => this.#parts.project());
  }

  /** Knowledge was asked, or changed. */
  asked(): void {
    this.#unaskedMaintenances = 0;
    this.#waitForNext();
  }

  #waitForNext(): void {
    if (this.#isClosed) return;
    this.#timer ??= this.#parts.clock.timer(this.#pauseMs, () => this.#maintain());
  }

  /** Knowledge was added. */
  wrote(): void {
    this.asked();
    this.#writes += 1;
    if (this.#writes >= writesPerMaintenance && !this.#isRunning) this.#maintain();
  }

  /**
   * Does not wait for what runs: projecting may take a minute, and a kernel that ends is waited for by the next. What
   * comes of it is written down as a whole before the journal closes, or refused as a whole.
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
    this.#run("be looked after", async () => {
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
        // Of a memory that was closed meanwhile nothing else was to be expected.
        if (this.#isClosed) return;
        const reason = messageOf(error);
        this.#parts.log.warn(`A memory could not ${what}; it is tried again later.`, { reason });
      })
      .finally(() => (this.#isRunning = false));
  }
}
