import { isoTime } from "../base/clock.ts";
import { newSecret } from "../base/ids.ts";
import { canonicalJson } from "../base/json.ts";
import type { Action, Effect, Proposal } from "../base/vocabulary/action.ts";
import type { Hash } from "../base/vocabulary/common.ts";
import { sha256 } from "../platform/files/hash.ts";
import type { ApprovalDecision } from "../policy/approval.ts";
import { impactOf } from "../policy/impact.ts";
import { withoutDiff, type ActionRecord } from "./action-record.ts";
import type { Plan } from "./plan.ts";
import { agentViewOf } from "./unseen.ts";

/**
 * Returns the digest that an approval names: SHA-256 over the canonical JSON of the agent and its effects, including
 * the resulting hashes. The agent knows the digest; `nonce` prevents it from testing guesses about contents that it
 * cannot see.
 */
export function digestOf(
  id: string,
  agent: string,
  program: Hash,
  effects: readonly Effect[],
  nonce?: string,
): Hash {
  return sha256(canonicalJson({ id, agent, program, effects: effects.map(withoutDiff), nonce }));
}

/** The fields of an action that no plan changes. */
export type GivenFields = Pick<
  Action,
  "key" | "supersedes" | "edited_by" | "rebased_by" | "on_behalf_of" | "sources"
>;

/** Returns a planned proposal as an undecided action. `given` has fields that are known from the start. */
export function describeAction(
  id: string,
  agent: string,
  program: Hash,
  proposal: Pick<Proposal, "title" | "reason">,
  plan: Plan,
  now: number,
  given: GivenFields = {},
): ActionRecord {
  const effects = plan.effects.map(({ effect }) => effect);
  const agentView = agentViewOf(plan.effects);
  // The agent is told the digest, and without a nonce it could use it to confirm a guess about what it cannot see.
  const nonce = agentView === null ? undefined : newSecret();
  return {
    action: {
      id,
      agent,
      title: proposal.title,
      reason: proposal.reason,
      state: "PendingApproval",
      impact_score: impactOf(plan.effects.map(({ facts }) => facts)),
      digest: digestOf(id, agent, program, effects, nonce),
      effects,
      created: isoTime(now),
      ...given,
    },
    program,
    operations: plan.effects.map(({ operation }) => operation),
    dependsOn: plan.effects.map(({ dependsOn }) => dependsOn),
    subjects: plan.effects.map(({ subject }) => subject),
    agentView,
    basis: null,
    inverse: null,
    contentsKept: true,
  };
}

/** Returns the fields of an effect that policy needs to decide permission and scope again. */
export function effectForPolicy(effect: Effect): Record<string, unknown> {
  const { kind, path, from, namespace, sidecar } = effect;
  return kind === "file.move" ? { kind, from, to: path } : { kind, path, namespace, sidecar };
}

export function actionWithoutDiffs(action: Action): Action {
  return { ...action, effects: action.effects.map(withoutDiff) };
}

/** Returns the action after the decision of policy. */
export function decidedAction(action: Action, decision: ApprovalDecision, now: number): Action {
  if (decision.decide === "ask") return action;
  return {
    ...action,
    state: decision.decide === "allow" ? "Approved" : "Rejected",
    decided: isoTime(now),
    decided_by: "policy",
    ...(decision.decide === "deny" ? { error: decision.because } : {}),
  };
}
