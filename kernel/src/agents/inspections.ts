interface Inspection {
  /** Undefined: all agents. */
  readonly agent: string | undefined;
  readonly mayInspect: () => boolean;
}

/** Which agents clients inspect now: the steps of these are traced, with values. */
export class Inspections {
  readonly #open = new Set<Inspection>();

  /** Inspects one agent, or all, until the result is disposed, while `mayInspect` returns true: a client may lose trust. */
  begin(mayInspect: () => boolean, agent?: string): Disposable {
    const inspection = { agent, mayInspect };
    this.#open.add(inspection);
    return { [Symbol.dispose]: () => void this.#open.delete(inspection) };
  }

  has(agent: string): boolean {
    return this.#open
      .values()
      .some((open) => (open.agent === undefined || open.agent === agent) && open.mayInspect());
  }
}
