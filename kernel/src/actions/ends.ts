import { isLaresError, messageOf } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import { createSight } from "../policy/sight.ts";
import type { Ledger, UntoldEnd } from "./ledger.ts";
import { actionLimits } from "./limits.ts";
import type { ActionPorts } from "./ports.ts";
import { endToldTo } from "./unseen.ts";

export type EndsPorts = Pick<ActionPorts, "index" | "authorityOf" | "tellEnd"> & {
  readonly log: Log;
  readonly ledger: Ledger;
};

/**
 * Tells agents what became of what they proposed. The transaction that ends an action notes the end; here the note becomes
 * a delivery to the agent, in one transaction that removes it. So each end is told once, whatever dies in between.
 */
export class Ends implements AsyncDisposable {
  readonly #ports: EndsPorts;
  #telling: Promise<void> | null = null;
  #isAgain = false;
  #isOpen = false;

  constructor(ports: EndsPorts) {
    this.#ports = ports;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOpen = false;
    await this.#telling;
  }

  /** It is known which agents there are, or no longer: what ends meanwhile is told when it is known again. */
  agentsAreKnown(isKnown: boolean): void {
    this.#isOpen = isKnown;
    if (isKnown) this.tell();
  }

  /** Tells what was not told yet, in the background. */
  tell(): void {
    if (!this.#isOpen) return;
    if (this.#telling !== null) {
      this.#isAgain = true;
      return;
    }
    this.#telling = this.#tellAll()
      .catch((error: unknown) => {
        // They stay noted, and the next end brings them along.
        this.#ports.log.error("Agents could not be told how their actions ended.", {
          error: messageOf(error),
        });
      })
      .finally(() => {
        this.#telling = null;
        if (this.#isAgain) {
          this.#isAgain = false;
          this.tell();
        }
      });
  }

  /** Resolves when nothing is left to be told for now. */
  async idle(): Promise<void> {
    while (this.#telling !== null) await this.#telling;
  }

  async #tellAll(): Promise<void> {
    for (;;) {
      const ends = await this.#ports.ledger.untoldEnds(actionLimits.endsAtOnce);
      for (const end of ends) {
        if (!this.#isOpen) return;
        await this.#tellOne(end);
      }
      if (ends.length < actionLimits.endsAtOnce) return;
    }
  }

  async #tellOne(end: UntoldEnd): Promise<void> {
    const { ledger, index, authorityOf, tellEnd } = this.#ports;
    const record = await ledger.get(end.action);
    const authority = record === null ? null : authorityOf(record.action.agent);
    if (record === null || authority === null) return ledger.told(end, []);
    const action = { ...record.action, state: end.state };
    const { statements, committed } = tellEnd(
      authority.extension,
      endToldTo(createSight(authority, index), action, record.told),
    );
    try {
      await ledger.told(end, statements);
    } catch (error) {
      // Told already by a transaction whose answer was lost.
      if (!isLaresError(error, "Conflict")) throw error;
      return;
    }
    committed();
  }
}
