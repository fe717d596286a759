import { isoTime } from "../base/clock.ts";
import { type CpuBudget, unlimitedCpu } from "../base/cpu-budget.ts";
import { Emitter } from "../base/emitter.ts";
import { illegalTransition, isLaresError, LaresError, messageOf, notFound } from "../base/errors.ts";
import { newId } from "../base/ids.ts";
import { OneAtATime } from "../base/one-at-a-time.ts";
import { Slices } from "../base/slices.ts";
import type { Action, ActionState, Proposal } from "../base/vocabulary/action.ts";
import type { Hash } from "../base/vocabulary/common.ts";
import type { Authority } from "../base/vocabulary/permissions.ts";
import { failpoint } from "../platform/failpoint.ts";
import { decideApproval, type ApprovalDecision } from "../policy/approval.ts";
import { decideHostCall, entryChangedBy } from "../policy/decide.ts";
import type { Actions, Approval, ProposedAction } from "./api.ts";
import { AwaitedEnds } from "./awaited-ends.ts";
import { Committer, isDrift, NotTakenBack } from "./committer.ts";
import { noLongerKept, readContent, readDiff } from "./content.ts";
import { actionWithoutDiffs, decidedAction, describeAction, effectForPolicy } from "./describe.ts";
import { ImpactHours } from "./impact-hours.ts";
import { actionLimits } from "./limits.ts";
import { Ledger, storedAction, type ActionRecord, type StateChange } from "./ledger.ts";
import { PendingActions } from "./pending.ts";
import { PersonView } from "./person.ts";
import { planEffects, type Plan } from "./planner.ts";
import type { ActionPorts } from "./ports.ts";
import { Recovery } from "./recovery.ts";
import { rememberedRules } from "./remembered-rules.ts";
import { restraintNow } from "./restraint.ts";
import { Retention } from "./retention.ts";
import { chosenEffects } from "./selection.ts";

export function openActions(ports: ActionPorts): Actions {
  return new ActionService(ports);
}

class ActionService implements Actions {
  readonly changed = new Emitter<Action>();
  readonly #ports: ActionPorts;
  readonly #ledger: Ledger;
  readonly #committer: Committer;
  readonly #recovery: Recovery;
  readonly #pending: PendingActions;
  readonly #hours: ImpactHours;
  readonly #person: PersonView;
  readonly #retention: Retention;
  readonly #ends = new AwaitedEnds();
  readonly #slices: Slices;
  /** By agent. */
  readonly #plans = new OneAtATime({ limit: "plansPerAgent", most: actionLimits.plansPerAgent });
  readonly #background = new Set<Promise<void>>();
  /** The end of the line: one change of the workspace at a time. */
  #lastInLine: Promise<unknown> = Promise.resolve();
  #closed = false;

  constructor(ports: ActionPorts) {
    this.#ports = ports;
    this.#slices = new Slices(ports.clock, actionLimits.planSliceMs);
    this.#ledger = new Ledger(ports.database, ports.clock);
    this.#retention = new Retention({
      ...ports,
      ledger: this.#ledger,
      inLine: (run) => this.#inLine(run),
    });
    this.#committer = new Committer({ ...ports, leftBehind: (id) => this.#recovery.later(id) }, this.#ledger);
    this.#recovery = new Recovery({
      ...ports,
      ledger: this.#ledger,
      committer: this.#committer,
      inLine: (run) => this.#inLine(run),
      settled: async (ids) => {
        await this.#readPending();
        for (const id of ids) await this.#reread(id);
      },
    });
    this.#hours = new ImpactHours(ports.clock);
    this.#person = new PersonView({
      settings: () => ports.settings(),
      originOf: (basis) => ports.originOf(basis),
      impactThisHour: (agent) => this.#hours.sum(agent),
    });
    this.#pending = new PendingActions(
      ports.clock,
      () => ports.settings().expireAfterMs,
      (id) => this.#inBackground(this.#expire(id)),
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    this.#pending[Symbol.dispose]();
    this.#retention[Symbol.dispose]();
    this.#recovery[Symbol.dispose]();
    this.#ends[Symbol.dispose]();
    await Promise.allSettled([this.#lastInLine, ...this.#background]);
  }

  preview(
    authority: Authority,
    program: Hash,
    proposal: Proposal,
    budget: CpuBudget = unlimitedCpu,
  ): Promise<ProposedAction> {
    return this.#inTurn(authority.extension, budget, async () => {
      const { record } = await this.#plan(authority, program, proposal, "actions/preview", budget);
      return record;
    });
  }

  async propose(
    authority: Authority,
    program: Hash,
    proposal: Proposal,
    budget: CpuBudget = unlimitedCpu,
  ): Promise<ProposedAction> {
    const record = await this.#inTurn(authority.extension, budget, () =>
      this.#store(authority, program, proposal, budget),
    );
    if (record.action.state !== "Approved") return record;
    await this.#commit(
      record,
      record.action.effects.map((_effect, index) => index),
    );
    // Not what the commit answers: that is for the person.
    return this.#record(record.action.id);
  }

  /** Plans of a guest that ended stay in line until their turn, and take no room from those of the next guest. */
  #inTurn<Result>(agent: string, budget: CpuBudget, plan: () => Promise<Result>): Promise<Result> {
    return this.#plans.run(agent, plan, () => budget.leftMs() > 0);
  }

  /** Plans, decides and stores a proposal; what policy allows is yet to be committed. */
  async #store(
    authority: Authority,
    program: Hash,
    proposal: Proposal,
    budget: CpuBudget,
  ): Promise<ActionRecord> {
    this.#pending.checkRoom(authority.extension, 0);
    const { record, plan } = await this.#plan(authority, program, proposal, "actions/propose", budget);
    // From here to the reservation nothing waits, so that two proposals cannot both be the last small one.
    const decision = this.#decide(record);
    const { agent, id, impact_score: impact } = record.action;
    const now = this.#ports.clock.now();
    const decided = decidedAction(record.action, decision, now);
    // Of what is refused nothing needs to be kept.
    const contents = decision.decide === "deny" ? [] : [...plan.contents];
    const kept = { ...record, action: decided, basis: decision.decide === "ask" ? null : decision.basis };
    const used = this.#ports.used(decision.rules.map((rule) => this.#ports.originOf({ rule })));
    const stored = storedAction(
      kept,
      contents.map(([hash, { length }]) => ({ hash, bytes: length })),
    );
    if (decision.decide === "ask") this.#pending.checkRoom(agent, stored.counted);
    if (decision.byImpact) this.#hours.add(agent, impact, now);
    if (decision.decide === "ask") this.#pending.add(id, agent, now, stored.counted);
    try {
      await this.#retention.storing(async () => {
        for (const [hash, content] of contents)
          await this.#ports.objects.put(content, { hash, path: "a proposed content" });
        await this.#ledger.insert(stored, decision.byImpact ? impact : 0, used);
      });
    } catch (error) {
      this.#pending.remove(id);
      throw error;
    }
    failpoint("approvals.proposal-stored");
    this.#retention.grew(stored.bytes);
    this.#announce(kept);
    return kept;
  }

  async get(id: string): Promise<Action | null> {
    const record = await this.#ledger.get(id);
    return record === null ? null : this.#person.shown(record);
  }

  async proposed(id: string): Promise<ProposedAction | null> {
    return this.#ledger.get(id);
  }

  async list(query: { state?: ActionState; agent?: string; limit?: number }): Promise<Action[]> {
    return (await this.#ledger.list(query)).map((record) => this.#person.shown(record));
  }

  async content(id: string, effect: number, side: "before" | "after", offset = 0, length = 262_144) {
    return readContent(this.#ports, await this.#record(id), effect, side, offset, length);
  }

  async diff(id: string, effect: number): Promise<string | null> {
    return readDiff(this.#ports, await this.#record(id), effect);
  }

  async approve(id: string, approval: Approval): Promise<Action> {
    if (this.#pending.isOverdue(id)) await this.#expire(id);
    const record = await this.#record(id);
    mustBe(record.action, "PendingApproval", "approved");
    if (approval.digest !== record.action.digest) {
      throw new LaresError(
        "DigestMismatch",
        `The approval names ${approval.digest}, the action is ${record.action.digest}; look at it again.`,
        { digest: record.action.digest },
      );
    }
    const chosen = chosenEffects(record, approval.effects);
    const rules = rememberedRules(record, approval, chosen, this.#ports.settings(), this.#person);
    if (rules.length > 0) await this.#ports.remember(rules);
    const approved = await this.#move(id, {
      from: "PendingApproval",
      to: "Approved",
      decided: this.#ports.clock.now(),
      decidedBy: "user",
    });
    failpoint("approvals.approved");
    const committed = await this.#commit({ ...record, action: approved }, chosen);
    failpoint("approvals.committed");
    return committed;
  }

  async reject(id: string, reason?: string): Promise<Action> {
    if (this.#pending.isOverdue(id)) await this.#expire(id);
    mustBe((await this.#record(id)).action, "PendingApproval", "rejected");
    const rejected = await this.#move(id, {
      from: "PendingApproval",
      to: "Rejected",
      decided: this.#ports.clock.now(),
      decidedBy: "user",
      ...(reason === undefined ? {} : { error: reason }),
    });
    failpoint("approvals.rejected");
    return rejected;
  }

  async undo(id: string): Promise<Action> {
    return this.#inLine(async () => {
      const record = await this.#record(id);
      mustBe(record.action, "Committed", "undone");
      if (!record.contentsKept) throw noLongerKept(id);
      await this.#recovery.first();
      // What the commit could not tidy away goes first: the undo's own files take the same names.
      await this.#recovery.of(id);
      try {
        await this.#committer.run(id, "undo", record.inverse ?? [], {
          begin: async (journal) => {
            await this.#ports.database.batch([journal], { durability: "power" });
            return true;
          },
          done: (_outcome, along) => this.#ledger.move(id, { from: "Committed", to: "Undone" }, along),
        });
      } catch (error) {
        if (error instanceof NotTakenBack) this.#recovery.later(id);
        else await this.#orLater(id, this.#ledger.forget(id));
        throw error;
      }
      failpoint("approvals.undone");
      return this.#reread(id);
    });
  }

  settled(id: string): Promise<Action> {
    return this.#ends.of(id, () => this.get(id));
  }

  async recover(): Promise<void> {
    await this.#recovery.all();
    for (const { agent, decided, impact } of await this.#ledger.countedSince(this.#hours.since)) {
      this.#hours.add(agent, impact, decided);
    }
    await this.#readPending();
    this.#pending.sweep();
    await Promise.all(this.#background);
    await this.#retention.sweep();
  }

  pendingCount(): number {
    return this.#pending.size;
  }

  async #plan(
    authority: Authority,
    program: Hash,
    proposal: Proposal,
    method: string,
    budget: CpuBudget,
  ): Promise<{ record: ActionRecord; plan: Plan }> {
    const decision = decideHostCall(authority, { method, params: proposal });
    if (!decision.allowed) throw decision.error;
    const plan = await planEffects(this.#ports, authority, proposal.effects, {
      budget,
      slices: this.#slices,
    });
    const record = describeAction(
      newId(),
      authority.extension,
      program,
      proposal,
      plan,
      this.#ports.clock.now(),
    );
    return { record, plan };
  }

  #decide({ action, subjects }: ActionRecord): ApprovalDecision {
    const question = {
      agent: action.agent,
      effects: subjects,
      impact: action.impact_score,
      impactThisHour: this.#hours.sum(action.agent),
    };
    return decideApproval(question, this.#ports.settings());
  }

  /** A rule may have been revoked, or a setting lowered, while the action waited for its turn. */
  #isStillAllowed({ action, subjects }: ActionRecord): boolean {
    const question = {
      agent: action.agent,
      effects: subjects,
      impact: action.impact_score,
      // Its own impact is in the hour's sum already, which was looked at when it was decided.
      impactThisHour: 0,
    };
    return decideApproval(question, this.#ports.settings()).decide === "allow";
  }

  /** Commits the chosen effects; whatever becomes of it is the action's state. */
  async #commit(record: ActionRecord, chosen: readonly number[]): Promise<Action> {
    const { id } = record.action;
    return this.#inLine(async () => {
      await this.#orLater(id, this.#recovery.first());
      let state: ActionState = "Approved";
      if (record.action.decided_by === "policy" && !this.#isStillAllowed(record)) {
        await this.#ledger.move(id, { from: state, to: "PendingApproval", decidedBy: null });
        await this.#readPending();
        return this.#reread(id);
      }
      const refusal = await this.#refusalNow(record, chosen);
      if (refusal !== null) {
        await this.#ledger.move(id, { from: state, to: "Failed", error: refusal.message });
        return this.#reread(id);
      }
      try {
        const operations = record.operations.filter((_operation, index) => chosen.includes(index));
        await this.#committer.run(id, "commit", operations, {
          begin: async (journal) => {
            if (!(await this.#ledger.move(id, { from: "Approved", to: "Committing" }, [journal])))
              return false;
            state = "Committing";
            await this.#reread(id);
            return true;
          },
          done: (outcome, along) => {
            this.#retention.grew(outcome.keeps.reduce((sum, { bytes }) => sum + bytes, 0));
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
        });
      } catch (error) {
        // The kernel ends, and nothing was touched yet: the action is asked again.
        if (state === "Approved" && isLaresError(error, "Busy")) {
          this.#recovery.later(id);
          throw error;
        }
        await this.#failed(id, state, error);
      }
      return this.#reread(id);
    });
  }

  async #failed(id: string, from: ActionState, error: unknown): Promise<void> {
    if (!isLaresError(error))
      this.#ports.log.error("A commit failed.", { action: id, error: messageOf(error) });
    // It stays Committing meanwhile.
    if (error instanceof NotTakenBack) {
      this.#recovery.later(id);
      throw error;
    }
    const to = isDrift(error) ? "Stale" : "Failed";
    const along = [this.#ledger.forgetStatement(id)];
    await this.#orLater(id, this.#ledger.move(id, { from, to, error: messageOf(error) }, along));
  }

  /** Where an end cannot be written down, the action is brought to one later. */
  async #orLater(id: string, ending: Promise<unknown>): Promise<void> {
    try {
      await ending;
    } catch (error) {
      this.#recovery.later(id);
      throw error;
    }
  }

  async #readPending(): Promise<void> {
    for (const { id, agent, created, bytes } of await this.#ledger.pending())
      this.#pending.add(id, agent, created, bytes);
  }

  /**
   * Permission, scope, sight and restraining rules once more: they may have changed since the action was proposed,
   * and of a folder that is moved all members count now, those that the agent cannot see included.
   */
  async #refusalNow(record: ActionRecord, chosen: readonly number[]): Promise<LaresError | null> {
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
    return restraintNow(this.#ports, authority, record, chosen);
  }

  async #expire(id: string): Promise<void> {
    const change: StateChange = {
      from: "PendingApproval",
      to: "Expired",
      decided: this.#ports.clock.now(),
      decidedBy: "policy",
      error: "Nobody decided about it in time.",
    };
    if (await this.#ledger.move(id, change)) await this.#reread(id);
  }

  /** Changes the state, or says in which it is instead: of two who try, one wins. */
  async #move(id: string, change: StateChange): Promise<Action> {
    if (await this.#ledger.move(id, change)) return this.#reread(id);
    const { state } = (await this.#record(id)).action;
    throw illegalTransition(state, `The action ${id} is ${state} by now; somebody else decided first.`);
  }

  async #record(id: string): Promise<ActionRecord> {
    const record = await this.#ledger.get(id);
    if (record === null) throw notFound("action", id);
    return record;
  }

  async #reread(id: string): Promise<Action> {
    return this.#announce(await this.#record(id));
  }

  /** Tells of the action as a person is shown it, and returns that. */
  #announce(record: ActionRecord): Action {
    const action = this.#person.shown(record);
    if (action.state !== "PendingApproval") this.#pending.remove(action.id);
    this.changed.emit(actionWithoutDiffs(action));
    this.#ends.tell(action);
    return action;
  }

  async #inLine<Result>(run: () => Promise<Result>): Promise<Result> {
    if (this.#closed) throw new LaresError("Busy", "The kernel is ending; nothing is changed any more.");
    const running = this.#lastInLine.then(run, run);
    this.#lastInLine = running.catch(() => undefined);
    return running;
  }

  #inBackground(running: Promise<void>): void {
    const reported = running
      .catch((error: unknown) => {
        this.#ports.log.error("An action could not be expired.", { error: messageOf(error) });
      })
      .finally(() => this.#background.delete(reported));
    this.#background.add(reported);
  }
}

function mustBe(action: Action, state: ActionState, verb: string): void {
  if (action.state === state) return;
  throw illegalTransition(
    action.state,
    `The action ${action.id} is ${action.state}; only one that is ${state} can be ${verb}.`,
  );
}
