import { illegalTransition } from "../base/errors.ts";
import { plainLine } from "../base/plain-text.ts";
import { actionIs } from "../base/vocabulary/action-words.ts";
import type { Action, ActionState, Effect } from "../base/vocabulary/action.ts";
import type { Hash } from "../base/vocabulary/common.ts";
import type { ApprovalSubject } from "../policy/approval.ts";
import type { KeptBasis } from "./basis.ts";
import type { Operation } from "./operations.ts";
import type { AgentView } from "./unseen.ts";
import type { KeptObject } from "./values.ts";

/** An action with everything about it that clients are not shown. */
export interface ActionRecord {
  readonly action: Action;
  readonly program: Hash;
  readonly operations: readonly Operation[];
  readonly dependsOn: readonly (readonly number[])[];
  /** Without the members of folders, which are listed again when needed. */
  readonly subjects: readonly ApprovalSubject[];
  /** What differs in what the agent is told; null if nothing does. */
  readonly agentView: AgentView | null;
  /** The reason for the decision of policy; null if a person decides. */
  readonly basis: KeptBasis | null;
  /** Null until the action is committed. */
  readonly inverse: readonly Operation[] | null;
  /** False if the action ended long ago and the contents that it replaced and wrote were dropped. */
  readonly contentsKept: boolean;
}

/** An action as written to the database. */
export interface StoredAction {
  readonly action: Action;
  readonly body: string;
  readonly diffs: string;
  readonly objects: readonly KeptObject[];
  /** See `targetsOf`. */
  readonly targets: string;
  /** The size of everything that is kept for it. */
  readonly bytes: number;
  /**
   * What the action counts as while it waits for approval, in bytes. Does not depend on anything that its agent cannot
   * see.
   */
  readonly counted: number;
}
/** One effect of an action, as stored. */
export interface EffectRecord {
  /** The id of the action. */
  readonly id: string;
  readonly contentsKept: boolean;
  /** The index of the effect, counted from 0. */
  readonly index: number;
  /** The number of effects whose operations are stored. */
  readonly count: number;
  /** Null if the action has no such effect. */
  readonly effect: Effect | null;
  /** Null if it was dropped with the contents. */
  readonly operation: Operation | null;
}

export function withoutDiff(effect: Effect): Effect {
  const { diff: _diff, ...rest } = effect;
  return rest;
}

/** Throws IllegalTransition unless the action is in this state. `verb`: what was to be done with it, as in "undone". */
export function mustBe(action: Action, state: ActionState, verb: string): void {
  if (action.state === state) return;
  throw illegalTransition(
    action.state,
    `The change ${JSON.stringify(plainLine(action.title))} (${action.id}) ${actionIs(action.state)}. Only one that ${actionIs(state)} can be ${verb}.`,
  );
}
