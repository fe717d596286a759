import type { Clock } from "../../../base/clock.ts";
import { type Embedder, EmbeddingError } from "../port.ts";
import type { PendingItem, TakenItems, PendingItems, Settlement } from "../queue.ts";

/** A clock that a test controls. */
export class HeldClock implements Clock {
  nowMs = 1_000_000;
  readonly #timers = new Map<object, { atMs: number; run: () => void }>();

  now(): number {
    return this.nowMs;
  }
  monotonic(): number {
    return this.nowMs;
  }
  timer(delayMs: number, run: () => void): Disposable {
    const timer = { [Symbol.dispose]: () => void this.#timers.delete(timer) };
    this.#timers.set(timer, { atMs: this.nowMs + delayMs, run });
    return timer;
  }
  /** Milliseconds until the next timer; null if there is none. */
  get nextMs(): number | null {
    const times = [...this.#timers.values()].map(({ atMs }) => atMs);
    return times.length === 0 ? null : Math.min(...times) - this.nowMs;
  }
  pass(ms: number): void {
    this.nowMs += ms;
    for (const [timer, { atMs, run }] of this.#timers) {
      if (atMs > this.nowMs) continue;
      this.#timers.delete(timer);
      run();
    }
  }
}

interface Kept {
  readonly item: PendingItem;
  readonly dueMs: number;
}

/** The queue's table, in memory. */
export class HeldItems implements PendingItems {
  readonly waiting = new Map<number, Kept>();
  readonly vectors = new Map<number, { embedder: string; saidSeq: number }>();
  readonly failed = new Map<number, string>();
  readonly takes: number[] = [];

  say(row: number, saidSeq: number, text: string): void {
    this.vectors.delete(row);
    this.waiting.set(row, { item: { row, saidSeq, text, tries: 0 }, dueMs: 0 });
  }
  forget(row: number): void {
    this.waiting.delete(row);
  }

  async take(limit: number, nowMs: number): Promise<TakenItems> {
    this.takes.push(nowMs);
    const all = [...this.waiting.values()];
    const due = all.filter(({ dueMs }) => dueMs <= nowMs).slice(0, limit);
    const later = all.filter(({ dueMs }) => dueMs > nowMs).map(({ dueMs }) => dueMs);
    return {
      items: due.map(({ item }) => item),
      mayBeMore: due.length === limit,
      nextDueMs: due.length > 0 || later.length === 0 ? null : Math.min(...later),
    };
  }

  async settle(embedder: string, settlements: readonly Settlement[]): Promise<void> {
    for (const settlement of settlements) {
      const { row, saidSeq } = settlement.item;
      const kept = this.waiting.get(row);
      if (kept?.item.saidSeq !== saidSeq) continue;
      this.waiting.delete(row);
      switch (settlement.state) {
        case "done":
          this.vectors.set(row, { embedder, saidSeq });
          break;
        case "failed":
          this.failed.set(row, settlement.reason);
          break;
        case "retry":
          this.waiting.set(row, { item: { ...kept.item, tries: settlement.tries }, dueMs: settlement.dueMs });
          break;
      }
    }
  }
}

/** An embedder that answers when, and what, the test says. */
export class HeldEmbedder implements Embedder {
  readonly name: string;
  readonly dimensions = 2;
  readonly knows = "meanings";
  readonly isImmediate = false;
  readonly calls: { texts: readonly string[]; answer: (error?: unknown) => void }[] = [];
  /** Texts that are refused for good. */
  readonly refused = new Set<string>();
  /** If set, all calls are answered at once: with this error, or with vectors. */
  immediate: EmbeddingError | "vectors" | null = null;

  constructor(name: string) {
    this.name = name;
  }

  embed(texts: readonly string[]): Promise<Float32Array[]> {
    const { promise, resolve, reject } = Promise.withResolvers<Float32Array[]>();
    const answer = (error?: unknown): void => {
      if (error !== undefined) reject(error);
      else if (texts.some((text) => this.refused.has(text))) {
        reject(new EmbeddingError("too long", { isRetryable: false }));
      } else resolve(texts.map(() => Float32Array.of(1, 0)));
    };
    this.calls.push({ texts, answer });
    if (this.immediate !== null) answer(this.immediate === "vectors" ? undefined : this.immediate);
    return promise;
  }

  async [Symbol.asyncDispose](): Promise<void> {}
}
