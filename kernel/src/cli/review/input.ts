import type { Action } from "../../base/vocabulary/action.ts";
import type { RememberedRule } from "../../base/vocabulary/approval-rule.ts";
import type { WholeAction } from "../run/whole-action.ts";
import type { Key } from "../keyboard/key.ts";
import type { EditedText, Size } from "./state/state.ts";

export type Verb = "approve" | "reject" | "undo" | "rebase";

/** An input of a review. */
export type Input =
  | { readonly kind: "key"; readonly key: Key; readonly atMs: number }
  | { readonly kind: "paste"; readonly text: string }
  /** Actions are new or have changed; without diffs. */
  | { readonly kind: "actions"; readonly actions: readonly Action[] }
  | { readonly kind: "whole"; readonly id: string; readonly whole: WholeAction }
  | {
      readonly kind: "edited";
      readonly id: string;
      readonly effect: number;
      readonly edited: EditedText | null;
    }
  | { readonly kind: "decided"; readonly verb: Verb; readonly id: string; readonly action: Action }
  | { readonly kind: "failed"; readonly id: string; readonly message: string }
  /** The screen now shows the state. */
  | { readonly kind: "drawn"; readonly atMs: number }
  | { readonly kind: "resized"; readonly size: Size }
  | { readonly kind: "tick"; readonly nowMs: number };

/** A request from the review to the session; each one is answered by an input. */
export type Command =
  | { readonly kind: "load"; readonly id: string }
  | {
      readonly kind: "approve";
      readonly id: string;
      readonly digest: string;
      /** With its diffs, if the person looked at it. */
      readonly action?: Action;
      readonly effects?: readonly number[];
      /** The hunks to keep, by effect. */
      readonly hunks?: ReadonlyMap<number, ReadonlySet<number>>;
      readonly edits?: ReadonlyMap<number, EditedText>;
      readonly rules?: readonly RememberedRule[];
    }
  | { readonly kind: "reject"; readonly id: string; readonly reason?: string }
  | { readonly kind: "undo" | "rebase"; readonly id: string }
  | { readonly kind: "edit"; readonly id: string; readonly effect: number }
  | { readonly kind: "quit" | "suspend" | "redraw" };

export type Step<State> = { readonly state: State; readonly commands: readonly Command[] };
