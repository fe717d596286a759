import type { Hash } from "../base/vocabulary/common.ts";

/**
 * One change of a name in the workspace, small enough to be undone from what is found there. `identity` is the
 * device and inode of what the step gives a new name: where that is tells whether the step was done.
 */
export type Step =
  | { readonly kind: "mkdir"; readonly path: string }
  | { readonly kind: "rmdir"; readonly path: string }
  /** A staged file takes a name that is free. */
  | { readonly kind: "place"; readonly path: string; readonly staged: number }
  /** A staged file takes the name of another, which is kept under `backup` until the end. */
  | ({ readonly kind: "replace"; readonly staged: number } & BackedUp)
  /** A file goes, and is kept under `backup` until the end. */
  | ({ readonly kind: "remove" } & BackedUp)
  | { readonly kind: "rename"; readonly from: string; readonly to: string; readonly identity: Identity };

/** A file that is kept under another name, beside its own, until the end. */
export interface BackedUp {
  readonly path: string;
  readonly backup: string;
  readonly identity: Identity;
  /** What it was like when its content was compared with the preview; absent for what the action itself made. */
  readonly was?: { readonly size: number; readonly mtimeMs: number };
}

/** Known from the start, or that of a file which is staged by this very plan. */
export type Identity = { readonly known: string } | { readonly staged: number };

/** A content that is written beside its target before anything takes effect. */
export interface Staged {
  readonly temporary: string;
  readonly content: Hash;
  readonly mode?: number;
  readonly mtimeMs?: number;
}

/** What is written down before the first of it is done. Paths are the workspace's. */
export interface StepPlan {
  readonly staged: readonly Staged[];
  readonly steps: readonly Step[];
}

export function identityOf(stat: { readonly device: string; readonly inode: string }): string {
  return `${stat.device}:${stat.inode}`;
}
