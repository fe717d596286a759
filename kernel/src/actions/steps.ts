import type { Hash } from "../base/vocabulary/common.ts";

/**
 * One change of a name in the workspace, small enough to be undone by looking at the result. `identity` is the device
 * and inode of the file that the step renames: its location tells whether the step was done.
 */
export type Step =
  | { readonly kind: "mkdir"; readonly path: string }
  | { readonly kind: "rmdir"; readonly path: string }
  /** A staged file gets a name that is free. */
  | { readonly kind: "place"; readonly path: string; readonly staged: number }
  /** A staged file gets the name of another file, which is kept as `backup` until the end. */
  | ({ readonly kind: "replace"; readonly staged: number } & BackedUp)
  /** A file is removed, and kept as `backup` until the end. */
  | ({ readonly kind: "remove" } & BackedUp)
  | { readonly kind: "rename"; readonly from: string; readonly to: string; readonly identity: Identity };

/** A file that is kept under another name, next to its own, until the end. */
export interface BackedUp {
  readonly path: string;
  readonly backup: string;
  readonly identity: Identity;
  /**
   * Size and time when its content was compared with the preview; absent for a file that the action itself created.
   */
  readonly was?: { readonly size: number; readonly mtimeMs: number };
}

/** Known from the start, or the identity of a file that this plan stages. */
export type Identity = { readonly known: string } | { readonly staged: number };

/** A content that is written next to its target before anything takes effect. */
export interface Staged {
  readonly temporary: string;
  readonly content: Hash;
  readonly mode?: number;
  readonly mtimeMs?: number;
}

/** The plan that is recorded before the first step. Paths are relative to the workspace. */
export interface StepPlan {
  readonly staged: readonly Staged[];
  readonly steps: readonly Step[];
}

export function identityOf(stat: { readonly device: string; readonly inode: string }): string {
  return `${stat.device}:${stat.inode}`;
}
