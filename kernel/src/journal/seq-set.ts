/** A set of record numbers with one bit each: a million records need at most 128 KiB. */
export class SeqSet {
  #words = new Uint32Array(0);
  #size = 0;

  get size(): number {
    return this.#size;
  }

  has(seq: number): boolean {
    return ((this.#words[seq >>> 5] ?? 0) & (1 << (seq & 31))) !== 0;
  }

  /** Returns false if the set already had it. */
  add(seq: number): boolean {
    if (this.has(seq)) return false;
    const at = seq >>> 5;
    if (at >= this.#words.length) {
      const grown = new Uint32Array(Math.max(at + 1, this.#words.length * 2, 32));
      grown.set(this.#words);
      this.#words = grown;
    }
    this.#words[at] = (this.#words[at] ?? 0) | (1 << (seq & 31));
    this.#size += 1;
    return true;
  }

  delete(seq: number): void {
    if (!this.has(seq)) return;
    const at = seq >>> 5;
    this.#words[at] = (this.#words[at] ?? 0) & ~(1 << (seq & 31));
    this.#size -= 1;
  }

  /** Returns the smallest member from `from` on for which `matches` returns true; null if there is none. */
  next(from: number, matches: (seq: number) => boolean = () => true): number | null {
    for (let at = from >>> 5; at < this.#words.length; at++) {
      if (this.#words[at] === 0) continue;
      for (let seq = Math.max(from, at * 32); seq < (at + 1) * 32; seq++) {
        if (this.has(seq) && matches(seq)) return seq;
      }
    }
    return null;
  }
}
