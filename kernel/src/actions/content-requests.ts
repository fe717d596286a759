import type { JsonValue } from "../base/json.ts";
import type { Hash } from "../base/vocabulary/common.ts";
import type { EffectInput } from "../base/vocabulary/action.ts";
import type { ProtectedPlaces, Protection } from "../policy/protected.ts";
import type { Edit } from "./text.ts";

/** Where to read a content: still in the workspace, or created by an earlier effect. */
export type ContentSource = { readonly path: string } | { readonly bytes: Uint8Array };

/** The new content of a file, by how it is created. */
export type NewContent =
  | { readonly from: "write"; readonly input: Extract<EffectInput, { kind: "file.write" }> }
  | { readonly from: "edits"; readonly edits: readonly Edit[] }
  /**
   * The proposed content, merged into the current content. `base` is the hash of the content that the proposal was made
   * for (null if there was no file). `diff` leads from that base to the proposed content; without it (null) the
   * proposal cannot be merged.
   */
  | {
      readonly from: "merge";
      readonly base: Hash | null;
      readonly proposed: Uint8Array;
      readonly diff: string | null;
    }
  /** The content exists already. `isJson`: it is shown as formatted JSON. */
  | { readonly from: "content"; readonly bytes: Uint8Array; readonly isJson: boolean }
  /** The file is removed. */
  | { readonly from: "nothing" };

export interface ChangeRequest {
  readonly do: "change";
  /** The path of the file, for errors and the diff. */
  readonly path: string;
  /** Null if the file does not exist yet. */
  readonly old: ContentSource | null;
  readonly made: NewContent;
  readonly wantsDiff: boolean;
}

export interface ChangedContent {
  readonly before: Hash | null;
  /** In bytes; null if there was no file. */
  readonly sizeBefore: number | null;
  /** Null if the file is removed. */
  readonly made: { readonly hash: Hash; readonly bytes: Uint8Array } | null;
  readonly diff?: string;
  /** See `changedShare`. */
  readonly share: number;
  /** True if the system would execute the old or the new content: see `isExecutable`. */
  readonly runs: boolean;
}

export interface HashRequest {
  readonly do: "hash";
  readonly path: string;
  /** The state returned by the previous request for this file. */
  readonly rest: HashRest | null;
}

/** A file that is hashed in several requests, so that other requests get a turn in between. */
export interface HashRest {
  readonly id: number;
  readonly position: number;
}

/** `lost`: the thread that had begun the hash is gone. */
export type HashAnswer =
  { readonly hash: Hash | null } | { readonly rest: HashRest } | { readonly lost: true };

export interface ListRequest {
  readonly do: "list";
  readonly folder: string;
  /** The target of the move, and the protected places at both ends. */
  readonly move: { readonly to: string; readonly places: ProtectedPlaces } | null;
}

export interface FolderListing {
  /**
   * A hash over the names, kinds, sizes and times of all members: if it differs, something in the folder has changed.
   */
  readonly hash: Hash;
  /** Relative to the folder. */
  readonly members: readonly string[];
  readonly files: number;
  /** The permission bits of all files, combined by OR. */
  readonly mode: number;
  /** For each member, the stricter of its protections at the old and the new path; empty without a move. */
  readonly protections: readonly Protection[];
}

interface ValueRequest {
  readonly do: "value";
  /** The metadata value. */
  readonly value: JsonValue;
}

export interface HashedValue {
  /** The hash of its canonical JSON. */
  readonly hash: Hash;
  /** That JSON, if it is too long for the ledger. */
  readonly content: Uint8Array | null;
}

/** Asks whether a script of a package runs one of these files. */
export interface ScriptsRequest {
  readonly do: "scripts";
  /** The path of the `package.json`. */
  readonly path: string;
  /** Relative to the folder of the `package.json`. */
  readonly files: readonly string[];
}

export type ContentRequest = ChangeRequest | HashRequest | ListRequest | ValueRequest | ScriptsRequest;

export interface ContentWorkerData {
  readonly roots: readonly { readonly name: string; readonly path: string }[];
}
