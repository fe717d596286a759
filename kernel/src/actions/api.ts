import type { CpuBudget } from "../base/cpu-budget.ts";
import type { Emitter } from "../base/emitter.ts";
import type { Action, ActionState, Proposal, ProposalRequest } from "../base/vocabulary/action.ts";
import type { Approval } from "../base/vocabulary/action-requests.ts";
import type { Hash } from "../base/vocabulary/common.ts";
import type { Cleaned } from "../base/vocabulary/forgetting.ts";
import type { EntryChange } from "../base/vocabulary/event.ts";
import type { Authority } from "../base/vocabulary/permissions.ts";
import type { Lineage, Principal } from "../base/vocabulary/principal.ts";
import type { AgentView } from "./unseen.ts";

/** An action as shown to a person, and what differs in what its agent is told: see `actionSeenBy`. */
export interface ProposedAction {
  readonly action: Action;
  readonly agentView: AgentView | null;
}

/** Handles proposals of agents from preview to undo. Every change of the workspace goes through here. */
export interface Actions extends AsyncDisposable {
  /**
   * Returns what a proposal would do, without storing it. An agent's proposals and previews are planned one at a time
   * and charged to `budget`. LimitExceeded if the budget runs out, or if `actionLimits.plansPerAgent` plans already
   * wait.
   */
  preview(
    authority: Authority,
    program: Hash,
    proposal: Proposal,
    budget?: CpuBudget,
  ): Promise<ProposedAction>;
  /**
   * Plans, decides and stores a proposal. Returns the action as Committed (or Stale, Failed), Rejected, or
   * PendingApproval; does not wait for the approval. The action supersedes the agent's action that `supersedes` names,
   * and those of the same work that change exactly the same things. If the agent used `key` before, nothing is stored and
   * the earlier action is returned.
   */
  propose(
    authority: Authority,
    program: Hash,
    proposal: ProposalRequest,
    budget?: CpuBudget,
    lineage?: Pick<Lineage, "onBehalfOf" | "sources" | "begun">,
  ): Promise<ProposedAction>;
  proposed(id: string): Promise<ProposedAction | null>;
  /** Returns the action as its agent may see it; see `actionSeenBy` and `inOneAnswer`. */
  answerTo(authority: Authority, proposed: ProposedAction): Promise<Action>;
  /** Returns the action as shown to a person; for an agent, pass `proposed` to `answerTo`. */
  get(id: string): Promise<Action | null>;
  /**
   * Returns actions, newest first, without diffs; with `before`, those created before that action. 100 by default, at
   * most 1,000 and 2 MiB in total, but at least one.
   */
  list(query: { state?: ActionState; agent?: string; before?: string; limit?: number }): Promise<Action[]>;
  /**
   * Returns a piece of an effect's content before or after it. NotFound if that side has no content, or if it is no
   * longer kept.
   */
  content(
    id: string,
    effect: number,
    side: "before" | "after",
    offset?: number,
    length?: number,
  ): Promise<{ bytes: Uint8Array; eof: boolean }>;
  /**
   * Returns the unified diff of one effect, computed now if the action has none for it; null if there is no text to
   * compare.
   */
  diff(id: string, effect: number): Promise<string | null>;
  /**
   * Approves an action for a person; PermissionDenied for anybody else. Resolves when the action has ended, Stale and Failed included. IllegalTransition,
   * DigestMismatch, InvalidParams. With `edits` the action is planned again and the result has a new digest;
   * PermissionDenied if policy forbids the edited action, which then still waits.
   */
  approve(by: Principal, id: string, approval: Approval): Promise<Action>;
  /** Rejects an action for a person; PermissionDenied for anybody else. */
  reject(by: Principal, id: string, reason?: string): Promise<Action>;
  /** Rejects an action without a person, because what had proposed it was stopped or withdrew it. IllegalTransition. */
  withdraw(id: string, reason: string): Promise<Action>;
  /**
   * Proposes the changes of a stale action again for a person, merged with the current workspace. The new action waits for a person
   * even if the rules would allow it, because nobody has seen the merged text. Stale if the changes no longer apply,
   * PermissionDenied if policy forbids them.
   */
  rebase(by: Principal, id: string): Promise<Action>;
  /**
   * Undoes a committed action for a person; PermissionDenied for anybody else. Stale {path}, with nothing changed, if something that the action touched has changed
   * since.
   */
  undo(by: Principal, id: string): Promise<Action>;
  /** Removes texts from what is stored of all actions, for a person; see `redactActions`. */
  redact(texts: readonly string[]): Promise<Cleaned>;
  /** Handles changes of the workspace: waiting actions whose base changed are compared in the background. */
  workspaceChanged(changes: readonly EntryChange[]): void;
  /**
   * Sets whether the agents are known. While they are, their agents are notified when actions end. When they become
   * known, waiting actions are compared with the workspace, because changes were missed while the kernel was down.
   */
  agentsAreKnown(isKnown: boolean): void;
  /** Resolves when all changes so far were compared and all notifications were sent. */
  idle(): Promise<void>;
  /** Waits until the action has ended and returns it as shown to a person. */
  settled(id: string): Promise<Action>;
  /** Called at start before anything else: finishes or rolls back actions that a crash interrupted. */
  recover(): Promise<void>;
  /** Emits each change of state, without diffs. */
  readonly changed: Emitter<Action>;
  pendingCount(): number;
}
