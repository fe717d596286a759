import type { JsonValue } from "../base/json.ts";
import type { Hash } from "../base/vocabulary/common.ts";
import type { EffectInput } from "../base/vocabulary/action.ts";
import type { ProtectedPlaces, Protection } from "../policy/protected.ts";
import type { Edit } from "./text.ts";

/** Where a content is: still in the workspace, or made by an earlier effect. */
export type ContentSource = { readonly path: string } | { readonly bytes: Uint8Array };

/** The new content of a file, by how it is made. */
export type NewContent =
  | { readonly from: "write"; readonly input: Extract<EffectInput, { kind: "file.write" }> }
  | { readonly from: "edits"; readonly edits: readonly Edit[] }
  /**
   * The proposed content, merged into the current content. `base` is the hash of the content that the proposal was made
   * for (null: there was no file). `diff` leads from that base to the proposed content; null: the proposal cannot be
   * merged into another content.
   */
  | {
      readonly from: "merge";
      readonly base: Hash | null;
      readonly proposed: Uint8Array;
      readonly diff: string | null;
    }
  /** The content exists already. `isJson`: it is shown as JSON that people can read. */
  | { readonly from: "content"; readonly bytes: Uint8Array; readonly isJson: boolean }
  /** The file goes. */
  | { readonly from: "nothing" };

export interface ChangeRequest {
  readonly do: "change";
  /** The file's path, as errors and the diff name it. */
  readonly path: string;
  /** Null: there is no file yet. */
  readonly old: ContentSource | null;
  readonly made: NewContent;
  readonly wantsDiff: boolean;
}

export interface ChangedContent {
  readonly before: Hash | null;
  /** Bytes; null where there was no file. */
  readonly sizeBefore: number | null;
  /** Null where the file goes. */
  readonly made: { readonly hash: Hash; readonly bytes: Uint8Array } | null;
  readonly diff?: string;
  /** See `changedShare`. */
  readonly share: number;
  /** A system would run the content that was there, or the one that is made: see `isExecutable`. */
  readonly runs: boolean;
}

export interface HashRequest {
  readonly do: "hash";
  readonly path: string;
  /** What an earlier request for this file left to do. */
  readonly rest: HashRest | null;
}

/** A file that is hashed in several requests, so that others have their turns in between. */
export interface HashRest {
  readonly id: number;
  readonly position: number;
}

/** `lost`: the thread that began is gone. */
export type HashAnswer =
  { readonly hash: Hash | null } | { readonly rest: HashRest } | { readonly lost: true };

export interface ListRequest {
  readonly do: "list";
  readonly folder: string;
  /** Where the folder would go, and what is protected there and here. */
  readonly move: { readonly to: string; readonly places: ProtectedPlaces } | null;
}

export interface FolderListing {
  /** Of names, kinds, sizes and times of everything in it: another hash, something in it has changed. */
  readonly hash: Hash;
  /** Relative to the folder. */
  readonly members: readonly string[];
  readonly files: number;
  /** The permissions of all its files together: a bit is set that one of them has. */
  readonly mode: number;
  /** Of each member, the stricter of its protections at its old and at its new path; empty without a move. */
  readonly protections: readonly Protection[];
}

export interface ValueRequest {
  readonly do: "value";
  /** What is kept beside an entry. */
  readonly value: JsonValue;
}

export interface HashedValue {
  /** Of its canonical JSON. */
  readonly hash: Hash;
  /** That JSON, where it is too long for the ledger. */
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
