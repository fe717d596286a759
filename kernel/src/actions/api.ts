import type { CpuBudget } from "../base/cpu-budget.ts";
import type { Emitter } from "../base/emitter.ts";
import type {
  Action,
  ActionState,
  Proposal,
  ProposalRequest,
  RememberedRule,
} from "../base/vocabulary/action.ts";
import type { Hash } from "../base/vocabulary/common.ts";
import type { EntryChange } from "../base/vocabulary/event.ts";
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
  /** Contents that the person wants instead of the proposed ones. */
  readonly edits?: readonly ContentEdit[];
}

/** The content that the file of an effect is to have. */
export type ContentEdit =
  | { readonly effect: number; readonly content: string }
  | { readonly effect: number; readonly content_base64: string };

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
  /**
   * Decided by policy: Committed (or Stale, Failed), Rejected, or PendingApproval, which does not wait. Takes the place of
   * the agent's action that `supersedes` names and of the one that changes the very same things. With a `key` that the
   * agent used before nothing is stored, and that action is the answer.
   */
  propose(
    authority: Authority,
    program: Hash,
    proposal: ProposalRequest,
    budget?: CpuBudget,
  ): Promise<ProposedAction>;
  proposed(id: string): Promise<ProposedAction | null>;
  /** As a person is shown it; an agent gets `proposed`. */
  get(id: string): Promise<Action | null>;
  /**
   * Newest first, without diffs; those made before the action `before`. Default 100, at most 1,000 and 2 MiB together, but
   * one at least.
   */
  list(query: { state?: ActionState; agent?: string; before?: string; limit?: number }): Promise<Action[]>;
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
  /**
   * Resolves when it has ended, Stale and Failed included. IllegalTransition, DigestMismatch, InvalidParams. With `edits`
   * it is planned anew, and the answer has the digest of that; PermissionDenied, and it waits on, where policy forbids it.
   */
  approve(id: string, approval: Approval): Promise<Action>;
  reject(id: string, reason?: string): Promise<Action>;
  /**
   * A new action that makes the changes of a stale one in the workspace as it is now, and waits for a person whatever the
   * rules allow: nobody has seen the merged text. Stale where the changes no longer apply, PermissionDenied where policy
   * forbids them.
   */
  rebase(id: string): Promise<Action>;
  /** Stale {path}, and nothing changes, if something it touched has changed since. */
  undo(id: string): Promise<Action>;
  /** The workspace has changed so: what waits and began from there is looked at, in the background. */
  workspaceChanged(changes: readonly EntryChange[]): void;
  /**
   * It is known which agents there are, or no longer. Agents hear of ends while it is; waiting actions are compared with
   * the workspace when it becomes known, as nothing was heard while the kernel was down.
   */
  agentsAreKnown(isKnown: boolean): void;
  /** Resolves when what changed so far was compared and every end was told. */
  idle(): Promise<void>;
  /** Waits until it has ended; as a person is shown it. */
  settled(id: string): Promise<Action>;
  /** At start, before anything else: finishes or takes back what a crash interrupted. */
  recover(): Promise<void>;
  /** Each change of state, without diffs. */
  readonly changed: Emitter<Action>;
  pendingCount(): number;
}
