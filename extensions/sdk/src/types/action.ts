import type { Hash } from "./entry.ts";

/** One change to one entry, as an agent proposes it. Paths as in `Entry`. */
export type EffectInput =
  /** The whole new content; `expected: null`: the file must not exist. */
  | {
      readonly kind: "file.write";
      readonly path: string;
      readonly content: string;
      readonly expected?: Hash | null;
    }
  | {
      readonly kind: "file.write";
      readonly path: string;
      readonly content_base64: string;
      readonly expected?: Hash | null;
    }
  /** A `find` that is absent or ambiguous is an error. */
  | {
      readonly kind: "file.edit";
      readonly path: string;
      readonly edits: readonly { readonly find: string; readonly replace: string; readonly all?: boolean }[];
      readonly expected?: Hash | null;
    }
  /** Fails if `to` exists. */
  | { readonly kind: "file.move"; readonly from: string; readonly to: string }
  | { readonly kind: "file.delete"; readonly path: string; readonly expected?: Hash | null }
  | { readonly kind: "folder.create"; readonly path: string }
  | { readonly kind: "tag.add"; readonly path: string; readonly tag: string }
  | { readonly kind: "tag.remove"; readonly path: string; readonly tag: string }
  | {
      readonly kind: "field.set";
      readonly path: string;
      readonly namespace: string;
      readonly key: string;
      readonly value: unknown;
    }
  | {
      readonly kind: "sidecar.write";
      readonly path: string;
      readonly sidecar: string;
      readonly data: unknown;
    };

export type EffectKind = EffectInput["kind"];

/** An effect as previewed: what it will do, from which bytes to which. */
export interface Effect {
  readonly kind: EffectKind;
  readonly path: string;
  readonly before: Hash | null;
  readonly after: Hash | null;
  readonly from?: string;
  /** Unified; for text files up to 256 KiB. */
  readonly diff?: string;
  readonly summary: string;
  /** The file has another name (a hard link), which keeps the old content. */
  readonly hard_link?: true;
  readonly tag?: string;
  readonly namespace?: string;
  readonly key?: string;
  readonly value?: unknown;
  readonly sidecar?: string;
}

export type ActionState =
  | "PendingApproval"
  | "Approved"
  | "Committing"
  | "Committed"
  | "Rejected"
  | "Failed"
  | "Stale"
  | "Expired"
  | "Undone";

/** A proposed change, and what became of it. */
export interface Action {
  readonly id: string;
  readonly agent: string;
  readonly title: string;
  readonly reason: string;
  readonly state: ActionState;
  /** From 0, nothing to lose, to 1. */
  readonly impact_score: number;
  readonly digest: Hash;
  readonly effects: readonly Effect[];
  readonly created: string;
  readonly decided?: string;
  readonly decided_by?: "user" | "policy";
  /** When it came to its present state, if it has ended. */
  readonly ended?: string;
  /** Why it failed, went stale, expired, or was refused by policy. */
  readonly error?: string;
  /** The reason of the person who rejected it. */
  readonly rejected_reason?: string;
  /** The person who approved it changed its contents first. */
  readonly edited_by?: "user";
  /** A person undid it. */
  readonly undone_by?: "user";
  /** A person had it made from a stale action, which `supersedes` names. */
  readonly rebased_by?: "user";
  /** The id of the action whose place it took. */
  readonly supersedes?: string;
  /** The id of the action that replaced it; it is Stale then. */
  readonly superseded_by?: string;
  readonly key?: string;
  readonly receipt?: { readonly applied: readonly number[]; readonly finished: string };
}

/** Options of a proposal: which older proposals it replaces, and what happens when it is proposed again. */
export interface ProposalOptions {
  /**
   * The id of an action of this agent that waits or is Stale: the new one takes its place. Without it, a proposal takes
   * the place of the one that waits and changes the very same things (the same paths; beside an entry, the same tag,
   * field or sidecar).
   */
  readonly supersedes?: string;
  /**
   * Any text up to 256 characters. Proposing again with the same key stores nothing and returns the first action,
   * whatever became of it: a handler that runs twice proposes once.
   */
  readonly key?: string;
}

/** Why: at most 200 and 4,000 characters. Shown to whoever approves. */
export interface Reasons {
  readonly title: string;
  readonly reason: string;
}

/** The changes that a named action proposes. */
export interface ActionPlan {
  readonly effects: readonly EffectInput[];
  /** Default: the manifest's title, with the parameters filled in. */
  readonly title?: string;
  /** Why, for the person who decides. */
  readonly reason: string;
}
