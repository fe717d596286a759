import { Fifo } from "../../base/fifo.ts";

/** A queue that is in order for each key, and whose keys take turns. */
export class FairQueue<Item> {
  /** Items by key; the keys are in the order of their turns. */
  readonly #waiting = new Map<string, Fifo<Item>>();
  #length = 0;

  get length(): number {
    return this.#length;
  }

  lengthOf(key: string): number {
    return this.#waiting.get(key)?.length ?? 0;
  }

  push(key: string, item: Item): void {
    let items = this.#waiting.get(key);
    if (items === undefined) this.#waiting.set(key, (items = new Fifo()));
    items.push(item);
    this.#length++;
  }

  shift(): Item | undefined {
    for (const [key, items] of this.#waiting) {
      const item = items.shift();
      this.#waiting.delete(key);
      // The key's next turn comes after those of all other keys.
      if (items.length > 0) this.#waiting.set(key, items);
      this.#length--;
      return item;
    }
    return undefined;
  }

  /** Empties the queue and returns its items, in order. */
  drain(): Item[] {
    return Array.from({ length: this.#length }, () => this.shift() as Item);
  }
}
