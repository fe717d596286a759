import type { Clock } from "../base/clock.ts";
import { messageOf, storageError } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import type { AskStore } from "./store-view.ts";

/** How often the removal from the files that queries read is retried. */
const retryMs = 60_000;

export interface ForgettingStart {
  /** Seq of the last record that redacts something that queries find; 0 if there is none. */
  readonly forgotten: number;
  /** What redact records up to this seq name is in no file any more. */
  readonly purged: number;
  storePurged(seq: number): Promise<void>;
}

/**
 * Removes redacted data from the projections, too: at once, or with retries, which continue after a restart. No
 * query finds the data meanwhile, because queries follow the journal first.
 */
export class Forgetting implements Disposable {
  readonly #parts: { readonly ask: AskStore; readonly clock: Clock; readonly log: Log };
  readonly #start: ForgettingStart;
  #forgotten: number;
  #purged: number;
  #timer: Disposable | null = null;
  #isClosed = false;

  constructor(
    parts: { readonly ask: AskStore; readonly clock: Clock; readonly log: Log },
    start: ForgettingStart,
  ) {
    this.#parts = parts;
    this.#start = start;
    this.#forgotten = start.forgotten;
    this.#purged = start.purged;
    this.#behind();
  }

  /** Starts the removal for the redact record of this seq in the background. */
  later(seq: number): void {
    this.#forgotten = seq;
    this.#behind();
  }

  /** Resolves when the data is in no file. StorageError says what to do otherwise. */
  async now(seq: number): Promise<void> {
    this.#forgotten = seq;
    await this.finish();
  }

  /** Completes earlier removals, too. */
  async finish(): Promise<void> {
    const seq = this.#forgotten;
    if (seq <= this.#purged) return;
    try {
      await this.#parts.ask("project", {});
    } catch (error) {
      this.#retry();
      throw storageError(
        `The data was removed from the journal and from all answers, but could not be removed from the files that searches read: ${messageOf(error)} This is retried every minute, and when the memory is next opened.`,
        error,
      );
    }
    this.#purged = Math.max(this.#purged, seq);
    await this.#start.storePurged(seq).catch((error: unknown) => this.#warn(error));
  }

  [Symbol.dispose](): void {
    this.#isClosed = true;
    this.#timer?.[Symbol.dispose]();
  }

  #behind(): void {
    this.finish().catch((error: unknown) => this.#warn(error));
  }

  #retry(): void {
    if (this.#isClosed) return;
    this.#timer ??= this.#parts.clock.timer(retryMs, () => {
      this.#timer = null;
      this.#behind();
    });
  }

  #warn(error: unknown): void {
    if (this.#isClosed) return;
    this.#parts.log.warn("Forgotten data of a memory could not be removed from every file yet.", {
      reason: messageOf(error),
    });
  }
}
