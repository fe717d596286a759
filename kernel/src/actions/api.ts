import type { CpuBudget } from "../base/cpu-budget.ts";
import type { Emitter } from "../base/emitter.ts";
import type { Action, ActionState, Proposal, RememberedRule } from "../base/vocabulary/action.ts";
import type { Hash } from "../base/vocabulary/common.ts";
import type { Authority } from "../base/vocabulary/permissions.ts";
import type { Told } from "./unseen.ts";

export interface Approval {
  /** Of the action as it was shown. */
  readonly digest: Hash;
  /** Indices of the effects that are wanted; default all. */
  readonly effects?: readonly number[];
  /**
   * "always" keeps rules for the next time: `rules`, which the action's scopes offered, or one for each effect's exact
   * paths. InvalidParams where an effect is asked each time, or a rule was not offered.
   */
  readonly remember?: "once" | "always";
  readonly rules?: readonly RememberedRule[];
}

/** An action as a person is shown it, and what its agent is told otherwise: see `actionToldTo`. */
export interface ProposedAction {
  readonly action: Action;
  readonly told: Told | null;
}

/** Proposals of agents from preview to undo, and the one way in which the workspace is changed. */
export interface Actions extends AsyncDisposable {
  /**
   * What a proposal would do; kept nowhere. An agent's proposals and previews are planned one at a time, at the expense of
   * `budget`: LimitExceeded beyond that, and where `actionLimits.plansPerAgent` wait already.
   */
  preview(
    authority: Authority,
    program: Hash,
    proposal: Proposal,
    budget?: CpuBudget,
  ): Promise<ProposedAction>;
  /** Decided by policy: Committed (or Stale, Failed), Rejected, or PendingApproval, which does not wait. */
  propose(
    authority: Authority,
    program: Hash,
    proposal: Proposal,
    budget?: CpuBudget,
  ): Promise<ProposedAction>;
  proposed(id: string): Promise<ProposedAction | null>;
  /** As a person is shown it; an agent gets `proposed`. */
  get(id: string): Promise<Action | null>;
  /** Newest first, without diffs. Default 100, at most 1,000. */
  list(query: { state?: ActionState; agent?: string; limit?: number }): Promise<Action[]>;
  /** A piece of an effect's content before or after it. NotFound where that side has none, or none is kept. */
  content(
    id: string,
    effect: number,
    side: "before" | "after",
    offset?: number,
    length?: number,
  ): Promise<{ bytes: Uint8Array; eof: boolean }>;
  /** One effect's unified diff, made now where the action has none for it; null where there is no text to compare. */
  diff(id: string, effect: number): Promise<string | null>;
  /** Resolves when it has ended, Stale and Failed included. IllegalTransition, DigestMismatch, InvalidParams. */
  approve(id: string, approval: Approval): Promise<Action>;
  reject(id: string, reason?: string): Promise<Action>;
  /** Stale {path}, and nothing changes, if something it touched has changed since. */
  undo(id: string): Promise<Action>;
  /** Waits until it has ended; as a person is shown it. */
  settled(id: string): Promise<Action>;
  /** At start, before anything else: finishes or takes back what a crash interrupted. */
  recover(): Promise<void>;
  /** Each change of state, without diffs. */
  readonly changed: Emitter<Action>;
  pendingCount(): number;
}
