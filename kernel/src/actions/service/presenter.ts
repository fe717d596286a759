import type { Action } from "../../base/vocabulary/action.ts";
import type { ApprovalRule, PolicyReason, Scope } from "../../base/vocabulary/approval-rule.ts";
import {
  decideApproval,
  prepareApproval,
  type ApprovalDecision,
  type ApprovalSubject,
  type Basis,
} from "../../policy/approval.ts";
import { callersOf } from "../../policy/principals.ts";
import { scopesOf } from "../../policy/scopes.ts";
import { unlimitedCpu } from "../../base/cpu-budget.ts";
import type { Slices } from "../../base/slices.ts";
import type { KeptBasis } from "../basis.ts";
import { inSlices } from "../in-slices.ts";
import type { ActionRecord } from "../action-record.ts";
import type { ActionPorts } from "../ports.ts";

interface PresenterPorts extends Pick<ActionPorts, "originOf" | "settings"> {
  /** The impact that the agent's actions were allowed within the last hour. */
  impactThisHour(agent: string): number;
  readonly slices: Slices;
}

/** Names the agents of the chain of calls that led to it. */
function withCallers(action: Action): Action {
  return { ...action, callers: callersOf(action.agent, action.on_behalf_of ?? []) };
}

/** The number of waiting actions whose scopes are cached; scopes are recomputed when the rules change. */
const scopesKept = 2_000;
/** The number of effects of waiting actions that are cached with their matching rules, over all actions. */
const subjectsKept = 20_000;

/**
 * Returns actions as shown to a person: with the reason why each is asked or was decided, and what "always" may
 * remember. Agents never get these, because the rules are the person's.
 */
export class ActionPresenter {
  readonly #ports: PresenterPorts;
  #rules: readonly ApprovalRule[] = [];
  readonly #scopes = new Map<string, readonly Scope[]>();
  /** By the action's digest, least recently used first. An action that is read again has new subjects. */
  readonly #subjects = new Map<string, readonly ApprovalSubject[]>();
  #subjectCount = 0;

  constructor(ports: PresenterPorts) {
    this.#ports = ports;
  }

  /**
   * Matches a waiting action with the rules in slices of the event loop; any other action is returned without a pause.
   */
  async shown(record: ActionRecord): Promise<Action> {
    const action = withCallers(record.action);
    if (action.state === "PendingApproval") {
      const scopes = await this.scopes(record);
      const subjects = await this.prepared(record);
      return {
        ...action,
        asked_because: this.#reason(whyAsked(this.#decisionNow(record, subjects))),
        ...(scopes.length === 0 ? {} : { scopes: [...scopes] }),
      };
    }
    return this.ended(record);
  }

  /** The same for an action that does not wait. */
  ended(record: ActionRecord): Action {
    const action = withCallers(record.action);
    if (action.decided_by !== "policy") return action;
    const basis = action.state === "Expired" ? expired : record.basis;
    return basis === null ? action : { ...action, rule: this.#reason(basis) };
  }

  /** Returns what "always" may remember about the action. */
  async scopes(record: ActionRecord): Promise<readonly Scope[]> {
    const { action } = record;
    const subjects = await this.prepared(record);
    const settings = this.#ports.settings();
    if (settings.rules !== this.#rules || this.#scopes.size >= scopesKept) {
      this.#rules = settings.rules;
      this.#scopes.clear();
    }
    const known = this.#scopes.get(action.id);
    if (known !== undefined) return known;
    const { rules } = settings;
    const made = await inSlices(scopesOf(action.agent, subjects, settings), this.#ports.slices, unlimitedCpu);
    if (rules === this.#rules) this.#scopes.set(action.id, made);
    return made;
  }

  /** Returns the action's subjects, matched with the current rules, so that decisions about them are quick. */
  async prepared({ action, subjects }: ActionRecord): Promise<readonly ApprovalSubject[]> {
    // The members of a folder are known only while the action is being proposed.
    const isListed = subjects.some(({ members }) => members !== undefined);
    const known = isListed ? subjects : (this.#subjects.get(action.digest) ?? subjects);
    for (;;) {
      const { rules } = this.#ports.settings();
      await inSlices(
        prepareApproval({ agent: action.agent, effects: known }, { rules }),
        this.#ports.slices,
        unlimitedCpu,
      );
      if (rules === this.#ports.settings().rules) break;
    }
    if (!isListed) this.#keep(action.digest, known);
    return known;
  }

  #keep(digest: string, subjects: readonly ApprovalSubject[]): void {
    this.#drop(digest);
    this.#subjects.set(digest, subjects);
    this.#subjectCount += subjects.length;
    for (const oldest of this.#subjects.keys()) {
      if (this.#subjectCount <= subjectsKept) return;
      this.#drop(oldest);
    }
  }

  #drop(digest: string): void {
    this.#subjectCount -= this.#subjects.get(digest)?.length ?? 0;
    this.#subjects.delete(digest);
  }

  #decisionNow({ action }: ActionRecord, subjects: readonly ApprovalSubject[]): ApprovalDecision {
    const question = {
      agent: action.agent,
      effects: subjects,
      impact: action.impact_score,
      impactThisHour: this.#ports.impactThisHour(action.agent),
    };
    return decideApproval(question, this.#ports.settings());
  }

  #reason(basis: KeptBasis): PolicyReason {
    const { place, decision } = this.#ports.originOf(basis);
    return {
      sentence: basis.sentence,
      ...(place === undefined ? {} : { place }),
      ...(decision === undefined ? {} : { decision }),
    };
  }
}

const expired: KeptBasis = {
  sentence: "Nobody decided on it in time (expire_after).",
  setting: "approvals.expire_after",
};

/** Rules and settings may have changed since the proposal; the action still waits for the person. */
function whyAsked({ decide, basis }: ApprovalDecision): Basis {
  return decide === "allow"
    ? { ...basis, sentence: `It was proposed before this allowed it: ${basis.sentence}` }
    : basis;
}
