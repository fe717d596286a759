export type Hash = `sha256:${string}`;
export type Media = "image" | "video" | "audio" | "document" | "text" | "other";
export type EntryKind = "file" | "folder";

/** A file or folder of the workspace as the index knows it. */
export interface Entry {
  /** Stays the same when the entry is moved. */
  readonly id: string;
  /** Relative to the workspace, "/" between names. */
  readonly path: string;
  readonly name: string;
  readonly kind: EntryKind;
  readonly media: Media;
  /** Lower case, without the dot; empty if there is none. */
  readonly extension: string;
  readonly mime: string;
  /** Bytes; 0 for a folder. */
  readonly size: number;
  /** UTC, ISO 8601 with milliseconds. */
  readonly created: string;
  readonly modified: string;
  /** SHA-256 of the content; null until hashed, and for folders. */
  readonly content_id: Hash | null;
  readonly tags: readonly string[];
  /** Custom fields by namespace. */
  readonly fields: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  /** Kinds of sidecar that exist for this entry. */
  readonly sidecars: readonly string[];
  /** The granted folder it was seen through; "." for the whole workspace. */
  readonly location: string;
}

export interface EntryQuery {
  /** Glob over the path. */
  readonly path?: string;
  readonly tag?: string;
  /** A file or folder; a medium means the same as under `media`. */
  readonly kind?: EntryKind | Media;
  readonly media?: Media;
  /** Lower case, no dot. */
  readonly extension?: string;
  /** Occurs in the name, case-insensitively. */
  readonly text?: string;
  /** At most 1,000; default 100. */
  readonly limit?: number;
  /** From the page before. */
  readonly cursor?: string;
}

export interface EntryPage {
  readonly items: readonly Entry[];
  /** Present if there is more. */
  readonly cursor?: string;
}
