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
import { siblingModule } from "../processes/sibling-module.ts";

/** What was seen in one folder, or in a piece of a large one. Packed: one look may have many thousand names. */
export interface ListedNames {
  readonly names: readonly string[];
  /** `observe` and `matches` of the name at this place in `names`. */
  observed(at: number): Observation | null | "unreadable";
  /** Whether it is a file with these facts; the same as comparing `observed`, without making it. */
  isFile(at: number, facts: Omit<Observation, "kind">): boolean;
}

export interface FolderListing extends ListedNames {
  /** How many names. */
  readonly count: number;
  /** False: more of this folder follows. */
  readonly isLast: boolean;
  /** Of the folder itself. */
  readonly inode: number;
  readonly device: number;
  /** The requested text file, sent with the first piece; null if the folder has no such file. */
  readonly text: string | null;
}

export interface FolderListerEvents {
  /** In the order in which they were asked for. Null: the folder cannot be opened or read (any more). */
  listed(number: number, listing: FolderListing | null): void;
  /** Something beneath the root cannot be read. */
  unreadable(path: string, reason: string): void;
  /** The thread ended by itself; nothing more comes. */
  died(reason: string): void;
}

/**
 * Lists folders beneath a root, with a look at each name, in a thread of its own and by the same rules as
 * `FolderReader`: never through a link. It sends no more than a bounded number of names ahead of those `taken`.
 */
export interface FolderLister extends AsyncDisposable {
  /** Components from the root, by a number of the caller's. */
  list(folders: readonly (readonly [number: number, components: readonly string[]])[]): void;
  /** So many of the names that came are dealt with. */
  taken(names: number): void;
}

const youngGenerationMb = 64;

export function openFolderLister(data: ListerWorkerData, events: FolderListerEvents): FolderLister {
  const worker = new Worker(siblingModule(import.meta.url, "folder-lister-worker"), {
    workerData: data,
    name: "lares-folder-lister",
    execArgv: [],
    // Nearly all it makes is thrown away at once: with this much room that costs next to nothing.
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
  // Whoever waits for a scan keeps the process alive, not the scan.
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
    // Taken apart when it is dealt with, not when it arrives: many may arrive at once.
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
