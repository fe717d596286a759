import { isoTime } from "../base/clock.ts";
import { type CpuBudget, unlimitedCpu } from "../base/cpu-budget.ts";
import { Emitter } from "../base/emitter.ts";
import {
  illegalTransition,
  isLaresError,
  LaresError,
  messageOf,
  notFound,
  permissionDenied,
} from "../base/errors.ts";
import { canonicalJson } from "../base/json.ts";
import { OneAtATime } from "../base/one-at-a-time.ts";
import { Slices } from "../base/slices.ts";
import {
  hasEnded,
  type Action,
  type ActionState,
  type Proposal,
  type ProposalRequest,
} from "../base/vocabulary/action.ts";
import type { RememberedRule } from "../base/vocabulary/approval-rule.ts";
import type { Hash } from "../base/vocabulary/common.ts";
import type { EntryChange } from "../base/vocabulary/event.ts";
import type { Authority } from "../base/vocabulary/permissions.ts";
import { failpoint } from "../platform/failpoint.ts";
import type { ApprovalDecision } from "../policy/approval.ts";
import { decideHostCall, entryChangedBy } from "../policy/decide.ts";
import { createSight } from "../policy/sight.ts";
import type { Actions, Approval, ContentEdit, ProposedAction } from "./api.ts";
import { AwaitedEnds } from "./awaited-ends.ts";
import { Committer, isDrift, RollbackFailed, type Recording } from "./committer.ts";
import { noLongerKept, readContent, readDiff } from "./content.ts";
import { actionWithoutDiffs, effectForPolicy } from "./describe.ts";
import { Ends } from "./ends.ts";
import { inSlices } from "./in-slices.ts";
import { ImpactHours } from "./impact-hours.ts";
import { LaterWork, paidFor } from "./later-work.ts";
import { actionLimits } from "./limits.ts";
import {
  Ledger,
  type ActionQuery,
  type ActionRecord,
  type EffectRecord,
  type StateChange,
} from "./ledger.ts";
import { PendingActions } from "./pending.ts";
import { PersonView } from "./person.ts";
import type { ActionPorts } from "./ports.ts";
import { Proposals, storedOf, type PlannedAction, type StoredProposal } from "./proposals.ts";
import { Recovery } from "./recovery.ts";
import { checkSameBases, toMerge, withEdits } from "./replan.ts";
import { rememberedRules } from "./remembered-rules.ts";
import { restraintNow } from "./restraint.ts";
import { Retention } from "./retention.ts";
import { chosenEffects } from "./selection.ts";
import { Staleness } from "./staleness.ts";
import { actionToldTo, inOneAnswer } from "./unseen.ts";

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
  readonly #awaited = new AwaitedEnds();
  readonly #ends: Ends;
  readonly #staleness: Staleness;
  readonly #proposals: Proposals;
  readonly #slices: Slices;
  readonly #later: LaterWork;
  /** Plans by agent. */
  readonly #plans = new OneAtATime({ limit: "plansPerAgent", most: actionLimits.plansPerAgent });
  readonly #background = new Set<Promise<void>>();
  /** The end of the queue: the workspace is changed by one action at a time. */
  #lastInLine: Promise<unknown> = Promise.resolve();
  #closed = false;
  /** By action: the record that is being prepared for its announcement. */
  readonly #announcing = new Map<string, ActionRecord>();

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
      slices: this.#slices,
    });
    this.#pending = new PendingActions(
      ports.clock,
      () => ports.settings().expireAfterMs,
      (id) => this.#inBackground(this.#expire(id)),
    );
    this.#ends = new Ends({ ...ports, ledger: this.#ledger, slices: this.#slices });
    this.#later = new LaterWork(ports.clock);
    this.#staleness = new Staleness({
      ...ports,
      later: this.#later,
      outdated: (id, path) => this.#outdated(id, path),
    });
    this.#proposals = new Proposals(ports, {
      ledger: this.#ledger,
      pending: this.#pending,
      hours: this.#hours,
      retention: this.#retention,
      staleness: this.#staleness,
      slices: this.#slices,
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    this.#pending[Symbol.dispose]();
    this.#retention[Symbol.dispose]();
    this.#recovery[Symbol.dispose]();
    this.#awaited[Symbol.dispose]();
    await Promise.allSettled([this.#lastInLine, ...this.#background]);
    await this.#staleness[Symbol.asyncDispose]();
    await this.#ends[Symbol.asyncDispose]();
  }

  preview(
    authority: Authority,
    program: Hash,
    proposal: Proposal,
    budget: CpuBudget = unlimitedCpu,
  ): Promise<ProposedAction> {
    return this.#inTurn(authority.extension, budget, async () => {
      const method = "actions/preview";
      return (await this.#proposals.plan({ authority, program, proposal, method, budget })).record;
    });
  }

  async propose(
    authority: Authority,
    program: Hash,
    proposal: ProposalRequest,
    budget: CpuBudget = unlimitedCpu,
  ): Promise<ProposedAction> {
    const { record, isNew, superseded } = await this.#inTurn(authority.extension, budget, () =>
      this.#proposals.propose(authority, program, proposal, budget),
    );
    if (!isNew) return record;
    await this.#announce(record);
    for (const id of superseded) await this.#reread(id);
    if (record.action.state !== "Approved") return record;
    await this.#commit(record, allOf(record), paidFor(record, budget));
    // Reread, because the commit returns the action as shown to a person, not to its agent.
    return this.#record(record.action.id);
  }

  /**
   * Plans of a guest that ended stay queued until their turn, but do not count against the limit of the next guest.
   */
  #inTurn<Result>(agent: string, budget: CpuBudget, plan: () => Promise<Result>): Promise<Result> {
    const paid = (): Promise<Result> => {
      this.#later.checkTime(agent);
      return plan();
    };
    return this.#plans.run(agent, paid, () => budget.leftMs() > 0);
  }

  async get(id: string): Promise<Action | null> {
    const record = await this.#ledger.get(id);
    return record === null ? null : this.#person.shown(record);
  }

  async proposed(id: string): Promise<ProposedAction | null> {
    return this.#ledger.get(id);
  }

  async answerTo(authority: Authority, { action, told }: ProposedAction): Promise<Action> {
    const sight = createSight(authority, this.#ports.index);
    const shown = await inSlices(actionToldTo(sight, action, told), this.#slices, unlimitedCpu);
    return (await inSlices(inOneAnswer(shown), this.#slices, unlimitedCpu)).action;
  }

  async list(query: ActionQuery): Promise<Action[]> {
    const actions: Action[] = [];
    for (const record of await this.#ledger.list(query)) actions.push(await this.#person.shown(record));
    return actions;
  }

  async content(id: string, effect: number, side: "before" | "after", offset = 0, length = 262_144) {
    return readContent(this.#ports, await this.#effect(id, effect), side, offset, length);
  }

  async diff(id: string, effect: number): Promise<string | null> {
    return readDiff(this.#ports, await this.#effect(id, effect));
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
    const { edits } = approval;
    if (edits === undefined) return this.#approved(record, approval);
    let edited: PlannedAction;
    const authority = this.#authorityOf(record.action.agent);
    try {
      edited = await this.#edited(authority, record, edits);
    } catch (error) {
      // A changed workspace makes the action Stale, as it does without edits.
      if (!isLaresError(error, "Stale") && !isLaresError(error, "NotFound")) throw error;
      return this.#move(id, { from: "PendingApproval", to: "Stale", error: error.message });
    }
    return this.#approved(edited.record, approval, edited);
  }

  async #approved(record: ActionRecord, approval: Approval, edited?: PlannedAction): Promise<Action> {
    const { id } = record.action;
    const chosen = chosenEffects(record, approval.effects);
    // A one-time approval is recorded without waiting for anything.
    const remembers = approval.rules !== undefined || approval.remember === "always";
    const rules = remembers
      ? await rememberedRules(record, approval, chosen, this.#ports.settings(), this.#person)
      : [];
    const change: StateChange = {
      from: "PendingApproval",
      to: "Approved",
      decided: this.#ports.clock.now(),
      decidedBy: "user",
    };
    const approved =
      edited === undefined ? await this.#move(id, change) : await this.#moveEdited(edited, change);
    failpoint("approvals.approved");
    if (rules.length > 0) await this.#remember(id, rules);
    const committed = await this.#commit(
      { ...record, action: approved },
      chosen,
      this.#later.forDecision(record),
    );
    failpoint("approvals.committed");
    return committed;
  }

  /** Remembers the rules of an approval that took effect. If that fails, the action waits for approval again. */
  async #remember(id: string, rules: readonly RememberedRule[]): Promise<void> {
    try {
      await this.#ports.remember(rules);
    } catch (error) {
      const back: StateChange = { from: "Approved", to: "PendingApproval", decidedBy: null };
      await this.#orLater(id, this.#ledger.move(id, back));
      await this.#readPending();
      await this.#reread(id);
      throw error;
    }
  }

  /** Returns the action with the person's contents, if policy allows it. */
  async #edited(
    authority: Authority,
    record: ActionRecord,
    edits: readonly ContentEdit[],
  ): Promise<PlannedAction> {
    const { action, program } = record;
    const { effects, made } = await withEdits(this.#ports.objects, record, edits);
    const { id, title, reason, key, supersedes } = action;
    // Not queued behind the agent's own plans: a person does not wait for those.
    const planned = await this.#proposals.plan({
      authority,
      program,
      proposal: { title, reason, effects: [...effects] },
      method: "actions/propose",
      budget: this.#later.of(action.agent),
      made,
      id,
      given: {
        edited_by: "user",
        ...(key === undefined ? {} : { key }),
        ...(supersedes === undefined ? {} : { supersedes }),
      },
    });
    checkSameBases(record.operations, planned.record.operations, edits);
    const { decide, because } = this.#proposals.decide(planned.record);
    if (decide === "deny") throw permissionDenied(action.agent, "propose_actions", because);
    const { created } = action;
    return { ...planned, record: { ...planned.record, action: { ...planned.record.action, created } } };
  }

  #moveEdited({ record, plan }: PlannedAction, change: StateChange): Promise<Action> {
    const contents = [...plan.contents];
    const { objects } = this.#ports;
    return this.#retention.storing(async () => {
      for (const [hash, content] of contents) await objects.put(content, { hash, path: "an edited content" });
      return this.#move(record.action.id, { ...change, replacedBy: storedOf(record, contents) });
    });
  }

  async rebase(id: string): Promise<Action> {
    const stale = await this.#record(id);
    const { agent, title, reason } = stale.action;
    mustBe(stale.action, "Stale", "rebased");
    if (stale.action.rebasable !== true) throw notRebasable(stale);
    const authority = this.#authorityOf(agent);
    using heard = this.#staleness.listen();
    const { effects, made } = await toMerge(this.#ports.objects, stale);
    let stored: StoredProposal;
    try {
      const planned = await this.#proposals.plan({
        authority,
        program: stale.program,
        proposal: { title, reason, effects: [...effects] },
        method: "actions/propose",
        budget: this.#later.of(agent),
        made,
        given: { supersedes: id },
      });
      checkMayMerge(stale, planned.record);
      stored = await this.#proposals.store(planned, (record) => this.#decideRebased(record), heard);
    } catch (error) {
      throw noLongerApplies(error);
    }
    const rebased = await this.#announce(stored.record);
    for (const superseded of stored.superseded) await this.#reread(superseded);
    return rebased;
  }

  /** Nobody has seen the merged text, so a person is asked even if the rules would allow it. */
  #decideRebased(record: ActionRecord): ApprovalDecision {
    const decision = this.#proposals.decide(record);
    if (decision.decide === "deny")
      throw permissionDenied(record.action.agent, "propose_actions", decision.because);
    const because = "it was merged, and nobody has seen the result";
    const basis = { sentence: "It was merged with a newer text, and nobody has seen the result." };
    return { decide: "ask", because, basis, rules: [], byImpact: false };
  }

  #authorityOf(agent: string): Authority {
    const authority = this.#ports.authorityOf(agent);
    if (authority === null) throw notFound("enabled extension", agent);
    return authority;
  }

  async reject(id: string, reason?: string): Promise<Action> {
    if (this.#pending.isOverdue(id)) await this.#expire(id);
    mustBe((await this.#record(id)).action, "PendingApproval", "rejected");
    const rejected = await this.#move(id, {
      from: "PendingApproval",
      to: "Rejected",
      decided: this.#ports.clock.now(),
      decidedBy: "user",
      ...(reason === undefined || reason === "" ? {} : { rejectedReason: reason }),
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
      // Files that the commit could not remove go first: the undo's own files use the same names.
      await this.#recovery.of(id);
      try {
        const recording: Recording = {
          begin: async (journal) => {
            await this.#ports.database.batch([journal], { durability: "power" });
            return true;
          },
          done: (_outcome, along) => this.#ledger.move(id, { from: "Committed", to: "Undone" }, along),
        };
        await this.#committer.run(id, "undo", record.inverse ?? [], recording, unlimitedCpu);
      } catch (error) {
        if (error instanceof RollbackFailed) this.#recovery.later(id);
        else await this.#orLater(id, this.#ledger.forget(id));
        throw error;
      }
      failpoint("approvals.undone");
      return this.#reread(id);
    });
  }

  workspaceChanged(changes: readonly EntryChange[]): void {
    this.#staleness.changed(changes);
  }

  agentsAreKnown(isKnown: boolean): void {
    this.#ends.agentsAreKnown(isKnown);
    if (isKnown) this.#staleness.recheck();
  }

  async idle(): Promise<void> {
    await this.#staleness.idle();
    await this.#ends.idle();
  }

  settled(id: string): Promise<Action> {
    return this.#awaited.of(id, () => this.get(id));
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

  /** Commits the chosen effects. Success or failure becomes the state of the action. */
  async #commit(record: ActionRecord, chosen: readonly number[], budget: CpuBudget): Promise<Action> {
    const { id } = record.action;
    return this.#inLine(async () => {
      await this.#orLater(id, this.#recovery.first());
      let state: ActionState = "Approved";
      if (record.action.decided_by === "policy" && !(await this.#proposals.isStillAllowed(record))) {
        await this.#ledger.move(id, { from: state, to: "PendingApproval", decidedBy: null });
        await this.#readPending();
        return this.#reread(id);
      }
      const refusal = await this.#refusalNow(record, chosen, budget);
      if (refusal !== null) {
        await this.#ledger.move(id, { from: state, to: "Failed", error: refusal.message });
        return this.#reread(id);
      }
      try {
        const operations = record.operations.filter((_operation, index) => chosen.includes(index));
        const recording: Recording = {
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
      return this.#reread(id);
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
    await this.#orLater(id, this.#ledger.move(id, { from, to, error: messageOf(error) }, along));
  }

  /** If the end of the action cannot be recorded now, recovery does it later. */
  async #orLater(id: string, ending: Promise<unknown>): Promise<void> {
    try {
      await ending;
    } catch (error) {
      this.#recovery.later(id);
      throw error;
    }
  }

  async #readPending(): Promise<void> {
    for (const { id, agent, created, bytes } of await this.#ledger.pending()) {
      this.#pending.add(id, agent, created, bytes);
      const record = await this.#ledger.get(id);
      if (record !== null) this.#staleness.follow(id, agent, record);
    }
  }

  async #outdated(id: string, path: string): Promise<void> {
    const error = `${JSON.stringify(path)} has changed since this was proposed.`;
    if (await this.#ledger.move(id, { from: "PendingApproval", to: "Stale", error })) await this.#reread(id);
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
    return restraintNow(this.#ports, authority, record, { chosen, slices: this.#slices, budget });
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

  /** Changes the state, or throws with the current state: of two concurrent attempts, one wins. */
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

  async #effect(id: string, index: number): Promise<EffectRecord> {
    const record = await this.#ledger.effect(id, index);
    if (record === null) throw notFound("action", id);
    return record;
  }

  async #reread(id: string): Promise<Action> {
    return this.#announce(await this.#record(id));
  }

  /**
   * Announces the action as shown to a person and returns it. A waiting action is announced after it was matched with
   * the rules, unless a newer version of it was announced meanwhile.
   */
  async #announce(record: ActionRecord): Promise<Action> {
    const { id, state } = record.action;
    if (state !== "PendingApproval") {
      this.#announcing.delete(id);
      this.#pending.remove(id);
      this.#staleness.forget(id);
      return this.#tell(this.#person.ended(record));
    }
    this.#announcing.set(id, record);
    const action = await this.#person.shown(record);
    if (this.#announcing.get(id) !== record) return action;
    this.#announcing.delete(id);
    return this.#tell(action);
  }

  #tell(action: Action): Action {
    this.changed.emit(actionWithoutDiffs(action));
    this.#awaited.tell(action);
    if (hasEnded(action.state)) this.#ends.tell();
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

function allOf({ action }: ActionRecord): number[] {
  return action.effects.map((_effect, index) => index);
}

function notRebasable(
  { action: { id, superseded_by: by }, contentsKept, told }: ActionRecord,
  planned?: ActionRecord,
): LaresError {
  if (by !== undefined)
    return illegalTransition("Stale", `The action ${by} took the place of ${id} already; look at that one.`);
  if (!contentsKept) return noLongerKept(id);
  const why =
    planned !== undefined || told !== null
      ? "it touches, or may touch, what its agent cannot see, and the agent would hear that there was something to merge with; let the agent propose it anew"
      : "it changes a file that is no text, or too long a one, so the changes cannot be merged";
  return new LaresError("Stale", `The action ${id} cannot be rebased: ${why}.`);
}

/**
 * Throws Stale if the rebase would let the agent infer that something which it cannot see exists, or existed: the agent
 * learns that the first action failed and that the second one succeeded.
 */
function checkMayMerge(stale: ActionRecord, planned: ActionRecord): void {
  if (stale.told === null && planned.told === null) return;
  if ([stale, planned].some(({ told }) => told !== null && told.sawAll !== true))
    throw notRebasable(stale, planned);
  // The agent sees everything that the action touches, then and now, so only something hidden can have been in the way.
  if (canonicalJson(stale.operations) === canonicalJson(planned.operations))
    throw new LaresError(
      "Stale",
      `The action ${stale.action.id} cannot be rebased: nothing that its agent can see is different from when it was proposed; let the agent propose it anew.`,
    );
}

/** Returns the error for a plan whose changes were possible once: Stale if they no longer apply. */
function noLongerApplies(error: unknown): unknown {
  if (!isDrift(error) && !isLaresError(error, "InvalidParams")) return error;
  return isLaresError(error, "Stale")
    ? error
    : new LaresError("Stale", `The change no longer applies: ${messageOf(error)}`, {}, { cause: error });
}

function mustBe(action: Action, state: ActionState, verb: string): void {
  if (action.state === state) return;
  throw illegalTransition(
    action.state,
    `The action ${action.id} is ${action.state}; only one that is ${state} can be ${verb}.`,
  );
}
