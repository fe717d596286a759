import type { Effect } from "../base/vocabulary/action.ts";
import type { Hash } from "../base/vocabulary/common.ts";
import type { ApprovalSubject } from "../policy/approval.ts";
import type { ImpactFacts } from "../policy/impact.ts";
import type { NewContent } from "./content-requests.ts";
import type { Operation } from "./operations.ts";

/** One effect, planned against the workspace and the effects before it. */
export interface PlannedEffect {
  readonly effect: Effect;
  readonly operation: Operation;
  /** Indices of the effects that it depends on. */
  readonly dependsOn: readonly number[];
  readonly facts: ImpactFacts;
  readonly subject: ApprovalSubject;
  /**
   * Present if the effect touches, or may touch, something that its agent cannot see. The agent is then told only what
   * follows from its proposal.
   */
  readonly unseen?: { readonly facts: ImpactFacts; readonly sawAll?: true };
}

export interface Plan {
  readonly effects: readonly PlannedEffect[];
  /** New contents, to be stored before the action is recorded. */
  readonly contents: ReadonlyMap<Hash, Uint8Array>;
}

/** The content that an effect gives a file when its input does not state it. */
export type MadeContent = Extract<NewContent, { from: "write" | "content" | "merge" }>;
