/** One after the other, where two at once would be in each other's way. */
export class Succession {
  readonly #begin: () => void;
  #ended: Promise<unknown> = Promise.resolve();
  #wishes = 0;

  constructor(begin: () => void) {
    this.#begin = begin;
  }

  /** Begins the next once all that was to end has ended; wishes that come meanwhile are one. `end` never rejects. */
  async renew(end: Promise<void>): Promise<void> {
    const wish = ++this.#wishes;
    this.#ended = Promise.all([this.#ended, end]);
    await this.#ended;
    if (wish === this.#wishes) this.#begin();
  }
}
