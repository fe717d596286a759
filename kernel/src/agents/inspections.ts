/** Which agents clients inspect now: the steps of these are traced, with values. */
export class Inspections {
  readonly #counts = new Map<string, number>();
  #ofAll = 0;

  /** Inspects one agent, or all, until the result is disposed. */
  begin(agent?: string): Disposable {
    this.#add(agent, 1);
    let isOver = false;
    return {
      [Symbol.dispose]: () => {
        if (!isOver) this.#add(agent, -1);
        isOver = true;
      },
    };
  }

  has(agent: string): boolean {
    return this.#ofAll > 0 || this.#counts.has(agent);
  }

  #add(agent: string | undefined, change: 1 | -1): void {
    if (agent === undefined) {
      this.#ofAll += change;
      return;
    }
    const count = (this.#counts.get(agent) ?? 0) + change;
    if (count === 0) this.#counts.delete(agent);
    else this.#counts.set(agent, count);
  }
}
