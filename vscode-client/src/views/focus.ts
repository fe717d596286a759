/** Remembers which agent a view was asked to show until its page, which may not exist yet, has taken it. */
export class Focus {
  readonly #tell: () => void;
  #agent: string | undefined;

  /** `tell`: notifies the page, if there is one. */
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
