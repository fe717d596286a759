import { unlimitedCpu } from "../base/cpu-budget.ts";
import { isLaresError, messageOf } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import type { Slices } from "../base/slices.ts";
import { createSight } from "../policy/sight.ts";
import { inSlices } from "./in-slices.ts";
import type { Ledger, UntoldEnd } from "./ledger.ts";
import { actionLimits } from "./limits.ts";
import type { ActionPorts } from "./ports.ts";
import { endToldTo } from "./unseen.ts";

type EndsPorts = Pick<ActionPorts, "index" | "authorityOf" | "tellEnd"> & {
  readonly log: Log;
  readonly ledger: Ledger;
  readonly slices: Slices;
};

/**
 * Notifies agents how their actions ended. The transaction that ends an action records the end; here the record is
 * replaced by a delivery to the agent, in one transaction. So each agent is notified exactly once, even across crashes.
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

  /** Sets whether the agents are known. Ends that are recorded while they are not are delivered afterwards. */
  agentsAreKnown(isKnown: boolean): void {
    this.#isOpen = isKnown;
    if (isKnown) this.tell();
  }

  /** Delivers the recorded ends in the background. */
  tell(): void {
    if (!this.#isOpen) return;
    if (this.#telling !== null) {
      this.#isAgain = true;
      return;
    }
    this.#telling = this.#tellAll()
      .catch((error: unknown) => {
        // The records stay, and the next end delivers them too.
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

  /** Resolves when no recorded end is left for now. */
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
    const { ledger, index, authorityOf, tellEnd, slices } = this.#ports;
    const record = await ledger.get(end.action);
    const authority = record === null ? null : authorityOf(record.action.agent);
    if (record === null || authority === null) return ledger.told(end, []);
    const action = { ...record.action, state: end.state };
    const steps = endToldTo(createSight(authority, index), action, record.told);
    const told = await inSlices(steps, slices, unlimitedCpu);
    const { statements, committed } = tellEnd(authority.extension, told);
    try {
      await ledger.told(end, statements);
    } catch (error) {
      // A transaction whose answer was lost has delivered it already.
      if (!isLaresError(error, "Conflict")) throw error;
      return;
    }
    committed();
  }
}
