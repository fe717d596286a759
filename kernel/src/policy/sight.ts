import type { EntryKind } from "../base/vocabulary/entry.ts";
import type { Authority } from "../base/vocabulary/permissions.ts";
import { foldersAbove, isWithinExactly } from "./paths.ts";
import { isVisible } from "./scope.ts";

/** What the index leaves out and what it lists, by paths. */
export interface IndexView {
  /** An entry of exactly this path is listed. */
  lists(path: string): boolean;
  /**
   * The index leaves out, or would, what has this path or a folder above it: decided by its rules and by names,
   * never by what is there. False where an entry of this path is listed.
   */
  hides(path: string): boolean;
  /** What is there decides what the index leaves out: a .gitignore, in any spelling. */
  isRules(path: string): boolean;
  /** An entry that `visible` lets through is listed beneath the folder. */
  showsBeneath(folder: string, visible: (path: string, kind: EntryKind) => boolean): Promise<boolean>;
}

/**
 * What one agent can see: the one predicate of everything that an agent is answered. What it hides does not exist
 * for the agent, so no answer depends on whether anything is there, or on what it holds.
 */
export interface Sight {
  /** For an entry that the index lists. */
  seesEntry(path: string, kind: EntryKind): boolean;
  /** For any path: nothing hidden has it. What is there, if anything, is the agent's to see. */
  sees(path: string): boolean;
  /**
   * For a path at which something is to be made: nothing hidden has it or stands in the way above it. A folder above
   * is known if the agent sees it or anything beneath it, or was granted something beneath it.
   */
  seesWayTo(path: string): Promise<boolean>;
}

/** The agent's sight at this moment, for one request: answers about folders are remembered. */
export function createSight(authority: Authority, index: IndexView): Sight {
  const seesEntry: Sight["seesEntry"] = (path, kind) => isVisible(authority, path, kind);
  const sees: Sight["sees"] = (path) => isVisible(authority, path, "file") && !index.hides(path);
  const known = new Map<string, Promise<boolean>>();
  const looksBeneath = async (folder: string): Promise<boolean> =>
    index.lists(folder) && (await index.showsBeneath(folder, seesEntry));
  const knows = (folder: string): boolean | Promise<boolean> => {
    if (authority.locations.some((location) => isWithinExactly(folder, location)) || sees(folder))
      return true;
    const answer = known.get(folder) ?? looksBeneath(folder);
    known.set(folder, answer);
    return answer;
  };
  return {
    seesEntry,
    sees,
    seesWayTo: async (path) => {
      if (!sees(path)) return false;
      if (index.lists(path)) return true;
      for (const folder of foldersAbove(path).toReversed()) if (!(await knows(folder))) return false;
      return true;
    },
  };
}
