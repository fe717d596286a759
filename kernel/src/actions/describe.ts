import { isoTime } from "../base/clock.ts";
import { newSecret } from "../base/ids.ts";
import { canonicalJson } from "../base/json.ts";
import type { Action, Effect, Proposal } from "../base/vocabulary/action.ts";
import type { Hash } from "../base/vocabulary/common.ts";
import { sha256 } from "../platform/hash.ts";
import type { ApprovalDecision } from "../policy/approval.ts";
import { impactOf } from "../policy/impact.ts";
import { withoutDiff, type ActionRecord } from "./ledger.ts";
import type { Plan } from "./planner.ts";
import { toldOf } from "./unseen.ts";

/**
 * What an approval names: SHA-256 over the canonical JSON of who would do what, down to the hashes it leaves.
 * `nonce` keeps the agent, which knows the digest, from trying guesses at what it cannot see.
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

/** A planned proposal as an action that nobody has decided about. */
export function describeAction(
  id: string,
  agent: string,
  program: Hash,
  proposal: Proposal,
  plan: Plan,
  now: number,
): ActionRecord {
  const effects = plan.effects.map(({ effect }) => effect);
  const told = toldOf(plan.effects);
  // The agent is told the digest, too: from it alone a guess at what it cannot see could be confirmed.
  const nonce = told === null ? undefined : newSecret();
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
    },
    program,
    operations: plan.effects.map(({ operation }) => operation),
    dependsOn: plan.effects.map(({ dependsOn }) => dependsOn),
    subjects: plan.effects.map(({ subject }) => subject),
    told,
    basis: null,
    inverse: null,
    contentsKept: true,
  };
}

/** An effect's part of what policy looks at; enough to decide permission and scope once more. */
export function effectForPolicy(effect: Effect): Record<string, unknown> {
  const { kind, path, from, namespace, sidecar } = effect;
  return kind === "file.move" ? { kind, from, to: path } : { kind, path, namespace, sidecar };
}

export function actionWithoutDiffs(action: Action): Action {
  return { ...action, effects: action.effects.map(withoutDiff) };
}

/** The action as policy decides about it. */
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
