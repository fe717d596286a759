import { limitExceeded } from "./errors.ts";

/** How many works of one name may be done or wait at once, and what that limit is called. */
export interface WaitingLimit {
  readonly limit: string;
  readonly most: number;
}

/** Work in order and one at a time for each name; different names go on beside each other. */
export class OneAtATime {
  readonly #bound: WaitingLimit | null;
  /** Per name: the checks whether queued work is still wanted, and a promise for the end of the last one. */
  readonly #lines = new Map<string, { end: Promise<void>; readonly wanted: Set<() => boolean> }>();

  constructor(bound: WaitingLimit | null = null) {
    this.#bound = bound;
  }

  /**
   * Rejects with the work's own error, or with LimitExceeded if too much work is queued for this name. Work that is not
   * `wanted` any more does not count against that limit; it ends by itself when its turn comes.
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
    // A function of its own: two works may share theirs.
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
    const count = [...wanted].filter((isWanted) => isWanted()).length;
    if (count >= this.#bound.most) throw full(name, this.#bound);
  }

  /** Names with work. */
  get size(): number {
    return this.#lines.size;
  }
}

function full(name: string, { limit, most }: WaitingLimit): Error {
  return limitExceeded(limit, most, `${most} requests of ${name} wait already; wait for one to be answered.`);
}
