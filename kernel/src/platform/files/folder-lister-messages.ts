/** The messages between `folder-lister.ts` and its worker thread. */
export interface ListerWorkerData {
  readonly root: string;
  readonly hidden: boolean;
  /** A file of this name is read, up to this many bytes. */
  readonly textName: string;
  readonly textBytes: number;
  /** Stands for the text of a file that is too large or unreadable. */
  readonly textOfUnreadable: string;
}

export type ListerRequest =
  /** Folders to list, in this order: the caller's number, and the names on the path from the root. */
  | {
      readonly kind: "list";
      readonly folders: readonly (readonly [number: number, components: readonly string[]])[];
    }
  /** The number of sent entries that the caller has processed. */
  | { readonly kind: "taken"; readonly entries: number };

/** One folder, or a part of a large one. */
export interface ListedPiece {
  readonly number: number;
  /** Null if the folder cannot be opened or read. Otherwise the names, separated by "/". */
  readonly names: string | null;
  readonly count: number;
  readonly isLast: boolean;
  readonly inode: number;
  readonly device: number;
  /** The content of the requested file, in the first piece. */
  readonly text: string | null;
}

export type ListerReply =
  | {
      readonly kind: "listed";
      readonly pieces: readonly ListedPiece[];
      /** `factsPerName` numbers for each name, for all pieces in order. */
      readonly facts: Float64Array<ArrayBuffer>;
    }
  | { readonly kind: "unreadable"; readonly path: string; readonly reason: string };

/** Kind, size, modification time, birth time, inode, device. */
export const factsPerName = 6;
export const kindNumbers = { missing: 0, file: 1, folder: 2, other: 3, unreadable: 4 } as const;

export const listerLimits = {
  /** The approximate number of names per message, which the caller processes in one turn. */
  namesPerMessage: 1500,
  /** The number of unprocessed names at which the thread pauses. */
  namesAhead: 200_000,
} as const;
