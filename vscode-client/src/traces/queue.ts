/** A queue for entries to be shown. Holds at most `capacity`; beyond that, the oldest are dropped and counted. */
export class BoundedQueue<Item> {
  readonly #capacity: number;
  readonly #ring: (Item | undefined)[] = [];
  #start = 0;
  #length = 0;
  #dropped = 0;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  get length(): number {
    return this.#length;
  }

  push(item: Item): void {
    if (this.#length === this.#capacity) {
      this.#start = (this.#start + 1) % this.#capacity;
      this.#length -= 1;
      this.#dropped += 1;
    }
    this.#ring[(this.#start + this.#length) % this.#capacity] = item;
    this.#length += 1;
  }

  /** Removes and returns up to `count` of the oldest items, and the number of dropped ones since the last call. */
  take(count: number): { readonly dropped: number; readonly items: Item[] } {
    const items: Item[] = [];
    while (items.length < count && this.#length > 0) {
      const item = this.#ring[this.#start] as Item;
      this.#ring[this.#start] = undefined;
      this.#start = (this.#start + 1) % this.#capacity;
      this.#length -= 1;
      items.push(item);
    }
    const dropped = this.#dropped;
    this.#dropped = 0;
    return { dropped, items };
  }
}
