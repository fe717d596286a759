/**
 * A list that grows at its end, for states that do not change: the longer list shares the items of the one before, so
 * that adding one costs the same however many there are.
 */
export class Grown<Item> {
  readonly length: number;
  readonly #items: Item[];

  constructor(items: Item[] = [], length = items.length) {
    this.#items = items;
    this.length = length;
  }

  /** The same for all lists that have grown from one, as far as they begin with the same items. */
  get origin(): object {
    return this.#items;
  }

  get first(): Item | undefined {
    return this.length === 0 ? undefined : this.#items[0];
  }

  get last(): Item | undefined {
    return this.length === 0 ? undefined : this.#items[this.length - 1];
  }

  with(item: Item): Grown<Item> {
    // Another list has grown from this one already.
    const items = this.#items.length === this.length ? this.#items : this.#items.slice(0, this.length);
    items.push(item);
    return new Grown(items);
  }

  some(isSo: (item: Item) => boolean): boolean {
    for (let place = 0; place < this.length; place++) if (isSo(this.#items[place]!)) return true;
    return false;
  }

  /** Returns the items from a place on. */
  from(start: number): Item[] {
    return this.#items.slice(start, this.length);
  }
}
