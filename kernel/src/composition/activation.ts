import { messageOf } from "../base/errors.ts";
import type { Log } from "../base/log.ts";

export interface ActivationSteps {
  readonly log: Log;
  /** The first trusted client came: read the documents, which says what agents there are; index, and let them run. */
  begin(agentsKnown: () => void): Promise<void>;
  /** No trusted client is left, but others are. */
  pause(): Promise<void>;
  /** A trusted client is there again. */
  resume(): Promise<void>;
}

/** Agents run while a trusted connection is there. Changes come one after the other, the last one counts. */
export class Activation {
  readonly #steps: ActivationSteps;
  #hasBegun = false;
  #isActive = false;
  #isWanted = false;
  #turn: Promise<void> = Promise.resolve();
  readonly #known = Promise.withResolvers<void>();

  constructor(steps: ActivationSteps) {
    this.#steps = steps;
  }

  get isActive(): boolean {
    return this.#isActive;
  }

  /** Once a trusted client is there: resolves when it is known which agents there are, after a pause too. */
  async agentsKnown(): Promise<void> {
    if (!this.#isWanted) return;
    await (this.#hasBegun ? this.#turn : this.#known.promise);
  }

  connections(trusted: number, untrusted: number): void {
    // With nobody there the kernel lingers as it is: whoever comes back finds the agents awake.
    if (trusted > 0) this.#want(true);
    else if (untrusted > 0) this.#want(false);
  }

  #want(isWanted: boolean): void {
    if (this.#isWanted === isWanted) return;
    this.#isWanted = isWanted;
    this.#turn = this.#turn
      .then(() => this.#follow())
      .catch((error: unknown) => {
        // Nobody may wait for what will not come.
        this.#known.resolve();
        this.#steps.log.error(
          `The agents could not be ${isWanted ? "started" : "stopped"}: ${messageOf(error)}`,
        );
      });
  }

  async #follow(): Promise<void> {
    if (this.#isActive === this.#isWanted) return;
    const isWanted = this.#isWanted;
    if (!isWanted) await this.#steps.pause();
    else if (this.#hasBegun) await this.#steps.resume();
    else {
      await this.#steps.begin(() => this.#known.resolve());
      this.#hasBegun = true;
    }
    this.#isActive = isWanted;
  }
}
