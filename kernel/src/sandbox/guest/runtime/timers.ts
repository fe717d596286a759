import { dictionary, floor } from "./intrinsics.ts";
import type { Native } from "./native.ts";

interface Timer {
  readonly id: number;
  /** On the monotonic clock. */
  dueMs: number;
  /** Orders timers that are due at the same time: the one set first runs first. */
  order: number;
  /** The interval; undefined for a timer that runs once. */
  readonly everyMs: number | undefined;
  readonly run: () => void;
  /** The index in the heap; -1 if it is not in the heap. */
  index: number;
}

/** As in browsers and Node, the longest delay is 2^31 - 1 ms, and the shortest interval 1 ms. */
const maxDelayMs = 2 ** 31 - 1;

/** Implements `setTimeout` and related functions on the guest's own loop: a binary heap by due time. */
export class Timers {
  readonly #native: Native;
  readonly #heap: Timer[] = [];
  readonly #byId = dictionary<Timer>();
  #lastId = 0;
  #lastOrder = 0;

  constructor(native: Native) {
    this.#native = native;
  }

  get pending(): number {
    return this.#heap.length;
  }

  set(run: () => void, delay: unknown, repeats: boolean): number {
    const asked = Number(delay);
    const delayMs = asked >= 0 && asked <= maxDelayMs ? asked : 0;
    const timer: Timer = {
      id: ++this.#lastId,
      dueMs: this.#native.now() + delayMs,
      order: ++this.#lastOrder,
      everyMs: repeats ? (delayMs < 1 ? 1 : delayMs) : undefined,
      run,
      index: -1,
    };
    this.#byId[timer.id] = timer;
    this.#insert(timer);
    return timer.id;
  }

  clear(id: unknown): void {
    const timer = typeof id === "number" ? this.#byId[id] : undefined;
    if (timer === undefined) return;
    delete this.#byId[timer.id];
    this.#remove(timer);
  }

  /** Runs the timer that has been due longest; returns false if none is due. */
  runOne(): boolean {
    const timer = this.#heap[0];
    if (timer === undefined || timer.dueMs > this.#native.now()) return false;
    this.#remove(timer);
    if (timer.everyMs === undefined) delete this.#byId[timer.id];
    try {
      timer.run();
    } finally {
      if (timer.everyMs !== undefined && this.#byId[timer.id] === timer) {
        timer.dueMs = this.#native.now() + timer.everyMs;
        timer.order = ++this.#lastOrder;
        this.#insert(timer);
      }
    }
    return true;
  }

  /** Returns the milliseconds until the next timer is due; -1 if none is set. */
  delayMs(): number {
    const timer = this.#heap[0];
    if (timer === undefined) return -1;
    const delay = timer.dueMs - this.#native.now();
    return delay > 0 ? delay : 0;
  }

  #insert(timer: Timer): void {
    this.#place(timer, this.#heap.length);
    this.#rise(timer);
  }

  #remove(timer: Timer): void {
    const index = timer.index;
    if (index < 0) return;
    timer.index = -1;
    const last = this.#heap[this.#heap.length - 1];
    this.#heap.length--;
    if (last === undefined || last === timer) return;
    this.#place(last, index);
    this.#rise(last);
    this.#sink(last);
  }

  #rise(timer: Timer): void {
    while (timer.index > 0) {
      const from = timer.index;
      const above = floor((from - 1) / 2);
      const parent = this.#heap[above];
      if (parent === undefined || !isBefore(timer, parent)) return;
      this.#place(timer, above);
      this.#place(parent, from);
    }
  }

  #sink(timer: Timer): void {
    for (;;) {
      const from = timer.index;
      const left = this.#heap[2 * from + 1];
      const right = this.#heap[2 * from + 2];
      const child = left !== undefined && right !== undefined && isBefore(right, left) ? right : left;
      if (child === undefined || !isBefore(child, timer)) return;
      const to = child.index;
      this.#place(child, from);
      this.#place(timer, to);
    }
  }

  #place(timer: Timer, index: number): void {
    this.#heap[index] = timer;
    timer.index = index;
  }
}

function isBefore(a: Timer, b: Timer): boolean {
  return a.dueMs < b.dueMs || (a.dueMs === b.dueMs && a.order < b.order);
}
