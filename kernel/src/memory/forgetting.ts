import type { Clock } from "../base/clock.ts";
import { messageOf, storageError } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import type { AskStore } from "./store-view.ts";

/** What could not be taken out of the files that queries read is tried again so often. */
const retryMs = 60_000;

export interface ForgettingStart {
  /** Seq of the last record that redacts what queries find; 0 where there is none. */
  readonly forgotten: number;
  /** What redact records up to this seq name is in no file. */
  readonly purged: number;
  storePurged(seq: number): Promise<void>;
}

/**
 * Sees to it that what is gone from the journal is gone from the projections too: at once, else again and again, and
 * after the next start. No query finds it meanwhile, for each follows the journal first.
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

  /** The journal says so, in the record of this seq. Nobody waits. */
  later(seq: number): void {
    this.#forgotten = seq;
    this.#behind();
  }

  /** Resolves when it is in no file. StorageError says what is to be done otherwise. */
  async now(seq: number): Promise<void> {
    this.#forgotten = seq;
    await this.finish();
  }

  /** Whatever is left of earlier ones, too. */
  async finish(): Promise<void> {
    const seq = this.#forgotten;
    if (seq <= this.#purged) return;
    try {
      await this.#parts.ask("project", {});
    } catch (error) {
      this.#retry();
      throw storageError(
        `It is gone from the journal, and no answer has it any more; but it could not be taken out of the files that searches read: ${messageOf(error)} That is tried again every minute, and when the memory is next opened.`,
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
    this.#parts.log.warn("What a memory was told to forget is not yet out of every file.", {
      reason: messageOf(error),
    });
  }
}
