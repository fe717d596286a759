import type { Clock } from "../base/clock.ts";

/** Milliseconds until records are stored, if nothing is read before. */
const maxLaterMs = 50;
/** Records of one conversation that wait. */
const maxWaiting = 200;

interface Waiting<Row, Added> {
  row: Row;
  readonly records: Added[];
  readonly stored: PromiseWithResolvers<void>;
}

/**
 * Collects what conversations at work add to the index, so that an answer with its calls is one transaction and not one for
 * each entry.
 */
export class LaterRows<Row extends { readonly id: string }, Added> {
  readonly #clock: Pick<Clock, "timer">;
  readonly #store: (row: Row, records: readonly Added[]) => Promise<void>;
  readonly #waiting = new Map<string, Waiting<Row, Added>>();
  /** Conversations that the index knows to be at work. */
  readonly #busy = new Set<string>();
  #timer: Disposable | null = null;

  constructor(clock: Pick<Clock, "timer">, store: (row: Row, records: readonly Added[]) => Promise<void>) {
    this.#clock = clock;
    this.#store = store;
  }

  /** Resolves when the records are stored. What a conversation at rest adds is stored at once: nobody would open its log. */
  add(row: Row, records: readonly Added[], isBusy: boolean): Promise<void> {
    const waiting = this.#waiting.get(row.id) ?? { row, records: [], stored: Promise.withResolvers() };
    waiting.row = row;
    waiting.records.push(...records);
    this.#waiting.set(row.id, waiting);
    const isKnown = this.#busy.has(row.id) === isBusy;
    if (isBusy) this.#busy.add(row.id);
    else this.#busy.delete(row.id);
    if (!isBusy || !isKnown || waiting.records.length >= maxWaiting) this.flush();
    else this.#timer ??= this.#clock.timer(maxLaterMs, () => this.flush());
    return waiting.stored.promise;
  }

  /** Hands everything that waits to the database. */
  flush(): void {
    this.#timer?.[Symbol.dispose]();
    this.#timer = null;
    const all = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const { row, records, stored } of all) this.#store(row, records).then(stored.resolve, stored.reject);
  }
}
