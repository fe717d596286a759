import type { Clock } from "../base/clock.ts";

/** The time after which written records are synchronized at the latest. */
const maxUnsyncedMs = 50;
/** Logs that are synchronized concurrently. Each takes a thread that other file operations need, too. */
const maxAtOnce = 2;

/** A log with records that may not be on the disk. */
export interface UnsyncedLog {
  /** Resolves when the log's records are on the disk, or when the log has reported the failure. Never rejects. */
  bringToDisk(): Promise<void>;
}

/** Synchronizes all logs with one shared timer. */
export class DiskTimer {
  readonly #clock: Pick<Clock, "timer">;
  readonly #waiting = new Set<UnsyncedLog>();
  /** Logs whose deadline has passed. */
  #due: UnsyncedLog[] = [];
  #timer: Disposable | null = null;
  #running = 0;

  constructor(clock: Pick<Clock, "timer">) {
    this.#clock = clock;
  }

  /** Synchronizes the log within `maxUnsyncedMs`, or as soon as the logs before it are done. */
  add(log: UnsyncedLog): void {
    this.#waiting.add(log);
    // Logs that are added during a synchronization get a deadline of their own.
    this.#timer ??= this.#clock.timer(maxUnsyncedMs, () => {
      this.#timer = null;
      this.#due.push(...this.#waiting);
      this.#waiting.clear();
      while (this.#running < maxAtOnce && this.#due.length > 0) void this.#run();
    });
  }

  /** Removes a log that is already synchronized or closed. */
  remove(log: UnsyncedLog): void {
    this.#waiting.delete(log);
    this.#due = this.#due.filter((due) => due !== log);
    if (this.#waiting.size > 0) return;
    this.#timer?.[Symbol.dispose]();
    this.#timer = null;
  }

  async #run(): Promise<void> {
    this.#running += 1;
    for (let log = this.#due.shift(); log !== undefined; log = this.#due.shift()) await log.bringToDisk();
    this.#running -= 1;
  }
}
