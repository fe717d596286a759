import type { Clock } from "../base/clock.ts";
import { messageOf } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import type { Database, Statement } from "../platform/database/database.ts";
import { failpoint } from "../platform/failpoint.ts";

/** The delay after which acknowledged items are deleted at the latest. A crash before that delivers them once more. */
const maxDelayMs = 20;
/** At this number they are deleted without delay. */
const maxWaiting = 1024;
/** The delay after which a deletion that failed is tried again. */
const retryMs = 1000;

/** Statements to store in the same transaction; `committed` is called afterwards. */
export interface Alongside {
  readonly statements: readonly Statement[];
  committed(): void;
}

/** Deletes acknowledged items in batches, because a transaction for each one would be expensive. */
export class Acknowledgements {
  readonly #database: Database;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #alongside: () => Alongside;
  #waiting: number[] = [];
  #timer: Disposable | null = null;
  #flushing: Promise<void> = Promise.resolve();
  #isFailing = false;

  constructor(database: Database, clock: Clock, log: Log, alongside: () => Alongside) {
    this.#alongside = alongside;
    this.#database = database;
    this.#clock = clock;
    this.#log = log;
  }

  add(seq: number): void {
    this.#waiting.push(seq);
    if (this.#waiting.length === maxWaiting) this.#flushBehind();
    else this.#timer ??= this.#clock.timer(maxDelayMs, () => this.#flushBehind());
  }

  /** Resolves when everything acknowledged before is deleted. */
  flush(): Promise<void> {
    const flushed = this.#flushing.then(() => this.#flush());
    this.#flushing = flushed.catch(() => undefined);
    return flushed;
  }

  async #flush(): Promise<void> {
    this.#timer?.[Symbol.dispose]();
    this.#timer = null;
    const seqs = this.#waiting;
    const alongside = this.#alongside();
    if (seqs.length === 0 && alongside.statements.length === 0) return;
    this.#waiting = [];
    failpoint("inbox.acknowledge.begun");
    try {
      await this.#database.batch([
        {
          sql: "DELETE FROM inbox WHERE seq IN (SELECT value FROM json_each(?))",
          params: [JSON.stringify(seqs)],
        },
        ...alongside.statements,
      ]);
      alongside.committed();
    } catch (error) {
      this.#waiting = [...seqs, ...this.#waiting];
      this.#timer ??= this.#clock.timer(retryMs, () => this.#flushBehind());
      throw error;
    }
    this.#isFailing = false;
    failpoint("inbox.acknowledge.committed");
  }

  #flushBehind(): void {
    this.flush().catch((error: unknown) => {
      if (this.#isFailing) return;
      this.#isFailing = true;
      this.#log.error(
        "Acknowledged events could not be removed from the inbox yet. This is retried; after a crash before that, they are delivered again.",
        { reason: messageOf(error) },
      );
    });
  }
}
