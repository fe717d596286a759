import { limitExceeded } from "./errors.ts";

/** How many tasks of one name may run or wait at once, and the name of that limit. */
interface WaitingLimit {
  readonly limit: string;
  readonly most: number;
}

/** Tasks of one name, wanted or not, as a multiple of those that may be wanted. */
const unwantedFactor = 4;

/** Runs the tasks of each name in order, one at a time. Tasks of different names run concurrently. */
export class OneAtATime {
  readonly #bound: WaitingLimit | null;
  /** Per name: the checks whether queued tasks are still wanted, and a promise for the end of the last one. */
  readonly #lines = new Map<string, { end: Promise<void>; readonly wanted: Set<() => boolean> }>();

  constructor(bound: WaitingLimit | null = null) {
    this.#bound = bound;
  }

  /**
   * Runs a task when its turn comes. Rejects with the task's own error, or with LimitExceeded if too many tasks are
   * queued for this name. A task that is no longer `wanted` does not count against that limit, up to four times as
   * many; it ends by itself when its turn comes.
   */
  async run<Result>(
    name: string,
    work: () => Promise<Result>,
    wanted: () => boolean = () => true,
  ): Promise<Result> {
    const line = this.#lines.get(name) ?? { end: Promise.resolve(), wanted: new Set() };
    this.#checkRoom(name, line.wanted);
    const before = line.end;
    const { promise: end, resolve: done } = Promise.withResolvers<void>();
    // A new function per task, because two tasks may pass the same `wanted`.
    const isWanted = (): boolean => wanted();
    line.end = end;
    line.wanted.add(isWanted);
    this.#lines.set(name, line);
    try {
      await before;
      return await work();
    } finally {
      done();
      line.wanted.delete(isWanted);
      if (line.wanted.size === 0) this.#lines.delete(name);
    }
  }

  #checkRoom(name: string, wanted: ReadonlySet<() => boolean>): void {
    if (this.#bound === null || wanted.size < this.#bound.most) return;
    // Those that were cancelled take memory until their turn, so that they are bounded too.
    const isFull = wanted.size >= unwantedFactor * this.#bound.most;
    const count = isFull ? wanted.size : [...wanted].filter((isWanted) => isWanted()).length;
    if (count >= this.#bound.most) throw full(name, this.#bound);
  }

  /** True while a task of this name runs or waits. */
  has(name: string): boolean {
    return this.#lines.has(name);
  }

  /** The number of names that have tasks. */
  get size(): number {
    return this.#lines.size;
  }
}

function full(name: string, { limit, most }: WaitingLimit): Error {
  return limitExceeded(limit, most, `${most} requests of ${name} wait already; wait for one to be answered.`);
}
