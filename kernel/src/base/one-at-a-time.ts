/** Work in order and one at a time for each name; different names go on beside each other. */
export class OneAtATime {
  /** Of each name with work: resolves when what was asked last is done. */
  readonly #ends = new Map<string, Promise<void>>();

  async run<Result>(name: string, work: () => Promise<Result>): Promise<Result> {
    const before = this.#ends.get(name);
    const { promise: end, resolve: done } = Promise.withResolvers<void>();
    this.#ends.set(name, end);
    try {
      await before;
      return await work();
    } finally {
      done();
      if (this.#ends.get(name) === end) this.#ends.delete(name);
    }
  }

  /** Names with work. */
  get size(): number {
    return this.#ends.size;
  }
}
