import type { JsonValue } from "../base/json.ts";
import type { Hash } from "../base/vocabulary/common.ts";
import type { MetadataChange } from "../base/vocabulary/metadata.ts";

/**
 * What an action does, freed of how it was put: each names what it starts from, so that it can be held
 * against the workspace again when it is committed. An undo is a list of the same operations.
 */
export type Operation =
  | {
      readonly do: "put";
      readonly path: string;
      /** null: nothing there. */
      readonly before: Hash | null;
      /** An object of the store. */
      readonly after: Hash;
      /** Restored by an undo; otherwise the mode of what it replaces and the time of the commit. */
      readonly mode?: number;
      readonly mtimeMs?: number;
    }
  | {
      readonly do: "remove";
      readonly path: string;
      readonly before: Hash;
      /** Another file with this content, for which the delete was scored lower. */
      readonly remains?: string;
    }
  | {
      readonly do: "move";
      readonly from: string;
      readonly to: string;
      readonly kind: "file" | "folder";
      /** Of the file, or of the folder's listing. */
      readonly content: Hash;
    }
  | { readonly do: "mkdir"; readonly path: string }
  /** Only of an undo: a folder that the action made. Stays if it holds something by now. */
  | { readonly do: "rmdir"; readonly path: string }
  | {
      readonly do: "metadata";
      readonly change: MetadataChange;
      readonly before: Hash | null;
      readonly after: Hash | null;
      /** The change is without its value, which is the object `after`. */
      readonly isStored?: true;
      /** Only of an undo: beside a file that it brings back, so it is set once the index knows that. */
      readonly ofRestored?: true;
    };

/** The value a metadata change leaves; undefined: nothing. */
export function valueOf(change: MetadataChange): JsonValue | undefined {
  switch (change.kind) {
    case "tag":
      return change.present ? change.tag : undefined;
    case "field":
      return change.value;
    case "sidecar":
      return change.data;
  }
}
