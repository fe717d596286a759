import { limitExceeded } from "./errors.ts";

/** How many works of one name may be done or wait at once, and what that limit is called. */
export interface WaitingLimit {
  readonly limit: string;
  readonly most: number;
}

/** Work in order and one at a time for each name; different names go on beside each other. */
export class OneAtATime {
  readonly #bound: WaitingLimit | null;
  /** Of each name with work: how much, and a promise that resolves when what was asked last is done. */
  readonly #ends = new Map<string, { readonly end: Promise<void>; count: number }>();

  constructor(bound: WaitingLimit | null = null) {
    this.#bound = bound;
  }

  /** Rejects with what the work rejects with, and with LimitExceeded where too much waits for this name already. */
  async run<Result>(name: string, work: () => Promise<Result>): Promise<Result> {
    const before = this.#ends.get(name);
    const count = before?.count ?? 0;
    if (this.#bound !== null && count >= this.#bound.most) throw full(name, this.#bound);
    const { promise: end, resolve: done } = Promise.withResolvers<void>();
    const own = { end, count: count + 1 };
    this.#ends.set(name, own);
    try {
      await before?.end;
      return await work();
    } finally {
      done();
      const last = this.#ends.get(name);
      if (last === own) this.#ends.delete(name);
      else if (last !== undefined) last.count--;
    }
  }

  /** Names with work. */
  get size(): number {
    return this.#ends.size;
  }
}

function full(name: string, { limit, most }: WaitingLimit): Error {
  return limitExceeded(limit, most, `${most} requests of ${name} wait already; wait for one to be answered.`);
}
