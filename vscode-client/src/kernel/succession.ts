/** Makes sure that the next one begins only after the previous one has ended. */
export class Succession {
  readonly #begin: () => void;
  #ended: Promise<unknown> = Promise.resolve();
  #wishes = 0;

  constructor(begin: () => void) {
    this.#begin = begin;
  }

  /**
   * Begins the next one after the previous ones have ended; requests that come meanwhile are merged. `end` never
   * rejects.
   */
  async renew(end: Promise<void>): Promise<void> {
    const wish = ++this.#wishes;
    this.#ended = Promise.all([this.#ended, end]);
    await this.#ended;
    if (wish === this.#wishes) this.#begin();
  }
}
