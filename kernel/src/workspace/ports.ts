import type { Clock } from "../base/clock.ts";
import type { JsonValue } from "../base/json.ts";
import type { Log } from "../base/log.ts";
import type { Hash } from "../base/vocabulary/common.ts";
import type { Entry, EntryKind, EntryPage, EntryQuery } from "../base/vocabulary/entry.ts";
import type { EntryChange } from "../base/vocabulary/event.ts";
import type { IndexView } from "../policy/sight.ts";
import type { Database, Statement } from "../platform/database.ts";
import type { MetadataAccess } from "./metadata.ts";

export interface WorkspaceOptions {
  /** At least one. With several, every path begins with its root's name. */
  readonly roots: readonly { readonly name: string; readonly path: string }[];
  /** Absolute; never listed, wherever it lies. */
  readonly stateFolder: string;
  readonly index: {
    /** List files and folders whose name begins with a dot too. */
    readonly hidden: boolean;
    /** Globs over paths (over base names where they have no "/") that are left out, besides .gitignore. */
    readonly ignore: readonly string[];
  };
}

/** What this room needs of a rooted file system: reading, never through a link. */
export interface FileReads extends Disposable {
  readRange(path: string, offset: number, length: number): Promise<{ bytes: Uint8Array; eof: boolean }>;
  /** Ends with the signal's reason when that is aborted. */
  hashFile(path: string, signal?: AbortSignal): Promise<Hash | null>;
}

export interface WorkspacePorts {
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Log;
  open(root: string): Promise<FileReads>;
  /**
   * Called synchronously before changes are stored, in their order; the statements join the same
   * transaction as the index's rows; `committed` is called after the commit, when queries see the change.
   */
  deliver(changes: readonly EntryChange[]): {
    readonly statements: readonly Statement[];
    committed(): void;
  };
  /** A run over the whole workspace ended and all it found is stored: at every start, and after a rescan. */
  indexed(run: { entries: number; durationMs: number }): void;
  /** A root that was gone is there again, or another folder has its place: whoever else watches it begins anew. */
  rootReturned(path: string): void;
}

/** Whether the asker may know of this path at all. */
export type Visibility = (path: string, kind: EntryKind) => boolean;

export interface Workspace extends AsyncDisposable {
  readonly roots: readonly { readonly name: string; readonly path: string }[];
  /** Loads what is stored and begins to scan and watch; resolves when that has begun, not when it is done. */
  start(): Promise<void>;
  /** `complete`: the first scan is stored and the watcher runs, so every later change is an event. */
  status(): { entries: number; complete: boolean };
  /** Resolves when the first scan is stored; `status().complete` is true then. */
  readonly indexed: Promise<void>;
  /** Nothing is going on now; what was written this very moment may not have been heard of yet. */
  readonly isIdle: boolean;
  /** Resolves when nothing is going on: no scan, no hint, no hashing, nothing waiting to be stored. */
  idle(): Promise<void>;
  /**
   * In path order; InvalidParams for a glob or limit that is none. Works in slices and lets others run in
   * between: what changes meanwhile may or may not be in the answer, what did not change is in it once.
   */
  query(query: EntryQuery, visible: Visibility): Promise<EntryPage>;
  count(query: EntryQuery, visible: Visibility): Promise<number>;
  get(ref: { path: string } | { id: string }, visible: Visibility): Entry | null;
  /**
   * Throws NotFound if the path is not a visible file of the index, LimitExceeded for more than 262,144 bytes. While the
   * first scan runs, waits for paths that the index does not know yet.
   */
  read(
    path: string,
    offset: number,
    length: number,
    visible: Visibility,
  ): Promise<{ bytes: Uint8Array; eof: boolean }>;
  readSidecar(path: string, sidecar: string): Promise<{ readonly data: JsonValue } | null>;
  /** Files of this very content; at most 1,000 paths, in path order. */
  copies(contentId: string, visible: Visibility): { count: number; paths: string[] };
  readonly view: IndexView;
  allEntries(): Iterable<Entry>;
  readonly metadata: MetadataAccess;
  /** Looks at these paths now, without waiting for them to settle; resolves when what changed is stored and delivered. */
  touched(paths: readonly string[]): Promise<void>;
  /** Looks at everything again, as after an overflow of the watcher; resolves when what changed is stored. */
  rescan(): Promise<void>;
}
