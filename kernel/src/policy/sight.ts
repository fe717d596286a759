import type { EntryKind } from "../base/vocabulary/entry.ts";
import type { Authority } from "../base/vocabulary/permissions.ts";
import { foldersAbove, isWithinExactly } from "./paths.ts";
import { isAskedFor } from "./permissions.ts";
import { everyone, isVisible, readEndings } from "./scope.ts";

/** What the index excludes and what it lists, by path. */
export interface IndexView {
  /** True if an entry with exactly this path is listed. */
  lists(path: string): boolean;
  /**
   * True if the index excludes, or would exclude, this path or a folder above it. Decided by its rules and by names,
   * never by what exists. False if an entry with this path is listed.
   */
  hides(path: string): boolean;
  /** True if the path decides what the index excludes: a .gitignore, in any spelling. */
  isRules(path: string): boolean;
  /** True if an entry that `visible` accepts, and that lies within `reach`, is listed beneath the folder. */
  showsBeneath(
    folder: string,
    visible: (path: string, kind: EntryKind) => boolean,
    reach: Reach,
  ): Promise<boolean>;
}

/**
 * Bounds the area in which a caller can see anything, so that nothing else has to be examined: otherwise the time of an
 * answer would reveal how much exists elsewhere. It does not decide; `Sight.seesEntry` does.
 */
export interface Reach {
  /** Folders or files; "." is everything. */
  readonly folders: readonly string[];
  /** What the names end with after their last dot, in lower case and ASCII; null for any ending. */
  readonly endings: readonly string[] | null;
}

/**
 * What one agent can see: the only predicate for everything that an agent is answered. What it hides does not exist for
 * the agent, so no answer depends on whether something exists there, or on its content.
 */
export interface Sight {
  readonly reach: Reach;
  /** For an entry that the index lists. */
  seesEntry(path: string, kind: EntryKind): boolean;
  /** For any path: true if nothing hidden has this path, so the agent may see whatever exists there. */
  sees(path: string): boolean;
  /**
   * For a path at which something is to be created: true if nothing hidden has this path or blocks it from above. A
   * folder above is known if the agent sees it or anything beneath it, or was granted something beneath it.
   */
  seesWayTo(path: string): Promise<boolean>;
}

/** Returns the agent's current sight, for one request: answers about folders are cached. */
export function createSight(authority: Authority, index: IndexView): Sight {
  const seesEntry: Sight["seesEntry"] = (path, kind) => isVisible(authority, path, kind);
  const sees: Sight["sees"] = (path) => isVisible(authority, path, "file") && !index.hides(path);
  const reach = reachOf(authority);
  const known = new Map<string, Promise<boolean>>();
  const looksBeneath = async (folder: string): Promise<boolean> =>
    index.lists(folder) && (await index.showsBeneath(folder, seesEntry, reach));
  const knows = (folder: string): boolean | Promise<boolean> => {
    const wasGrantedBeneath = everyone(authority, ({ locations }) =>
      locations.some((location) => isWithinExactly(folder, location)),
    );
    if (wasGrantedBeneath || sees(folder)) return true;
    const answer = known.get(folder) ?? looksBeneath(folder);
    known.set(folder, answer);
    return answer;
  };
  return {
    reach,
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

function reachOf(authority: Authority): Reach {
  if (!isAskedFor(authority.effective, "read_entries")) return { folders: [], endings: null };
  return { folders: authority.locations, endings: readEndings(authority) };
}
