import { Worker } from "node:worker_threads";
import { messageOf } from "../../base/errors.ts";
import {
  factsPerName,
  kindNumbers,
  type ListedPiece,
  type ListerReply,
  type ListerRequest,
  type ListerWorkerData,
} from "./folder-lister-messages.ts";
import type { Observation } from "./folder-reader.ts";
import { siblingModule } from "./sibling-module.ts";

/** Observations of one folder, or of a part of a large one. Packed, because a folder may have many thousand names. */
export interface ListedNames {
  readonly names: readonly string[];
  /** `observe` and `matches` for the name at this index of `names`. */
  observed(at: number): Observation | null | "unreadable";
  /** Returns true if it is a file with these facts; like comparing `observed`, but without allocating it. */
  isFile(at: number, facts: Omit<Observation, "kind">): boolean;
}

export interface FolderListing extends ListedNames {
  readonly count: number;
  /** False if more of this folder follows. */
  readonly isLast: boolean;
  readonly inode: number;
  readonly device: number;
  /** The requested text file, sent with the first piece; null if the folder has no such file. */
  readonly text: string | null;
}

export interface FolderListerEvents {
  /** In the order of the requests. Null: the folder cannot be opened or read (any more). */
  listed(number: number, listing: FolderListing | null): void;
  /** Something beneath the root cannot be read. */
  unreadable(path: string, reason: string): void;
  /** The thread ended unexpectedly; nothing more arrives. */
  died(reason: string): void;
}

/**
 * Lists folders beneath a root and observes each name, in a separate thread and by the rules of `FolderReader`:
 * never through a link. The number of names that it sends ahead of `taken` is bounded.
 */
export interface FolderLister extends AsyncDisposable {
  /** Each folder is given by a number of the caller's and its components from the root. */
  list(folders: readonly (readonly [number: number, components: readonly string[]])[]): void;
  /** Reports how many of the received names were processed. */
  taken(names: number): void;
}

const youngGenerationMb = 64;

export function openFolderLister(data: ListerWorkerData, events: FolderListerEvents): FolderLister {
  const worker = new Worker(siblingModule(import.meta.url, "folder-lister-worker"), {
    workerData: data,
    name: "lares-folder-lister",
    execArgv: [],
    // Nearly everything it allocates is discarded at once, which this much room makes cheap.
    resourceLimits: { maxYoungGenerationSizeMb: youngGenerationMb },
  });
  let isClosed = false;
  const died = (reason: string): void => {
    if (isClosed) return;
    isClosed = true;
    events.died(reason);
  };
  worker.on("message", (reply: ListerReply) => {
    if (isClosed) return;
    if (reply.kind === "unreadable") return events.unreadable(reply.path, reply.reason);
    let offset = 0;
    for (const piece of reply.pieces) {
      events.listed(piece.number, listingOf(piece, reply.facts, offset));
      offset += piece.count * factsPerName;
    }
  });
  worker.on("error", (error) => died(messageOf(error)));
  const exited = new Promise<void>((resolve) => {
    worker.once("exit", (code) => {
      died(`its thread ended with code ${code}`);
      resolve();
    });
  });
  // A caller that waits for a scan keeps the process alive; the scan itself does not.
  worker.unref();
  const post = (request: ListerRequest): void => {
    if (!isClosed) worker.postMessage(request);
  };
  return {
    list: (folders) => post({ kind: "list", folders }),
    taken: (entries) => post({ kind: "taken", entries }),
    [Symbol.asyncDispose]: async () => {
      isClosed = true;
      await worker.terminate();
      await exited;
    },
  };
}

const kinds = {
  [kindNumbers.file]: "file",
  [kindNumbers.folder]: "folder",
  [kindNumbers.other]: "other",
} as const;

function listingOf(piece: ListedPiece, facts: Float64Array, offset: number): FolderListing | null {
  if (piece.names === null) return null;
  const fact = (at: number, which: number): number => facts[offset + at * factsPerName + which] ?? Number.NaN;
  const { names } = piece;
  let split: readonly string[] | null = null;
  return {
    // Parsed when it is processed, because many messages may arrive at once.
    get names() {
      return (split ??= piece.count === 0 ? [] : names.split("/"));
    },
    count: piece.count,
    isLast: piece.isLast,
    inode: piece.inode,
    device: piece.device,
    text: piece.text,
    observed: (at) => {
      const number = fact(at, 0);
      if (number === kindNumbers.unreadable) return "unreadable";
      const kind = kinds[number as keyof typeof kinds] ?? null;
      if (kind === null) return null;
      return {
        kind,
        size: fact(at, 1),
        mtimeMs: fact(at, 2),
        birthtimeMs: fact(at, 3),
        inode: fact(at, 4),
        device: fact(at, 5),
      };
    },
    isFile: (at, known) =>
      fact(at, 0) === kindNumbers.file &&
      fact(at, 1) === known.size &&
      fact(at, 2) === known.mtimeMs &&
      fact(at, 4) === known.inode &&
      fact(at, 5) === known.device,
  };
}
