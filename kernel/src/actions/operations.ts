import type { JsonValue } from "../base/json.ts";
import type { Hash } from "../base/vocabulary/common.ts";
import type { MetadataChange } from "../base/vocabulary/metadata.ts";

/**
 * What an action does, independent of how it was proposed. Each operation names the state that it starts from, so that
 * the commit can compare it with the workspace. An undo is a list of the same operations.
 */
export type Operation =
  | {
      readonly do: "put";
      readonly path: string;
      /** Null: the path must be free. */
      readonly before: Hash | null;
      /** The hash of an object in the store. */
      readonly after: Hash;
      /** Restored by an undo; otherwise the mode of the replaced file and the time of the commit. */
      readonly mode?: number;
      readonly mtimeMs?: number;
    }
  | {
      readonly do: "remove";
      readonly path: string;
      readonly before: Hash;
      /** Another file with this content, which lowered the impact score of the delete. */
      readonly remains?: string;
    }
  | {
      readonly do: "move";
      readonly from: string;
      readonly to: string;
      readonly kind: "file" | "folder";
      /** The hash of the file, or of the folder's listing. */
      readonly content: Hash;
    }
  | { readonly do: "mkdir"; readonly path: string }
  /** Only in an undo: a folder that the action created. It stays if it has contents by now. */
  | { readonly do: "rmdir"; readonly path: string }
  | {
      readonly do: "metadata";
      readonly change: MetadataChange;
      readonly before: Hash | null;
      readonly after: Hash | null;
      /** The change has no value; its value is the object `after`. */
      readonly isStored?: true;
      /** Only in an undo: metadata of a file that it restores, set once the index has the file. */
      readonly ofRestored?: true;
    };

/** Returns the value that a metadata change sets; undefined if it removes one. */
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
