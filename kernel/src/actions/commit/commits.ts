import { type CpuBudget, unlimitedCpu } from "../../base/cpu-budget.ts";
import { isoTime } from "../../base/clock.ts";
import { isLaresError, LaresError, messageOf, notFound } from "../../base/errors.ts";
import type { Slices } from "../../base/slices.ts";
import type { Action, ActionState } from "../../base/vocabulary/action.ts";
import { failpoint } from "../../platform/failpoint.ts";
import { decideHostCall, entryChangedBy } from "../../policy/decide.ts";
import { mustBe, type ActionRecord } from "../action-record.ts";
import { Committer, isDrift, RollbackFailed, type Recording } from "./committer.ts";
import { noLongerKept } from "../content.ts";
import { effectForPolicy } from "../describe.ts";
import type { Decider, Ledger } from "../ledger/ledger.ts";
import type { ActionPorts } from "../ports.ts";
import { Recovery } from "./recovery.ts";
import { restraintNow } from "./restraint.ts";

type CommitsPorts = ActionPorts & {
  readonly ledger: Ledger;
  readonly slices: Slices;
  /** Returns true if policy still allows an action that it approved. */
  isStillAllowed(record: ActionRecord): Promise<boolean>;
  /** Reports the size of contents that were stored for an undo. */
  grew(bytes: number): void;
  /** Reads the waiting actions again, because one of them is new. */
  readPending(): Promise<void>;
  /** Reads an action whose state has changed, announces it and returns it as shown to a person. */
  reread(id: string): Promise<Action>;
};

/** Commits, undoes and recovers actions. The workspace is changed by one action at a time. */
export class Commits implements AsyncDisposable {
  readonly #ports: CommitsPorts;
  readonly #ledger: Ledger;
  readonly #committer: Committer;
  readonly #recovery: Recovery;
  #lastQueued: Promise<unknown> = Promise.resolve();
  #closed = false;

  constructor(ports: CommitsPorts) {
    this.#ports = ports;
    this.#ledger = ports.ledger;
    this.#committer = new Committer({ ...ports, leftBehind: (id) => this.#recovery.later(id) }, ports.ledger);
    this.#recovery = new Recovery({
      ...ports,
      committer: this.#committer,
      enqueue: (run) => this.enqueue(run),
      settled: async (ids) => {
        await ports.readPending();
        for (const id of ids) await ports.reread(id);
      },
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    this.#recovery[Symbol.dispose]();
    await this.#lastQueued;
  }

  /** Finishes or rolls back everything that the last process left. */
  recover(): Promise<void> {
    return this.#recovery.all();
  }

  async undo(by: Decider, id: string): Promise<Action> {
    return this.enqueue(async () => {
      const record = await this.#ledger.existing(id);
      mustBe(record.action, "Committed", "undone");
      if (!record.contentsKept) throw noLongerKept(id);
      await this.#recovery.first();
      // Files that the commit could not remove go first: the undo's own files use the same names.
      await this.#recovery.of(id);
      try {
        const recording: Recording = {
          begin: async (journal) => {
            await this.#ports.database.batch([journal], { durability: "power" });
            return true;
          },
          done: (_outcome, along) =>
            this.#ledger.move(id, { from: "Committed", to: "Undone", undoneBy: by }, along),
        };
        await this.#committer.run(id, "undo", record.inverse ?? [], recording, unlimitedCpu);
      } catch (error) {
        if (error instanceof RollbackFailed) this.#recovery.later(id);
        else await this.orLater(id, this.#ledger.forget(id));
        throw error;
      }
      failpoint("approvals.undone");
      return this.#ports.reread(id);
    });
  }

  /** Commits the chosen effects. Success or failure becomes the state of the action. */
  async commit(record: ActionRecord, chosen: readonly number[], budget: CpuBudget): Promise<Action> {
    const { id } = record.action;
    return this.enqueue(async () => {
      await this.orLater(id, this.#recovery.first());
      let state: ActionState = "Approved";
      if (record.action.decided_by === "policy" && !(await this.#ports.isStillAllowed(record))) {
        await this.#ledger.move(id, { from: state, to: "PendingApproval", decidedBy: null });
        await this.#ports.readPending();
        return this.#ports.reread(id);
      }
      const refusal = await this.#refusalNow(record, chosen, budget);
      if (refusal !== null) {
        await this.#ledger.move(id, { from: state, to: "Failed", error: refusal.message });
        return this.#ports.reread(id);
      }
      try {
        const operations = record.operations.filter((_operation, index) => chosen.includes(index));
        const recording: Recording = {
          begin: async (journal) => {
            if (!(await this.#ledger.move(id, { from: "Approved", to: "Committing" }, [journal])))
              return false;
            state = "Committing";
            await this.#ports.reread(id);
            return true;
          },
          done: (outcome, along) => {
            this.#ports.grew(outcome.keeps.reduce((sum, { bytes }) => sum + bytes, 0));
            return this.#ledger.move(
              id,
              {
                from: state,
                to: "Committed",
                receipt: { applied: [...chosen], finished: isoTime(this.#ports.clock.now()) },
                ...outcome,
              },
              along,
            );
          },
        };
        await this.#committer.run(id, "commit", operations, recording, budget);
      } catch (error) {
        // The kernel is shutting down and nothing was touched yet: the action waits for approval again.
        if (state === "Approved" && isLaresError(error, "Busy")) {
          this.#recovery.later(id);
          throw error;
        }
        await this.#failed(id, state, error);
      }
      return this.#ports.reread(id);
    });
  }

  async #failed(id: string, from: ActionState, error: unknown): Promise<void> {
    if (!isLaresError(error))
      this.#ports.log.error("A commit failed.", { action: id, error: messageOf(error) });
    // The action stays in Committing meanwhile.
    if (error instanceof RollbackFailed) {
      this.#recovery.later(id);
      throw error;
    }
    const to = isDrift(error) ? "Stale" : "Failed";
    const along = [this.#ledger.forgetStatement(id)];
    await this.orLater(id, this.#ledger.move(id, { from, to, error: messageOf(error) }, along));
  }

  /** If the end of the action cannot be recorded now, recovery does it later. */
  async orLater(id: string, ending: Promise<unknown>): Promise<void> {
    try {
      await ending;
    } catch (error) {
      this.#recovery.later(id);
      throw error;
    }
  }

  /**
   * Checks permission, scope, sight and restraining rules again, because they may have changed since the proposal. For
   * a folder that is moved, all members count now, including those that the agent cannot see.
   */
  async #refusalNow(
    record: ActionRecord,
    chosen: readonly number[],
    budget: CpuBudget,
  ): Promise<LaresError | null> {
    const { agent } = record.action;
    const authority = this.#ports.authorityOf(agent);
    if (authority === null) return notFound("enabled extension", agent);
    const effects = record.action.effects
      .filter((_effect, index) => chosen.includes(index))
      .map(effectForPolicy);
    const decision = decideHostCall(authority, { method: "actions/propose", params: { effects } });
    if (!decision.allowed) return decision.error;
    const hidden = effects.map(entryChangedBy).find((path) => path !== null && this.#ports.index.hides(path));
    if (hidden !== undefined) return notFound("file or folder", String(hidden));
    return restraintNow(this.#ports, authority, record, { chosen, slices: this.#ports.slices, budget });
  }

  /** Runs a task after all earlier ones. Busy once the kernel shuts down. */
  async enqueue<Result>(run: () => Promise<Result>): Promise<Result> {
    if (this.#closed)
      throw new LaresError(
        "Busy",
        "The kernel is shutting down, so nothing was changed. Try again with the next one.",
      );
    const running = this.#lastQueued.then(run, run);
    this.#lastQueued = running.catch(() => undefined);
    return running;
  }
}
