import { unlessOver } from "../../base/abort.ts";
import type { Clock } from "../../base/clock.ts";
import { embedEach, type EmbeddedPart } from "./embed-each.ts";
import type { Embedder, EmbeddingError } from "./port.ts";

/**
 * Maximum attempts to embed one text. After the last one, its item is found by words only until its text
 * changes.
 */
export const maxEmbeddingTries = 3;
/** Delays after the first failure in a row, the second, and so on; the last one repeats. */
const pausesMs = [2_000, 30_000, 2 * 60_000, 15 * 60_000] as const;
export const longestPauseMs = 15 * 60_000;
/** Maximum items taken from the queue at once. */
const immediateItems = 512;
const remoteItems = 32;

/** An item whose text waits for its embedding. */
export interface PendingItem {
  readonly row: number;
  /** Seq of the record that set the text. If it has changed, so has the text. */
  readonly saidSeq: number;
  readonly text: string;
  /** Failed attempts. */
  readonly tries: number;
}

export type Settlement = { readonly item: PendingItem } & (
  | { readonly state: "done"; readonly vector: Float32Array }
  | { readonly state: "retry"; readonly tries: number; readonly dueMs: number; readonly reason: string }
  | { readonly state: "failed"; readonly reason: string }
);

export interface TakenItems {
  readonly items: readonly PendingItem[];
  /** Items that are due; more may be due as well. */
  readonly mayBeMore: boolean;
  /** If no item is due: when the next one will be; null if none waits. */
  readonly nextDueMs: number | null;
}

/** The queue as stored on the disk. */
export interface PendingItems {
  /** Returns the oldest items that are due. */
  take(limit: number, nowMs: number): Promise<TakenItems>;
  /** Stores the outcomes in one transaction. Skips an item that is gone or whose `saidSeq` has changed. */
  settle(embedder: string, settlements: readonly Settlement[]): Promise<void>;
}

interface QueueOptions {
  readonly items: PendingItems;
  readonly clock: Clock;
  /** Called for an error that is not an EmbeddingError. The queue then pauses until it is woken. */
  report(error: unknown): void;
}

/**
 * Embeds waiting items, one call at a time. After a failure of the service itself, nothing is sent until the
 * delay is over, so that an outage costs only a few items an attempt.
 */
export class EmbeddingQueue implements AsyncDisposable {
  readonly #options: QueueOptions;
  #embedder: Embedder | null = null;
  /**
   * Resolves when the current call's result is no longer wanted: the embedder was switched or the queue
   * disposed.
   */
  #abandoned = new AbortController();
  #isClosed = false;
  #running: Promise<void> | null = null;
  #isWoken = false;
  #failuresInARow = 0;
  #restsUntilMs = 0;
  #timer: Disposable | null = null;

  constructor(options: QueueOptions) {
    this.#options = options;
  }

  /**
   * Uses this embedder from now on, or none. A call in progress is abandoned and does not count as an
   * attempt.
   */
  use(embedder: Embedder | null): void {
    this.#embedder = embedder;
    this.#failuresInARow = 0;
    this.#restsUntilMs = 0;
    this.#abandon();
    this.wake();
  }

  /** Wakes the queue: there may be new items. */
  wake(): void {
    if (this.#isClosed) return;
    this.#isWoken = true;
    this.#running ??= this.#run();
  }

  /** Waits for a write in progress, but not for an embedder. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    this.#timer?.[Symbol.dispose]();
    this.#abandon();
    await this.#running;
  }

  #abandon(): void {
    this.#abandoned.abort();
    this.#abandoned = new AbortController();
  }

  async #run(): Promise<void> {
    try {
      while (this.#isWoken && !this.#isClosed) {
        this.#isWoken = false;
        this.#timer?.[Symbol.dispose]();
        const nextMs = await this.#slice();
        if (nextMs !== null) this.#wakeAt(nextMs);
      }
    } catch (error) {
      this.#options.report(error);
    } finally {
      this.#running = null;
      // Woken after the last check, while this run was ending.
      if (this.#isWoken) this.wake();
    }
  }

  /** Returns when to check again; null if nothing waits. */
  async #slice(): Promise<number | null> {
    const { items, clock } = this.#options;
    const embedder = this.#embedder;
    if (embedder === null) return null;
    if (this.#restsUntilMs > clock.now()) return this.#restsUntilMs;
    const { signal: abandoned } = this.#abandoned;
    const isAbandoned = (): boolean => this.#isClosed || this.#embedder !== embedder;
    const taken = await items.take(embedder.isImmediate ? immediateItems : remoteItems, clock.now());
    if (isAbandoned()) return null;
    if (taken.items.length === 0) return taken.nextDueMs;
    const texts = taken.items.map(({ text }) => text);
    const parts = await unlessOver(embedEach(embedder, texts), abandoned);
    if (parts === null || isAbandoned()) return null;
    const nowMs = clock.now();
    const settlements = parts.flatMap((part) => settlementsOf(taken.items, part, nowMs));
    const pausesMs = parts.flatMap((part) =>
      "error" in part && part.error.isRetryable
        ? [pauseMs(this.#failuresInARow, part.error.retryAfterMs)]
        : [],
    );
    this.#failuresInARow = pausesMs.length > 0 ? this.#failuresInARow + 1 : 0;
    this.#restsUntilMs = pausesMs.length > 0 ? nowMs + Math.max(...pausesMs) : 0;
    await items.settle(embedder.name, settlements);
    return Math.max(nowMs, this.#restsUntilMs);
  }

  #wakeAt(atMs: number): void {
    const delayMs = atMs - this.#options.clock.now();
    if (delayMs <= 0) this.#isWoken = true;
    else if (!this.#isClosed) this.#timer = this.#options.clock.timer(delayMs, () => this.wake());
  }
}

function settlementsOf(taken: readonly PendingItem[], part: EmbeddedPart, nowMs: number): Settlement[] {
  return taken.slice(part.from, part.to).flatMap((item, index): Settlement[] => {
    if ("error" in part) return [afterFailure(item, part.error, nowMs)];
    const vector = part.vectors[index];
    return vector === undefined ? [] : [{ item, state: "done", vector }];
  });
}

/** Returns the new state of an item whose attempt failed. */
export function afterFailure(item: PendingItem, error: EmbeddingError, nowMs: number): Settlement {
  const tries = item.tries + 1;
  const reason = error.message;
  if (!error.isRetryable || tries >= maxEmbeddingTries) return { item, state: "failed", reason };
  return { item, state: "retry", tries, dueMs: nowMs + pauseMs(item.tries, error.retryAfterMs), reason };
}

/** Returns the delay after this number of failures in a row. */
export const longerPauseMs = (failuresBefore: number): number => pauseMs(failuresBefore, 0);

/**
 * The delay grows with the number of failures and is never shorter than the one that the service asks for.
 */
function pauseMs(failuresBefore: number, retryAfterMs: number): number {
  const own = pausesMs[Math.min(failuresBefore, pausesMs.length - 1)] ?? longestPauseMs;
  return Math.min(longestPauseMs, Math.max(own, retryAfterMs));
}
