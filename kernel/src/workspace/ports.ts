import type { Clock } from "../base/clock.ts";
import type { JsonValue } from "../base/json.ts";
import type { Log } from "../base/log.ts";
import type { Hash } from "../base/vocabulary/common.ts";
import type { Entry, EntryKind, EntryPage, EntryQuery } from "../base/vocabulary/entry.ts";
import type { EntryChange } from "../base/vocabulary/event.ts";
import type { EntryMetadata, MetadataChange } from "../base/vocabulary/metadata.ts";
import type { IndexView, Reach } from "../policy/sight.ts";
import type { Database, Statement } from "../platform/database/database.ts";

/** For actions, which change metadata inside their own transaction. */
export interface MetadataAccess {
  /** Returns null for a path without an entry. */
  current(path: string): EntryMetadata | null;
  sidecar(path: string, sidecar: string): Promise<{ readonly data: JsonValue } | null>;
  /** Returns all metadata of the entry, as changes that attach it again; empty for a path without an entry. */
  kept(path: string): Promise<readonly MetadataChange[]>;
  /**
   * Returns statements that store these changes for entries that are about to be restored; call `applied` once they are
   * stored. They take effect when the index has the entry: at the next `touched`, or once the index is complete after a
   * start.
   */
  restore(changes: readonly MetadataChange[]): readonly Statement[];
  /**
   * Returns statements for the caller's batch that store this change and deliver TagAdded or TagRemoved. If the path
   * has no entry yet, looks for a file that was just created. Throws NotFound for a path without an entry, and
   * LimitExceeded for a value that is too large or for too many values, counted on the metadata before this action.
   */
  statements(change: MetadataChange): readonly Statement[];
  /** Makes a change visible whose statements were stored; takes the same object. */
  applied(change: MetadataChange): void;
}

export interface WorkspaceOptions {
  /** At least one. With several roots, every path begins with its root's name. */
  readonly roots: readonly { readonly name: string; readonly path: string }[];
  /** Absolute; never listed, wherever it lies. */
  readonly stateFolder: string;
  readonly index: {
    /** List files and folders whose names begin with a dot, too. */
    readonly hidden: boolean;
    /** Globs over paths (over base names if they have no "/") that are excluded in addition to .gitignore. */
    readonly ignore: readonly string[];
  };
}

/** The part of a rooted file system that this room needs: reading, never through a link. */
export interface FileReads extends Disposable {
  readRange(path: string, offset: number, length: number): Promise<{ bytes: Uint8Array; eof: boolean }>;
  /** Rejects with the signal's reason when the signal is aborted. */
  hashFile(path: string, signal?: AbortSignal): Promise<Hash | null>;
}

export interface WorkspacePorts {
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Log;
  open(root: string): Promise<FileReads>;
  /**
   * Called synchronously before changes are stored, in their order. The statements join the transaction of the index's
   * rows; `committed` is called after the commit, when queries show the change.
   */
  deliver(changes: readonly EntryChange[]): {
    readonly statements: readonly Statement[];
    committed(): void;
  };
  /** A scan of the whole workspace has ended and its results are stored: at every start, and after a rescan. */
  indexed(run: { entries: number; durationMs: number }): void;
  /** A missing root exists again, or was replaced by another folder: other watchers of it must start again. */
  rootReturned(path: string): void;
}

/** Returns true if the caller may know of this path. */
export type Visibility = (path: string, kind: EntryKind) => boolean;

export interface Workspace extends AsyncDisposable {
  readonly roots: readonly { readonly name: string; readonly path: string }[];
  /** Loads the stored index and begins to scan and watch. Resolves when that has begun, not when it is done. */
  start(): Promise<void>;
  /** `complete`: the first scan is stored and the watcher runs, so every later change is an event. */
  status(): { entries: number; complete: boolean };
  /** Looks whether the roots exist. Returns the paths of those that do not; their return is noticed. */
  missingRoots(): readonly string[];
  /** Resolves when the first scan is stored; `status().complete` is true then. */
  readonly indexed: Promise<void>;
  /** True if nothing is going on. A file written at this very moment may not have been noticed yet. */
  readonly isIdle: boolean;
  /** Resolves when nothing is going on: no scan, no hint, no hashing, no unstored change. */
  idle(): Promise<void>;
  /**
   * Returns entries in path order. InvalidParams for an invalid glob or limit. Works in slices and lets others run in
   * between: an entry that changes meanwhile may or may not be returned, an unchanged one is returned exactly once.
   * Looks only inside `reach`, which must cover everything that `visible` accepts.
   */
  query(query: EntryQuery, visible: Visibility, reach?: Reach, signal?: AbortSignal): Promise<EntryPage>;
  /** Like `query`, ends with the signal's reason when it is aborted. */
  count(query: EntryQuery, visible: Visibility, reach?: Reach, signal?: AbortSignal): Promise<number>;
  /** Counts the listed files in the folder, at any depth, up to `atMost`. "." is the whole workspace. */
  filesIn(folder: string, atMost: number): Promise<number>;
  get(ref: { path: string } | { id: string }, visible: Visibility): Entry | null;
  /**
   * Throws NotFound if the path is not a visible file of the index, LimitExceeded for more than 262,144 bytes. While
   * the first scan runs, waits for paths that the index does not have yet.
   */
  read(
    path: string,
    offset: number,
    length: number,
    visible: Visibility,
  ): Promise<{ bytes: Uint8Array; eof: boolean }>;
  readSidecar(path: string, sidecar: string): Promise<{ readonly data: JsonValue } | null>;
  /** Returns the files with exactly this content: their count, and at most 1,000 paths in path order. */
  copies(contentId: string, visible: Visibility): { count: number; paths: string[] };
  readonly view: IndexView;
  allEntries(): Iterable<Entry>;
  readonly metadata: MetadataAccess;
  /** Looks at these paths now, even if they have not settled. Resolves when changes are stored and delivered. */
  touched(paths: readonly string[]): Promise<void>;
  /** Looks at everything again, as after an overflow of the watcher. Resolves when the changes are stored. */
  rescan(): Promise<void>;
}
