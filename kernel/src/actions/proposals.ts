import type { CpuBudget } from "../base/cpu-budget.ts";
import { illegalTransition, isLaresError, notFound } from "../base/errors.ts";
import { newId } from "../base/ids.ts";
import type { Slices } from "../base/slices.ts";
import type { Action, Proposal, ProposalRequest } from "../base/vocabulary/action.ts";
import type { Hash } from "../base/vocabulary/common.ts";
import type { Authority } from "../base/vocabulary/permissions.ts";
import { failpoint } from "../platform/failpoint.ts";
import { decideApproval, prepareApproval, type ApprovalDecision } from "../policy/approval.ts";
import { decideHostCall } from "../policy/decide.ts";
import { createSight } from "../policy/sight.ts";
import { decidedAction, describeAction } from "./describe.ts";
import type { ImpactHours } from "./impact-hours.ts";
import { inSlices } from "./in-slices.ts";
import {
  storedAction,
  type ActionRecord,
  type Ledger,
  type StoredAction,
  type SupersededAction,
} from "./ledger.ts";
import type { PendingActions } from "./pending.ts";
import { planEffects, type MadeContent, type Plan } from "./planner.ts";
import type { ActionPorts } from "./ports.ts";
import type { Retention } from "./retention.ts";
import type { Heard, Staleness } from "./staleness.ts";
import { targetsOf } from "./targets.ts";
import { actionToldTo, checkAnswerable } from "./unseen.ts";

export interface ProposalParts {
  readonly ledger: Ledger;
  readonly pending: PendingActions;
  readonly hours: ImpactHours;
  readonly retention: Retention;
  readonly staleness: Staleness;
  readonly slices: Slices;
}

/** The input of a plan: an agent's proposal, or the effects of an action that is planned again. */
export interface Planning {
  readonly authority: Authority;
  readonly program: Hash;
  readonly proposal: Proposal;
  readonly method: "actions/preview" | "actions/propose";
  readonly budget: CpuBudget;
  readonly made?: ReadonlyMap<number, MadeContent>;
  /** The id of an action that is planned again and keeps its id. */
  readonly id?: string;
  readonly given?: Pick<Action, "key" | "supersedes" | "edited_by">;
}

export interface PlannedAction {
  readonly record: ActionRecord;
  readonly plan: Plan;
}

/** The result of a proposal. The caller also announces the actions that it superseded. */
export interface StoredProposal {
  readonly record: ActionRecord;
  readonly superseded: readonly string[];
  /** False if the key of the proposal was known; nothing was stored then. */
  readonly isNew: boolean;
}

/** Attempts to store a proposal while the actions that it supersedes are being decided about. */
const maxAttempts = 5;

/** From a proposal to an action in the ledger: planned, decided by policy, and in the place of those it supersedes. */
export class Proposals {
  readonly #ports: ActionPorts;
  readonly #parts: ProposalParts;

  constructor(ports: ActionPorts, parts: ProposalParts) {
    this.#ports = ports;
    this.#parts = parts;
  }

  /** Throws what policy refuses, and what `planEffects` does. */
  async plan({
    authority,
    program,
    proposal,
    method,
    budget,
    made,
    id,
    given,
  }: Planning): Promise<PlannedAction> {
    const decision = decideHostCall(authority, { method, params: proposal });
    if (!decision.allowed) throw decision.error;
    const means = { budget, slices: this.#parts.slices, ...(made === undefined ? {} : { made }) };
    const plan = await planEffects(this.#ports, authority, proposal.effects, means);
    const now = this.#ports.clock.now();
    const record = describeAction(id ?? newId(), authority.extension, program, proposal, plan, now, given);
    if (method === "actions/propose") await this.#prepare(record, budget);
    return { record, plan };
  }

  /** Matches members of folders with the rules, in slices of the loop and at the agent's expense. */
  async #prepare({ action, subjects }: ActionRecord, budget: CpuBudget): Promise<void> {
    const steps = prepareApproval({ agent: action.agent, effects: subjects }, this.#ports.settings());
    await inSlices(steps, this.#parts.slices, budget);
  }

  decide({ action, subjects }: ActionRecord): ApprovalDecision {
    const question = {
      agent: action.agent,
      effects: subjects,
      impact: action.impact_score,
      impactThisHour: this.#parts.hours.sum(action.agent),
    };
    return decideApproval(question, this.#ports.settings());
  }

  /** True if policy still allows an action that waits for its commit: a rule may have been revoked, or a setting lowered. */
  isStillAllowed({ action, subjects }: ActionRecord): boolean {
    const question = {
      agent: action.agent,
      effects: subjects,
      impact: action.impact_score,
      // The hour's sum already contains this action's impact, which was compared when it was decided.
      impactThisHour: 0,
    };
    return decideApproval(question, this.#ports.settings()).decide === "allow";
  }

  /** Plans, decides and stores an agent's proposal; what policy allows is yet to be committed. */
  async propose(
    authority: Authority,
    program: Hash,
    { supersedes, key, ...proposal }: ProposalRequest,
    budget: CpuBudget,
  ): Promise<StoredProposal> {
    const { extension: agent } = authority;
    const { ledger, staleness } = this.#parts;
    const known = key === undefined ? null : await ledger.withKey(agent, key);
    if (known !== null) return { record: known, superseded: [], isNew: false };
    if (supersedes !== undefined) await this.#superseded(agent, supersedes);
    using heard = staleness.listen();
    const given = {
      ...(supersedes === undefined ? {} : { supersedes }),
      ...(key === undefined ? {} : { key }),
    };
    const planned = await this.plan({
      authority,
      program,
      proposal,
      method: "actions/propose",
      budget,
      given,
    });
    // A proposal that is too long to be answered is not stored.
    const { action, told } = planned.record;
    checkAnswerable(actionToldTo(createSight(authority, this.#ports.index), action, told));
    // Awaited here, since `heard` has to collect changes until the action is stored and followed.
    return await this.store(planned, (record) => this.decide(record), heard);
  }

  /** Stores a planned action in place of those it supersedes, as `decide` decides at that moment. */
  async store(
    { record, plan }: PlannedAction,
    decide: (record: ActionRecord) => ApprovalDecision,
    heard: Heard,
  ): Promise<StoredProposal> {
    const { ledger } = this.#parts;
    const { agent, key } = record.action;
    for (let attempt = 1; ; attempt++) {
      const superseded = await this.#supersededBy(record);
      try {
        return await this.#storeOnce({ record, plan }, superseded, decide, heard);
      } catch (error) {
        if (!isLaresError(error, "Conflict") || attempt === maxAttempts) throw error;
        // An action that it supersedes was decided about in the meantime, or the key was taken.
        const known = key === undefined ? null : await ledger.withKey(agent, key);
        if (known !== null) return { record: known, superseded: [], isNew: false };
      }
    }
  }

  async #storeOnce(
    { record, plan }: PlannedAction,
    replaced: readonly SupersededAction[],
    decide: (record: ActionRecord) => ApprovalDecision,
    heard: Heard,
  ): Promise<StoredProposal> {
    const { ledger, pending, hours, retention, staleness } = this.#parts;
    const { clock, objects } = this.#ports;
    // From here to the reservation nothing waits, so that two proposals cannot both be the last small one.
    const decision = decide(record);
    const { agent, id, impact_score: impact } = record.action;
    const now = clock.now();
    const decided = decidedAction(record.action, decision, now);
    // A refused action supersedes nothing, and none of its contents need to be kept.
    const isRefused = decision.decide === "deny";
    const superseded = isRefused ? [] : replaced;
    const contents = isRefused ? [] : [...plan.contents];
    const kept = { ...record, action: decided, basis: decision.decide === "ask" ? null : decision.basis };
    const used = this.#ports.used(decision.rules.map((rule) => this.#ports.originOf({ rule })));
    const stored = storedOf(kept, contents);
    const going = superseded.map((one) => one.id);
    if (decision.decide === "ask") pending.checkRoom(agent, stored.counted, going);
    if (decision.byImpact) hours.add(agent, impact, now);
    if (decision.decide === "ask") pending.add(id, agent, now, stored.counted);
    try {
      await retention.storing(async () => {
        for (const [hash, content] of contents)
          await objects.put(content, { hash, path: "a proposed content" });
        failpoint("approvals.before-proposal");
        await ledger.insert(stored, decision.byImpact ? impact : 0, superseded, used);
      });
    } catch (error) {
      pending.remove(id);
      throw error;
    }
    failpoint("approvals.proposal-stored");
    if (decision.decide === "ask") staleness.follow(id, agent, record, heard);
    retention.grew(stored.bytes);
    return { record: kept, superseded: going, isNew: true };
  }

  /** What the action takes the place of: what it names, and what changes the very same things. */
  async #supersededBy({ action, operations }: ActionRecord): Promise<SupersededAction[]> {
    const same = await this.#parts.ledger.replaceable(action.agent, targetsOf({ operations }));
    const { supersedes } = action;
    if (supersedes === undefined || same.some(({ id }) => id === supersedes)) return same;
    return [await this.#superseded(action.agent, supersedes), ...same];
  }

  /** NotFound for what is not the agent's, IllegalTransition for what cannot be superseded any more. */
  async #superseded(agent: string, id: string): Promise<SupersededAction> {
    const action = (await this.#parts.ledger.get(id))?.action;
    if (action?.agent !== agent) throw notFound("action", id);
    const { state, superseded_by: by } = action;
    if (by !== undefined)
      throw illegalTransition(state, `The action ${id} was superseded by ${by} already; supersede that one.`);
    if (state === "PendingApproval" || state === "Stale") return { id, state };
    throw illegalTransition(
      state,
      `The action ${id} is ${state}; only one that waits or is Stale can be superseded.`,
    );
  }
}

/** The record as it is written down, with the new contents that it needs. */
export function storedOf(
  record: ActionRecord,
  contents: readonly (readonly [Hash, Uint8Array])[],
): StoredAction {
  return storedAction(
    record,
    contents.map(([hash, { length }]) => ({ hash, bytes: length })),
  );
}
