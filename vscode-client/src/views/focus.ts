/** Which agent a view was asked to show, until its page, which may not be there yet, has taken it. */
export class Focus {
  readonly #tell: () => void;
  #agent: string | undefined;

  /** `tell`: says to the page, where there is one, that it has something to take. */
  constructor(tell: () => void) {
    this.#tell = tell;
  }

  set(agent: string): void {
    this.#agent = agent.slice(0, 256);
    this.#tell();
  }

  take(): { agent?: string } {
    const agent = this.#agent;
    this.#agent = undefined;
    return agent === undefined ? {} : { agent };
  }
}
