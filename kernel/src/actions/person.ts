import type { Action, ApprovalRule, PolicyReason, Scope } from "../base/vocabulary/action.ts";
import type { Place } from "../base/vocabulary/common.ts";
import {
  decideApproval,
  type ApprovalDecision,
  type ApprovalPolicy,
  type Basis,
} from "../policy/approval.ts";
import { scopesOf } from "../policy/scopes.ts";
import type { ActionRecord } from "./ledger.ts";

/** The basis of a decision, as it is kept with an action. */
export type KeptBasis = Omit<Basis, "setting"> & {
  readonly setting?: Basis["setting"] | "approvals.expire_after";
};

/** Where a rule or a setting is written, and the remembered decision that a rule belongs to. */
export interface Origin {
  readonly place?: Place;
  readonly decision?: string;
}

export interface PersonPorts {
  settings(): ApprovalPolicy;
  /** Empty where the rule is gone, or the setting is not written in a document. */
  originOf(basis: Pick<KeptBasis, "rule" | "setting">): Origin;
  /** Impact that the agent's actions were allowed for within the last hour. */
  impactThisHour(agent: string): number;
}

/** Scopes kept for actions that wait; they are worked out again when the rules are others. */
const scopesKept = 2_000;

/**
 * Actions as a person is shown them: with the reason why each is asked or was decided, and what "always" may remember.
 * Agents are never told these: rules are the person's.
 */
export class PersonView {
  readonly #ports: PersonPorts;
  #rules: readonly ApprovalRule[] = [];
  readonly #scopes = new Map<string, readonly Scope[]>();

  constructor(ports: PersonPorts) {
    this.#ports = ports;
  }

  shown(record: ActionRecord): Action {
    const { action } = record;
    if (action.state === "PendingApproval") {
      const scopes = this.scopes(record);
      return {
        ...action,
        asked_because: this.#reason(whyAsked(this.#decisionNow(record))),
        ...(scopes.length === 0 ? {} : { scopes: [...scopes] }),
      };
    }
    if (action.decided_by !== "policy") return action;
    const basis = action.state === "Expired" ? expired : record.basis;
    return basis === null ? action : { ...action, rule: this.#reason(basis) };
  }

  /** Returns what "always" may remember about the action. */
  scopes({ action, subjects }: ActionRecord): readonly Scope[] {
    const settings = this.#ports.settings();
    if (settings.rules !== this.#rules || this.#scopes.size >= scopesKept) {
      this.#rules = settings.rules;
      this.#scopes.clear();
    }
    const known = this.#scopes.get(action.id);
    if (known !== undefined) return known;
    const made = scopesOf(action.agent, subjects, settings);
    this.#scopes.set(action.id, made);
    return made;
  }

  #decisionNow({ action, subjects }: ActionRecord): ApprovalDecision {
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
  sentence: "Nobody decided about it in time (expire_after).",
  setting: "approvals.expire_after",
};

/** Rules and settings may have changed since the action was proposed; it still waits for the person. */
function whyAsked({ decide, basis }: ApprovalDecision): Basis {
  return decide === "allow"
    ? { ...basis, sentence: `It was proposed before this allowed it: ${basis.sentence}` }
    : basis;
}
