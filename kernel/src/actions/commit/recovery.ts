import type { Clock } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import type { Committer } from "./committer.ts";
import type { JournalEntry, Ledger } from "../ledger/ledger.ts";

/** A roll-back that failed because of the disk is retried after this delay, then after twice as long, and so on. */
const firstRetryMs = 500;
const longestRetryMs = 60_000;

interface RecoveryPorts {
  readonly ledger: Ledger;
  readonly committer: Committer;
  readonly clock: Clock;
  readonly log: Log;
  /** Queues a task, so that the workspace is changed by one action at a time. */
  enqueue(run: () => Promise<void>): Promise<void>;
  /** Reports actions that are no longer stuck. */
  settled(actions: readonly string[]): Promise<void>;
}

/** Finishes or rolls back commits that a crash or a failing disk interrupted. */
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

  /** Recovers everything that the last process left. Failures are retried later. */
  async all(): Promise<void> {
    for (const entry of await this.#ports.ledger.journaled()) await this.#try(entry);
    // An approved action that touched nothing yet waits for approval again.
    for (const id of await this.#ports.ledger.withState("Approved")) await this.#askAgain(id);
  }

  /** Records that the disk failed a second time and left the action in between; recovery ends it later. */
  later(id: string): void {
    this.#stuck.add(id);
    this.#schedule();
  }

  /** Settles earlier commits and undos of this action; rejects if that is not possible yet. */
  async of(id: string): Promise<void> {
    for (const entry of await this.#ports.ledger.journaled())
      if (entry.action === id) await this.#settle(entry);
  }

  /**
   * Settles stuck actions before anything else changes the workspace. Later, their changes could be mistaken for
   * somebody else's, or the other way round. Rejects while the disk still fails.
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
      .enqueue(() => this.first())
      .catch((error: unknown) => {
        this.#ports.log.warn("Interrupted actions still cannot be finished or rolled back.", {
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
      this.#ports.log.error("An interrupted action could not be rolled back yet. The kernel will retry.", {
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
        kept.length === 0
          ? ""
          : ` Not restored, because another program changed them meanwhile: ${kept.join(", ")}.`;
      await ledger.move(entry.action, {
        from: "Committing",
        to: "Failed",
        error: `The commit was interrupted and rolled back.${left}`,
      });
    }
    await ledger.forget(entry.action);
  }
}
