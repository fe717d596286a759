import { maxReadBytes } from "../../base/vocabulary/bounds.ts";
import { type CpuBudget, unlimitedCpu } from "../../base/cpu-budget.ts";
import { Emitter } from "../../base/emitter.ts";
import { illegalTransition, isLaresError, LaresError } from "../../base/errors.ts";
import { OneAtATime } from "../../base/one-at-a-time.ts";
import { Slices } from "../../base/slices.ts";
import { actionIs } from "../../base/vocabulary/action-words.ts";
import { hasEnded, type Action, type Proposal, type ProposalRequest } from "../../base/vocabulary/action.ts";
import type { ActionQuery, Approval } from "../../base/vocabulary/action-requests.ts";
import type { RememberedRule } from "../../base/vocabulary/approval-rule.ts";
import type { Hash } from "../../base/vocabulary/common.ts";
import type { Cleaned } from "../../base/vocabulary/forgetting.ts";
import type { EntryChange } from "../../base/vocabulary/event.ts";
import type { Authority } from "../../base/vocabulary/permissions.ts";
import { type Lineage, ownAccord, type Principal } from "../../base/vocabulary/principal.ts";
import { failpoint } from "../../platform/failpoint.ts";
import { createSight } from "../../policy/sight.ts";
import { mustBe, type ActionRecord } from "../action-record.ts";
import type { Actions, ProposedAction } from "../api.ts";
import { Announcements } from "./announcements.ts";
import { AwaitedEnds } from "./awaited-ends.ts";
import { Background } from "./background.ts";
import { Commits } from "../commit/commits.ts";
import { readContent, readDiff } from "../content.ts";
import { actionWithoutDiffs } from "../describe.ts";
import { Ends } from "../ledger/ends.ts";
import { inSlices } from "../in-slices.ts";
import { ImpactHours } from "./impact-hours.ts";
import { CpuDebt, commitBudget } from "../cpu-debt.ts";
import { actionLimits } from "../limits.ts";
import { type Decider, decider, Ledger, type StateChange } from "../ledger/ledger.ts";
import { redactActions } from "../ledger/redact-texts.ts";
import { PendingActions } from "../waiting/pending.ts";
import { ActionPresenter } from "./presenter.ts";
import type { ActionPorts } from "../ports.ts";
import { Proposals, storedOf, type PlannedAction } from "./proposals.ts";
import { rebase } from "./rebase.ts";
import { authorityNow, planEdited, type ReplanPorts } from "./replan.ts";
import { rememberedRules } from "./remembered-rules.ts";
import { Retention } from "../ledger/retention.ts";
import { chosenEffects } from "./selection.ts";
import { Staleness } from "../waiting/staleness.ts";
import { actionSeenBy, inOneAnswer } from "../unseen.ts";

export function openActions(ports: ActionPorts): Actions {
  return new ActionService(ports);
}

class ActionService implements Actions {
  readonly changed = new Emitter<Action>();
  readonly #ports: ActionPorts;
  readonly #ledger: Ledger;
  readonly #commits: Commits;
  readonly #pending: PendingActions;
  readonly #hours: ImpactHours;
  readonly #presenter: ActionPresenter;
  readonly #retention: Retention;
  readonly #awaited = new AwaitedEnds();
  readonly #ends: Ends;
  readonly #staleness: Staleness;
  readonly #proposals: Proposals;
  readonly #slices: Slices;
  readonly #cpuDebt: CpuDebt;
  /** Plans by agent. */
  readonly #plans = new OneAtATime({ limit: "plansPerAgent", most: actionLimits.plansPerAgent });
  readonly #background: Background;
  readonly #announcements: Announcements;

  constructor(ports: ActionPorts) {
    this.#ports = ports;
    this.#background = new Background(ports.log);
    this.#slices = new Slices(ports.clock, actionLimits.planSliceMs);
    this.#ledger = new Ledger(ports.database, ports.clock);
    this.#retention = new Retention({
      ...ports,
      ledger: this.#ledger,
      enqueue: (run) => this.#commits.enqueue(run),
    });
    this.#commits = new Commits({
      ...ports,
      ledger: this.#ledger,
      slices: this.#slices,
      isStillAllowed: (record) => this.#proposals.isStillAllowed(record),
      grew: (bytes) => this.#retention.grew(bytes),
      readPending: () => this.#readPending(),
      reread: (id) => this.#reread(id),
    });
    this.#hours = new ImpactHours(ports.clock);
    this.#presenter = new ActionPresenter({
      ...ports,
      impactThisHour: (agent) => this.#hours.sum(agent),
      slices: this.#slices,
    });
    this.#pending = new PendingActions(
      ports.clock,
      () => ports.settings().expireAfterMs,
      (id) => this.#background.run(this.#expire(id), "An action could not be expired."),
    );
    this.#ends = new Ends({ ...ports, ledger: this.#ledger, slices: this.#slices });
    this.#cpuDebt = new CpuDebt(ports.clock);
    this.#staleness = new Staleness({
      ...ports,
      cpuDebt: this.#cpuDebt,
      outdated: (id, path) => this.#outdated(id, path),
    });
    this.#announcements = new Announcements(this.#presenter, {
      changed: (action) => this.#changed(action),
      ended: (id) => {
        this.#pending.remove(id);
        this.#staleness.forget(id);
      },
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
    this.#pending[Symbol.dispose]();
    this.#retention[Symbol.dispose]();
    this.#awaited[Symbol.dispose]();
    await Promise.allSettled([this.#commits[Symbol.asyncDispose](), this.#background.idle()]);
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
    lineage: Pick<Lineage, "onBehalfOf" | "sources" | "begun"> = ownAccord,
  ): Promise<ProposedAction> {
    const { record, isNew, superseded } = await this.#inTurn(authority.extension, budget, () =>
      this.#proposals.propose(authority, program, proposal, budget, lineage),
    );
    if (!isNew) return record;
    await this.#announcements.announce(record);
    for (const id of superseded) await this.#reread(id);
    if (record.action.state !== "Approved") return record;
    await this.#commits.commit(record, chosenEffects(record, undefined), commitBudget(record, budget));
    // Reread, because the commit returns the action as shown to a person, not to its agent.
    return this.#ledger.existing(record.action.id);
  }

  /** Plans of a guest that ended stay queued until their turn, without counting against the next guest's limit. */
  #inTurn<Result>(agent: string, budget: CpuBudget, plan: () => Promise<Result>): Promise<Result> {
    const paid = (): Promise<Result> => {
      this.#cpuDebt.checkTime(agent);
      return plan();
    };
    return this.#plans.run(agent, paid, () => budget.leftMs() > 0);
  }

  async get(id: string): Promise<Action | null> {
    const record = await this.#ledger.get(id);
    return record === null ? null : this.#presenter.shown(record);
  }

  async proposed(id: string): Promise<ProposedAction | null> {
    return this.#ledger.get(id);
  }

  async answerTo(authority: Authority, { action, agentView }: ProposedAction): Promise<Action> {
    const sight = createSight(authority, this.#ports.index);
    const shown = await inSlices(actionSeenBy(sight, action, agentView), this.#slices, unlimitedCpu);
    return (await inSlices(inOneAnswer(shown), this.#slices, unlimitedCpu)).action;
  }

  async list(query: ActionQuery): Promise<Action[]> {
    const actions: Action[] = [];
    for (const record of await this.#ledger.list(query)) actions.push(await this.#presenter.shown(record));
    return actions;
  }

  async content(id: string, effect: number, side: "before" | "after", offset = 0, length = maxReadBytes) {
    return readContent(this.#ports, await this.#ledger.effect(id, effect), side, offset, length);
  }

  async diff(id: string, effect: number): Promise<string | null> {
    return readDiff(this.#ports, await this.#ledger.effect(id, effect));
  }

  async approve(by: Principal, id: string, approval: Approval): Promise<Action> {
    const decidedBy = decider(by);
    if (this.#pending.isOverdue(id)) await this.#expire(id);
    const record = await this.#ledger.existing(id);
    mustBe(record.action, "PendingApproval", "approved");
    if (approval.digest !== record.action.digest) {
      throw new LaresError(
        "DigestMismatch",
        `The approval names the digest ${approval.digest}, but the action has ${record.action.digest}. Check the action again before you approve it.`,
        { digest: record.action.digest },
      );
    }
    const { edits } = approval;
    if (edits === undefined) return this.#approved({ record }, approval, decidedBy);
    let edited: PlannedAction;
    const authority = authorityNow(this.#replanPorts, record.action.agent);
    try {
      edited = await planEdited(this.#replanPorts, authority, record, edits);
    } catch (error) {
      // A changed workspace makes the action Stale, as it does without edits.
      if (!isLaresError(error, "Stale") && !isLaresError(error, "NotFound")) throw error;
      return this.#move(id, { from: "PendingApproval", to: "Stale", error: error.message });
    }
    return this.#approved(edited, approval, decidedBy);
  }

  async #approved(
    given: PlannedAction | { readonly record: ActionRecord },
    approval: Approval,
    decidedBy: Decider,
  ): Promise<Action> {
    const { record } = given;
    const { id } = record.action;
    const chosen = chosenEffects(record, approval.effects);
    // A one-time approval is recorded without waiting for anything.
    const remembers = approval.rules !== undefined || approval.remember === "always";
    const rules = remembers
      ? await rememberedRules(record, approval, chosen, this.#ports.settings(), this.#presenter)
      : [];
    const change: StateChange = {
      from: "PendingApproval",
      to: "Approved",
      decided: this.#ports.clock.now(),
      decidedBy,
    };
    const approved = "plan" in given ? await this.#moveEdited(given, change) : await this.#move(id, change);
    failpoint("approvals.approved");
    if (rules.length > 0) await this.#remember(id, rules);
    const committed = await this.#commits.commit(
      { ...record, action: approved },
      chosen,
      this.#cpuDebt.forDecision(record),
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
      await this.#commits.orLater(id, this.#ledger.move(id, back));
      await this.#readPending();
      await this.#reread(id);
      throw error;
    }
  }

  #moveEdited({ record, plan }: PlannedAction, change: StateChange): Promise<Action> {
    const contents = [...plan.contents];
    const { objects } = this.#ports;
    return this.#retention.storing(async () => {
      for (const [hash, content] of contents) await objects.put(content, { hash, path: "an edited content" });
      return this.#move(record.action.id, { ...change, replacedBy: storedOf(record, contents) });
    });
  }

  get #replanPorts(): ReplanPorts {
    return { ...this.#ports, proposals: this.#proposals, cpuDebt: this.#cpuDebt };
  }

  async reject(by: Principal, id: string, reason?: string): Promise<Action> {
    return await this.#reject(decider(by), id, reason);
  }

  async withdraw(id: string, reason: string): Promise<Action> {
    return await this.#reject("kernel", id, reason);
  }

  async #reject(decidedBy: Decider, id: string, reason?: string): Promise<Action> {
    if (this.#pending.isOverdue(id)) await this.#expire(id);
    mustBe((await this.#ledger.existing(id)).action, "PendingApproval", "rejected");
    const rejected = await this.#move(id, {
      from: "PendingApproval",
      to: "Rejected",
      decided: this.#ports.clock.now(),
      decidedBy,
      ...(reason === undefined || reason === "" ? {} : { rejectedReason: reason }),
    });
    failpoint("approvals.rejected");
    return rejected;
  }

  async rebase(by: Principal, id: string): Promise<Action> {
    decider(by);
    const ports = { ...this.#replanPorts, staleness: this.#staleness };
    const stored = await rebase(ports, await this.#ledger.existing(id));
    const rebased = await this.#announcements.announce(stored.record);
    for (const superseded of stored.superseded) await this.#reread(superseded);
    return rebased;
  }

  redact(texts: readonly string[]): Promise<Cleaned> {
    const [commits, retention] = [this.#commits, this.#retention];
    return redactActions({ ...this.#ports, actions: this, commits, retention }, texts);
  }

  async undo(by: Principal, id: string): Promise<Action> {
    return this.#commits.undo(decider(by), id);
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
    await this.#commits.recover();
    for (const { agent, decided, impact } of await this.#ledger.countedSince(this.#hours.since)) {
      this.#hours.add(agent, impact, decided);
    }
    await this.#readPending();
    this.#pending.sweep();
    await this.#background.idle();
    await this.#retention.sweep();
  }

  pendingCount(): number {
    return this.#pending.size;
  }

  async #readPending(): Promise<void> {
    for (const { id, agent, created, bytes } of await this.#ledger.pending()) {
      this.#pending.add(id, agent, created, bytes);
      const record = await this.#ledger.get(id);
      if (record !== null) this.#staleness.follow(id, agent, record);
    }
  }

  async #outdated(id: string, path: string): Promise<void> {
    const error = `${JSON.stringify(path)} has changed since the action was proposed.`;
    if (await this.#ledger.move(id, { from: "PendingApproval", to: "Stale", error })) await this.#reread(id);
  }

  async #expire(id: string): Promise<void> {
    const change: StateChange = {
      from: "PendingApproval",
      to: "Expired",
      decided: this.#ports.clock.now(),
      decidedBy: "kernel",
      error: "Nobody decided about it in time.",
    };
    if (await this.#ledger.move(id, change)) await this.#reread(id);
  }

  /** Changes the state, or throws with the current state: of two concurrent attempts, one wins. */
  async #move(id: string, change: StateChange): Promise<Action> {
    if (await this.#ledger.move(id, change)) return this.#reread(id);
    const { state } = (await this.#ledger.existing(id)).action;
    throw illegalTransition(state, `The change ${id} ${actionIs(state)}: another decision came first.`);
  }

  async #reread(id: string): Promise<Action> {
    return this.#announcements.announce(await this.#ledger.existing(id));
  }

  #changed(action: Action): void {
    this.changed.emit(actionWithoutDiffs(action));
    this.#awaited.settle(action);
    if (hasEnded(action.state)) this.#ends.deliver();
  }
}
