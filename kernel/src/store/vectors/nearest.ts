import type { Neighbour } from "./port.ts";

/** Keeps the best of the offered neighbours: a heap with the worst of them on top. */
export class Nearest {
  readonly #count: number;
  readonly #labels: number[] = [];
  readonly #similarities: number[] = [];

  /** `count`: how many are kept, at least 1. */
  constructor(count: number) {
    this.#count = count;
  }

  offer(label: number, similarity: number): void {
    const { length } = this.#labels;
    if (length < this.#count) {
      this.#labels.push(label);
      this.#similarities.push(similarity);
      this.#rise(length);
    } else if (this.#isWorse(this.#similarities[0]!, this.#labels[0]!, similarity, label)) {
      this.#labels[0] = label;
      this.#similarities[0] = similarity;
      this.#sink();
    }
  }

  /** Best first; of equal ones, the one with the smaller label first. */
  sorted(): Neighbour[] {
    return this.#labels
      .map((label, at) => ({ label, similarity: Math.min(1, Math.max(-1, this.#similarities[at]!)) }))
      .toSorted((one, other) => other.similarity - one.similarity || one.label - other.label);
  }

  #isWorse(similarity: number, label: number, than: number, thanLabel: number): boolean {
    return similarity < than || (similarity === than && label > thanLabel);
  }

  #isWorseAt(one: number, other: number): boolean {
    return this.#isWorse(
      this.#similarities[one]!,
      this.#labels[one]!,
      this.#similarities[other]!,
      this.#labels[other]!,
    );
  }

  #rise(from: number): void {
    for (let at = from; at > 0;) {
      const parent = (at - 1) >> 1;
      if (!this.#isWorseAt(at, parent)) return;
      this.#swap(at, parent);
      at = parent;
    }
  }

  #sink(): void {
    for (let at = 0; ;) {
      let worst = at;
      for (const child of [2 * at + 1, 2 * at + 2])
        if (child < this.#labels.length && this.#isWorseAt(child, worst)) worst = child;
      if (worst === at) return;
      this.#swap(at, worst);
      at = worst;
    }
  }

  #swap(one: number, other: number): void {
    const label = this.#labels[one]!;
    const similarity = this.#similarities[one]!;
    this.#labels[one] = this.#labels[other]!;
    this.#similarities[one] = this.#similarities[other]!;
    this.#labels[other] = label;
    this.#similarities[other] = similarity;
  }
}
