import type { Clock } from "../base/clock.ts";
import { messageOf } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import type { Committer } from "./committer.ts";
import type { JournalEntry, Ledger } from "./ledger.ts";

/** What could not be taken back for a failing disk is tried again after this, then after twice as long, … */
const firstRetryMs = 500;
const longestRetryMs = 60_000;

export interface RecoveryPorts {
  readonly ledger: Ledger;
  readonly committer: Committer;
  readonly clock: Clock;
  readonly log: Log;
  /** One change of the workspace at a time. */
  inLine(run: () => Promise<void>): Promise<void>;
  /** Actions came back from where they were stuck. */
  settled(actions: readonly string[]): Promise<void>;
}

/** Brings what was interrupted, by a death or by a failing disk, to one of its two ends. */
export class Recovery implements Disposable {
  readonly #ports: RecoveryPorts;
  readonly #stuck = new Set<string>();
  #timer: Disposable | null = null;
  #delayMs = firstRetryMs;
  #isClosed = false;

  constructor(ports: RecoveryPorts) {
    this.#ports = ports;
  }

  [Symbol.dispose](): void {
    this.#isClosed = true;
    this.#timer?.[Symbol.dispose]();
  }

  /** Of what the last process left. What fails is tried again later. */
  async all(): Promise<void> {
    for (const entry of await this.#ports.ledger.journaled()) await this.#try(entry);
    // Decided, but nothing was touched yet: it is asked again.
    for (const id of await this.#ports.ledger.withState("Approved")) await this.#askAgain(id);
  }

  /** The action was left in between, because the disk failed for the second time: the end comes later. */
  later(id: string): void {
    this.#stuck.add(id);
    this.#schedule();
  }

  /** What an earlier commit or undo of this action left; rejects where that cannot be brought to its end yet. */
  async of(id: string): Promise<void> {
    for (const entry of await this.#ports.ledger.journaled())
      if (entry.action === id) await this.#settle(entry);
  }

  /**
   * Before anything else changes the workspace: what is stuck, in the line. Later it could be taken for somebody
   * else's change, or somebody else's for it. Rejects where the disk still fails.
   */
  async first(): Promise<void> {
    if (this.#stuck.size === 0) return;
    const ids = [...this.#stuck];
    for (const entry of await this.#ports.ledger.journaled())
      if (this.#stuck.has(entry.action)) await this.#settle(entry);
    for (const id of await this.#ports.ledger.withState("Approved"))
      if (this.#stuck.has(id)) await this.#askAgain(id);
    this.#stuck.clear();
    this.#delayMs = firstRetryMs;
    await this.#ports.settled(ids);
  }

  #again(): void {
    this.#timer = null;
    this.#ports
      .inLine(() => this.first())
      .catch((error: unknown) => {
        this.#ports.log.warn("Interrupted actions still cannot be brought to an end.", {
          reason: messageOf(error),
        });
        this.#schedule();
      });
  }

  #schedule(): void {
    if (this.#isClosed || this.#stuck.size === 0) return;
    this.#timer ??= this.#ports.clock.timer(this.#delayMs, () => this.#again());
    this.#delayMs = Math.min(2 * this.#delayMs, longestRetryMs);
  }

  async #askAgain(id: string): Promise<void> {
    await this.#ports.ledger.move(id, { from: "Approved", to: "PendingApproval", decidedBy: null });
  }

  async #try(entry: JournalEntry): Promise<void> {
    try {
      await this.#settle(entry);
    } catch (error) {
      this.#ports.log.error("An interrupted action could not be taken back yet; it is tried again.", {
        action: entry.action,
        error: messageOf(error),
      });
      this.later(entry.action);
    }
  }

  async #settle(entry: JournalEntry): Promise<void> {
    const { committer, ledger } = this.#ports;
    if (entry.phase === "done") return committer.finish(entry);
    const kept = await committer.rollBack(entry);
    if (entry.direction === "commit") {
      const left =
        kept.length === 0 ? "" : ` Changed by somebody else meanwhile and left alone: ${kept.join(", ")}.`;
      await ledger.move(entry.action, {
        from: "Committing",
        to: "Failed",
        error: `It was interrupted while it was being committed; everything was taken back.${left}`,
      });
    }
    await ledger.forget(entry.action);
  }
}
