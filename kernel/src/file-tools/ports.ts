import type { Action, ProposalRequest } from "../base/vocabulary/action.ts";
import type { Entry, EntryPage, EntryQuery } from "../base/vocabulary/entry.ts";
import type { ProcessPrincipal } from "../base/vocabulary/principal.ts";
import type { Clock } from "../base/clock.ts";
import type { FileTool } from "./definitions.ts";
import type { OwnTexts } from "./own-texts.ts";

/** The workspace as one process may see and change it. Each method is a host call: it is decided each time. */
export interface FileAccess {
  /** The names with which paths begin, if the workspace has several root folders. They are not entries. */
  readonly roots: readonly string[];
  get(path: string): Promise<Entry | null>;
  query(query: EntryQuery): Promise<EntryPage>;
  count(query: EntryQuery): Promise<number>;
  /** Returns a piece of a file, in bytes. NotFound; ScopeViolation for a link. */
  read(
    path: string,
    offset: number,
    length: number,
  ): Promise<{ readonly bytes: Uint8Array; readonly eof: boolean }>;
  propose(proposal: ProposalRequest): Promise<Action>;
  /** Returns the action once it has ended. */
  settled(id: string): Promise<Action>;
}

/**
 * A file that a result, an error or a note names, or whose content it gives. Where a text comes from is worked out from
 * these alone.
 */
export interface ShownFile {
  readonly path: string;
  /** The hash of the content that was read: no other content of the file was shown. */
  readonly read?: string;
  /** The hash that the index had for it before it was read; it may be the one that was read, or not. */
  readonly listed?: string | null;
}

/** Adds up the hash of a content that is read piece by piece. */
export interface ContentSum {
  add(bytes: Uint8Array): void;
  hash(): string;
}

/** The workspace as one call sees it. */
export interface FilesOfCall extends FileAccess {
  /**
   * Every file that the call's outcome names or tells something of is passed here. A name that the caller gave tells it
   * nothing, unless there is such a file.
   */
  show(file: ShownFile): void;
  sum(): ContentSum;
}

export interface FileToolPorts {
  /** Returns what the process may do. Reads and waits end when the signal is aborted; a proposal does not. */
  accessOf(principal: ProcessPrincipal, signal: AbortSignal): FileAccess;
  /** Returns what of the workspace makes up the process's mind. */
  ownTextsOf(principal: ProcessPrincipal): OwnTexts;
  /** Throws ToolError if the arguments do not fit the schema. */
  check(tool: FileTool, args: unknown): void;
  /** Returns an empty sum, whose hashes are like those of the index. */
  sum(): ContentSum;
  readonly clock: Pick<Clock, "monotonic">;
}

export interface FileToolOptions {
  /** Names the call: a change that is proposed again with the same key is not made again. At most 256 characters. */
  readonly key: string;
  /** Aborted when the process no longer waits. */
  readonly signal: AbortSignal;
  /** Receives, before the result, each file that it shows. */
  readonly show: (file: ShownFile) => void;
}
