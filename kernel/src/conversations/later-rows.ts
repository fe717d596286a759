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

/** Records that wait to be stored. */
export interface LaterRecords {
  /** Resolves when they are stored. */
  readonly stored: Promise<void>;
  /** True if the conversation was at work before, so that its log would be opened without these records. */
  readonly wasBusy: boolean;
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

  /** Records of a conversation at rest are stored at once, because the next kernel does not open its log. */
  add(row: Row, records: readonly Added[], isBusy: boolean): LaterRecords {
    const waiting = this.#waiting.get(row.id) ?? { row, records: [], stored: Promise.withResolvers() };
    waiting.row = row;
    waiting.records.push(...records);
    this.#waiting.set(row.id, waiting);
    const wasBusy = this.#busy.has(row.id);
    if (isBusy) this.#busy.add(row.id);
    else this.#busy.delete(row.id);
    if (!isBusy || !wasBusy || waiting.records.length >= maxWaiting) this.flush();
    else this.#timer ??= this.#clock.timer(maxLaterMs, () => this.flush());
    return { stored: waiting.stored.promise, wasBusy };
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
