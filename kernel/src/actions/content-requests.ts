import type { JsonValue } from "../base/json.ts";
import type { Hash } from "../base/vocabulary/common.ts";
import type { EffectInput } from "../base/vocabulary/action.ts";
import type { ProtectedPlaces, Protection } from "../policy/protected.ts";
import type { Edit } from "./text.ts";

/** Where a content is: still in the workspace, or made by an earlier effect. */
export type ContentSource = { readonly path: string } | { readonly bytes: Uint8Array };

/** What becomes of a content. */
export type NewContent =
  | { readonly from: "write"; readonly input: Extract<EffectInput, { kind: "file.write" }> }
  | { readonly from: "edits"; readonly edits: readonly Edit[] }
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
  /** The strictest protection of the members, at their old and their new paths; "none" without a move. */
  readonly protection: Protection;
  /** The first member that is closed to everybody. */
  readonly forbidden: string | null;
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

export type ContentRequest = ChangeRequest | HashRequest | ListRequest | ValueRequest;

export interface ContentWorkerData {
  readonly roots: readonly { readonly name: string; readonly path: string }[];
}
