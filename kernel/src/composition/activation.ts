import { messageOf } from "../base/errors.ts";
import type { Log } from "../base/log.ts";

interface ActivationSteps {
  readonly log: Log;
  /**
   * The first trusted client connected. Reads the documents, which name the agents, then indexes and starts the
   * agents.
   */
  begin(agentsKnown: () => void): Promise<void>;
  /** The last trusted client has disconnected; others are still connected. */
  pause(): Promise<void>;
  /** A trusted client is connected again. */
  resume(): Promise<void>;
}

/**
 * Runs the agents while a trusted connection exists. Changes are applied one after the other; the last one takes
 * effect.
 */
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

  /** Resolves when the agents are known; immediately if there is no trusted client. */
  async agentsKnown(): Promise<void> {
    if (!this.#isWanted) return;
    await (this.#hasBegun ? this.#turn : this.#known.promise);
  }

  /** Starts the agents if a trusted client is connected, and pauses them if only untrusted clients are. */
  startOrPause(trusted: number, untrusted: number): void {
    // Without clients the kernel does not change: a returning client finds the agents running.
    if (trusted > 0) this.#want(true);
    else if (untrusted > 0) this.#want(false);
  }

  #want(isWanted: boolean): void {
    if (this.#isWanted === isWanted) return;
    this.#isWanted = isWanted;
    this.#turn = this.#turn
      .then(() => this.#follow())
      .catch((error: unknown) => {
        // Callers must not wait for agents that will not start.
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
