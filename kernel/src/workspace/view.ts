import { foldName } from "../base/names.ts";
import { ignoreFileName } from "../platform/files/ignore-file.ts";
import type { IndexView } from "../policy/sight.ts";
import type { Exclusions } from "./exclusions.ts";
import type { Places } from "./places.ts";
import type { Workspace } from "./ports.ts";
import type { EntryTree } from "./tree.ts";

/** Answers, by path, what the index lists and what it would exclude. */
export function indexView(parts: {
  readonly tree: EntryTree;
  readonly places: Places;
  readonly exclusions: Exclusions;
  readonly query: Workspace["query"];
}): IndexView {
  const { tree, places, exclusions, query } = parts;
  const lists = (path: string): boolean => tree.at(path)?.isEntry === true;
  return {
    lists,
    hides: (path) => {
      if (path === "." || tree.at(path) !== undefined) return false;
      const nearest = places.nearest(path);
      if (nearest === null) return true;
      const { folder, names } = nearest;
      // Nothing can exist beneath a listed file.
      if (folder.child(names[0] ?? "") !== undefined) return false;
      try {
        return exclusions.mayExclude(folder, names);
      } finally {
        places.release();
      }
    },
    isRules: (path) => foldName(path.slice(path.lastIndexOf("/") + 1)) === ignoreFileName,
    showsBeneath: async (folder, visible, reach) => {
      const page = await query({ path: `${escaped(folder)}/**`, limit: 1 }, visible, reach);
      return page.items.length > 0;
    },
  };
}

/** Escapes the path to a pattern that matches only itself. */
function escaped(path: string): string {
  return path.replace(/[\\*?[\]{},]/g, "\\$&");
}
