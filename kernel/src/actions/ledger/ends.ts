import { unlimitedCpu } from "../../base/cpu-budget.ts";
import { isLaresError, messageOf } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import type { Slices } from "../../base/slices.ts";
import { createSight } from "../../policy/sight.ts";
import { inSlices } from "../in-slices.ts";
import type { Ledger, UndeliveredEnd } from "./ledger.ts";
import { actionLimits } from "../limits.ts";
import type { ActionPorts } from "../ports.ts";
import { endSeenBy } from "../unseen.ts";

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
  #delivering: Promise<void> | null = null;
  #isRequested = false;
  #isOpen = false;

  constructor(ports: EndsPorts) {
    this.#ports = ports;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOpen = false;
    await this.#delivering;
  }

  /** Sets whether the agents are known. Ends that are recorded while they are not are delivered afterwards. */
  agentsAreKnown(isKnown: boolean): void {
    this.#isOpen = isKnown;
    if (isKnown) this.deliver();
  }

  /** Delivers the recorded ends in the background. */
  deliver(): void {
    if (!this.#isOpen) return;
    if (this.#delivering !== null) {
      this.#isRequested = true;
      return;
    }
    this.#delivering = this.#deliverAll()
      .catch((error: unknown) => {
        // The records stay, and the next end delivers them too.
        this.#ports.log.error("The ends of actions could not be delivered to their agents.", {
          error: messageOf(error),
        });
      })
      .finally(() => {
        this.#delivering = null;
        if (this.#isRequested) {
          this.#isRequested = false;
          this.deliver();
        }
      });
  }

  /** Resolves when no recorded end is left for now. */
  async idle(): Promise<void> {
    while (this.#delivering !== null) await this.#delivering;
  }

  async #deliverAll(): Promise<void> {
    for (;;) {
      const ends = await this.#ports.ledger.undeliveredEnds(actionLimits.endsAtOnce);
      for (const end of ends) {
        if (!this.#isOpen) return;
        await this.#deliverOne(end);
      }
      if (ends.length < actionLimits.endsAtOnce) return;
    }
  }

  async #deliverOne(end: UndeliveredEnd): Promise<void> {
    const { ledger, index, authorityOf, tellEnd, slices } = this.#ports;
    const record = await ledger.get(end.action);
    const authority = record === null ? null : authorityOf(record.action.agent);
    if (record === null || authority === null) return ledger.removeEnd(end, []);
    const action = { ...record.action, state: end.state };
    const steps = endSeenBy(createSight(authority, index), action, record.agentView);
    const ended = await inSlices(steps, slices, unlimitedCpu);
    const { statements, committed } = tellEnd(authority.extension, ended);
    try {
      await ledger.removeEnd(end, statements);
    } catch (error) {
      // A transaction whose answer was lost has delivered it already.
      if (!isLaresError(error, "Conflict")) throw error;
      return;
    }
    committed();
  }
}
