import { type CpuBudget, unlimitedCpu } from "../../base/cpu-budget.ts";
import { illegalTransition, isLaresError, notFound } from "../../base/errors.ts";
import { newId } from "../../base/ids.ts";
import type { Slices } from "../../base/slices.ts";
import { quotedText } from "../../base/visible-text.ts";
import type { Action, Proposal, ProposalRequest } from "../../base/vocabulary/action.ts";
import type { Hash } from "../../base/vocabulary/common.ts";
import type { Authority } from "../../base/vocabulary/permissions.ts";
import { type Lineage, maxNamed, onBehalfField } from "../../base/vocabulary/principal.ts";
import { failpoint } from "../../platform/failpoint.ts";
import {
  decideApproval,
  prepareApproval,
  strictestOf,
  type ApprovalDecision,
} from "../../policy/approval.ts";
import { decideHostCall } from "../../policy/decide.ts";
import { boundingAgents } from "../../policy/principals.ts";
import { createSight } from "../../policy/sight.ts";
import type { ActionRecord, StoredAction } from "../action-record.ts";
import { storedAction } from "../ledger/action-rows.ts";
import { decidedAction, describeAction, type GivenFields } from "../describe.ts";
import type { ImpactHours } from "./impact-hours.ts";
import { inSlices } from "../in-slices.ts";
import type { Ledger, SupersededAction } from "../ledger/ledger.ts";
import type { PendingActions } from "../waiting/pending.ts";
import type { MadeContent, Plan } from "../plan.ts";
import { planEffects } from "../planning/planner.ts";
import type { ActionPorts } from "../ports.ts";
import type { Retention } from "../ledger/retention.ts";
import type { RecordedChanges, Staleness } from "../waiting/staleness.ts";
import { targetsOf, workOf } from "../ledger/targets.ts";
import { actionSeenBy, checkAnswerable } from "../unseen.ts";

interface ProposalParts {
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
  readonly given?: GivenFields;
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

/** Sources that the reason names. */
const maxNamedSources = 3;

/** How often storing a proposal is tried while the actions that it supersedes are being decided. */
const maxAttempts = 5;

/** Turns proposals into actions in the ledger: plans them, lets policy decide, and supersedes older actions. */
export class Proposals {
  readonly #ports: ActionPorts;
  readonly #parts: ProposalParts;

  constructor(ports: ActionPorts, parts: ProposalParts) {
    this.#ports = ports;
    this.#parts = parts;
  }

  /** Throws what policy refuses, and what `planEffects` throws. */
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
    const resources = { budget, slices: this.#parts.slices, ...(made === undefined ? {} : { made }) };
    const planned = await planEffects(this.#ports, authority, proposal.effects, resources);
    const plan = askedFor(given?.sources ?? [], planned);
    const now = this.#ports.clock.now();
    const record = describeAction(id ?? newId(), authority.extension, program, proposal, plan, now, given);
    if (method === "actions/propose")
      for (const agent of agentsOf(authority)) await this.#prepare(record, budget, agent);
    return { record, plan };
  }

  /** Matches members of folders with the rules, in slices of the event loop and at the agent's expense. */
  async #prepare({ action, subjects }: ActionRecord, budget: CpuBudget, agent = action.agent): Promise<void> {
    const steps = prepareApproval({ agent, effects: subjects }, this.#ports.settings());
    await inSlices(steps, this.#parts.slices, budget);
  }

  /** Returns the strictest decision about the action, as if each of these agents had proposed it. */
  decide({ action, subjects }: ActionRecord, agents: readonly string[] = [action.agent]): ApprovalDecision {
    const decisions = agents.map((agent) =>
      decideApproval(
        {
          agent,
          effects: subjects,
          impact: action.impact_score,
          impactThisHour: this.#parts.hours.sum(agent),
        },
        this.#ports.settings(),
      ),
    );
    return strictestOf(decisions);
  }

  /**
   * Returns true if policy still allows an action that waits for its commit: a rule may have been revoked, or a setting
   * lowered.
   */
  async isStillAllowed(record: ActionRecord): Promise<boolean> {
    const { action, subjects } = record;
    const { on_behalf_of: onBehalfOf = [] } = action;
    // A longer lineage was cut when it was stored: whoever is not named may have lost the right.
    if (onBehalfOf.length >= maxNamed) return false;
    const others = boundingAgents(action.agent, onBehalfOf);
    for (const agent of [action.agent, ...others]) {
      await this.#prepare(record, unlimitedCpu, agent);
      const question = {
        agent,
        effects: subjects,
        impact: action.impact_score,
        // The sum of the last hour already contains this action's impact, which was compared when it was decided.
        impactThisHour: 0,
      };
      if (decideApproval(question, this.#ports.settings()).decide !== "allow") return false;
    }
    return true;
  }

  /** Plans, decides and stores an agent's proposal. The caller commits what policy allows. */
  async propose(
    authority: Authority,
    program: Hash,
    { supersedes, key, ...proposal }: ProposalRequest,
    budget: CpuBudget,
    lineage: Pick<Lineage, "onBehalfOf" | "sources" | "begun">,
  ): Promise<StoredProposal> {
    const { onBehalfOf, sources = [] } = lineage;
    const { extension: agent } = authority;
    const { ledger, staleness } = this.#parts;
    const known = key === undefined ? null : await ledger.withKey(agent, key);
    if (known !== null) return { record: known, superseded: [], isNew: false };
    if (supersedes !== undefined) await this.#superseded(agent, supersedes);
    using recorded = staleness.recordChanges();
    const given = {
      ...(supersedes === undefined ? {} : { supersedes }),
      ...(key === undefined ? {} : { key }),
      ...onBehalfField(onBehalfOf),
      ...(sources.length === 0 ? {} : { sources: [...sources] }),
    };
    const planned = await this.plan({
      authority,
      program,
      proposal,
      method: "actions/propose",
      budget,
      given,
    });
    // A proposal whose answer would be too long is not stored.
    const { action, agentView } = planned.record;
    const sight = createSight(authority, this.#ports.index);
    await inSlices(checkAnswerable(sight, action, agentView), this.#parts.slices, budget);
    await this.#ports.beforeAction?.(action, lineage);
    const decide = (record: ActionRecord): ApprovalDecision => {
      // Planning and asking take time, in which a person may have stopped what this is for.
      this.#ports.checkGoesOn?.(lineage);
      return this.decide(record, agentsOf(authority));
    };
    // Awaited here, because `recorded` has to collect changes until the action is stored and followed.
    return await this.store(planned, decide, recorded);
  }

  /** Stores a planned action and supersedes older ones. `decide` is called at the last moment before. */
  async store(
    { record, plan }: PlannedAction,
    decide: (record: ActionRecord) => ApprovalDecision,
    recorded: RecordedChanges,
  ): Promise<StoredProposal> {
    const { ledger } = this.#parts;
    const { agent, key } = record.action;
    for (let attempt = 1; ; attempt++) {
      const superseded = await this.#supersededBy(record);
      try {
        return await this.#storeOnce({ record, plan }, superseded, decide, recorded);
      } catch (error) {
        if (!isLaresError(error, "Conflict") || attempt === maxAttempts) throw error;
        // An action that it supersedes was decided meanwhile, or the key was taken.
        const known = key === undefined ? null : await ledger.withKey(agent, key);
        if (known !== null) return { record: known, superseded: [], isNew: false };
      }
    }
  }

  async #storeOnce(
    { record, plan }: PlannedAction,
    replaced: readonly SupersededAction[],
    decide: (record: ActionRecord) => ApprovalDecision,
    recorded: RecordedChanges,
  ): Promise<StoredProposal> {
    const { ledger, pending, hours, retention, staleness } = this.#parts;
    const { clock, objects } = this.#ports;
    // No `await` from here to the reservation, so that two proposals cannot both use the last of the hour's impact.
    const decision = decide(record);
    const { agent, id, impact_score: impact } = record.action;
    const now = clock.now();
    const decided = decidedAction(record.action, decision, now);
    // A refused action supersedes nothing, and its contents are not stored.
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
    if (decision.decide === "ask") staleness.follow(id, agent, record, recorded);
    retention.grew(stored.bytes);
    return { record: kept, superseded: going, isNew: true };
  }

  /**
   * Returns the actions that this one supersedes: the one that it names, and those of the same work that change exactly
   * the same things.
   */
  async #supersededBy({ action, operations }: ActionRecord): Promise<SupersededAction[]> {
    const { agent, supersedes, on_behalf_of: causes } = action;
    const same = await this.#parts.ledger.replaceable(agent, targetsOf({ operations }), workOf(causes));
    if (supersedes === undefined || same.some(({ id }) => id === supersedes)) return same;
    return [await this.#superseded(agent, supersedes), ...same];
  }

  /** Throws NotFound for another agent's action, and IllegalTransition for one that can no longer be superseded. */
  async #superseded(agent: string, id: string): Promise<SupersededAction> {
    const record = await this.#parts.ledger.get(id);
    if (record?.action.agent !== agent) throw notFound("action", id);
    const { state, superseded_by: by } = await this.#seenNow(record);
    if (by !== undefined)
      throw illegalTransition(state, `The action ${id} was already superseded by ${by}. Supersede that one.`);
    if (state === "PendingApproval" || state === "Stale") return { id, state };
    throw illegalTransition(
      state,
      `The action ${id} is ${state}. Only a waiting or Stale action can be superseded.`,
    );
  }

  /** Returns the action as its agent sees it. What the agent may do with it must not reveal more. */
  async #seenNow({ action, agentView }: ActionRecord): Promise<Action> {
    const authority = this.#ports.authorityOf(action.agent);
    if (authority === null) return action;
    const steps = actionSeenBy(createSight(authority, this.#ports.index), action, agentView);
    return inSlices(steps, this.#parts.slices, unlimitedCpu);
  }
}

/** An action that follows from untrusted text is left to a person, even where a rule would allow it. */
function askedFor(sources: readonly string[], plan: Plan): Plan {
  if (sources.length === 0) return plan;
  const names = sources.slice(0, maxNamedSources).map(quotedText).join(", ");
  const more = sources.length > maxNamedSources ? " and others" : "";
  const alwaysAsked = `would be changed because of text from ${names}${more}, for which nobody vouches`;
  return {
    ...plan,
    effects: plan.effects.map((effect) => ({
      ...effect,
      subject: { ...effect.subject, alwaysAsked: effect.subject.alwaysAsked ?? alwaysAsked },
    })),
  };
}

/** Returns the record as written to the database, with the new contents that it needs. */
export function storedOf(
  record: ActionRecord,
  contents: readonly (readonly [Hash, Uint8Array])[],
): StoredAction {
  return storedAction(
    record,
    contents.map(([hash, { length }]) => ({ hash, bytes: length })),
  );
}

/** The agent that acts, and those on whose behalf it acts. */
function agentsOf({ extension, onBehalfOf = [] }: Authority): string[] {
  return [extension, ...onBehalfOf.map((caller) => caller.extension)];
}
