/** What travels between `folder-lister.ts` and its worker thread. */
export interface ListerWorkerData {
  readonly root: string;
  readonly hidden: boolean;
  /** A file of this name is read, up to so many bytes. */
  readonly textName: string;
  readonly textBytes: number;
  /** Stands for the text of a file that is larger or may not be read. */
  readonly textOfUnreadable: string;
}

export type ListerRequest =
  /** Folders to list, in this order: the caller's number and the names on the way from the root. */
  | {
      readonly kind: "list";
      readonly folders: readonly (readonly [number: number, components: readonly string[]])[];
    }
  /** So many entries of those that were sent are dealt with. */
  | { readonly kind: "taken"; readonly entries: number };

/** One folder, or a piece of a large one. */
export interface ListedPiece {
  readonly number: number;
  /** Null: it cannot be opened or read. Otherwise the names, with "/" between them. */
  readonly names: string | null;
  readonly count: number;
  readonly isLast: boolean;
  /** Of the folder itself. */
  readonly inode: number;
  readonly device: number;
  /** Of the file that was asked for, in the first piece. */
  readonly text: string | null;
}

export type ListerReply =
  | {
      readonly kind: "listed";
      readonly pieces: readonly ListedPiece[];
      /** Of all pieces one after the other, `factsPerName` numbers for each name. */
      readonly facts: Float64Array<ArrayBuffer>;
    }
  | { readonly kind: "unreadable"; readonly path: string; readonly reason: string };

/** Kind, size, time of modification, time of birth, inode, device. */
export const factsPerName = 6;
export const kindNumbers = { missing: 0, file: 1, folder: 2, other: 3, unreadable: 4 } as const;

export const listerLimits = {
  /** Names in one message, more or less: what the caller deals with in one go. */
  namesPerMessage: 1500,
  /** Names sent and not dealt with: the thread waits then. */
  namesAhead: 200_000,
} as const;
