import type { Log } from "../base/log.ts";
import type { ListedNames } from "../platform/files/folder-lister.ts";
import type { Observation, OpenFolder } from "../platform/files/folder-reader.ts";
import type { Exclusions } from "./exclusions.ts";
import { isAlwaysExcluded } from "./ignore-rules.ts";
import { workspaceLimits } from "./limits.ts";
import type { MissingEntries } from "./missing.ts";
import { Places } from "./places.ts";
import { isUnchanged, type EntryNode } from "./tree.ts";

export interface ListingPorts {
  readonly places: Places;
  readonly exclusions: Exclusions;
  readonly missing: MissingEntries;
  readonly log: Log;
}

/** Compares the listing of a folder with the index and finds the names that need a decision. */
export class FolderComparison {
  readonly #folder: EntryNode;
  readonly #ports: ListingPorts;
  /** Names that changed since the listing; it does not count for them. */
  readonly #outdated: ReadonlySet<string>;
  readonly #pieces: (readonly string[])[] = [];
  #knownSeen = 0;

  constructor(folder: EntryNode, ports: ListingPorts, outdated: ReadonlySet<string> = new Set()) {
    this.#folder = folder;
    this.#ports = ports;
    this.#outdated = outdated;
  }

  /** Returns those of the names that may be new or changed. The folder's rules must be loaded. */
  seen(listed: ListedNames): { readonly name: string; readonly observed: Observation | null }[] {
    const { places, exclusions, missing, log } = this.#ports;
    const folder = this.#folder;
    const isDeepest = places.depthOf(folder) >= workspaceLimits.depth;
    const mayExclude = exclusions.mayExcludeIn(folder);
    const seen: { name: string; observed: Observation | null }[] = [];
    const { names } = listed;
    this.#pieces.push(names);
    for (let at = 0; at < names.length; at++) {
      const name = names[at] ?? "";
      const known = folder.child(name);
      if (known !== undefined) {
        this.#knownSeen++;
        // By far the most common case; it allocates nothing.
        if (known.kind === "file" && !mayExclude && listed.isFile(at, known) && !missing.has(known)) continue;
      }
      if (isAlwaysExcluded(name) || exclusions.isNeverOfInterest(name) || this.#outdated.has(name)) continue;
      const observed = listed.observed(at);
      if (observed === "unreadable") continue;
      if (observed === null && name.includes("\uFFFD")) {
        log.warn("A name is not valid UTF-8 and is ignored.", { path: Places.pathIn(folder, name) });
      } else if (observed?.kind === "folder" && isDeepest) {
        log.warn("A folder is nested too deeply and is ignored.", { path: Places.pathIn(folder, name) });
      } else seen.push({ name, observed });
    }
    return seen;
  }

  /** Returns the known children whose names no longer exist. Call it after `seen` got all names. */
  absent(): readonly EntryNode[] {
    const children = this.#folder.children;
    if (children === null || children.size === this.#knownSeen) return [];
    const present = new Set(this.#pieces.flat());
    return [...children.values()].filter(({ name }) => !present.has(name) && !this.#outdated.has(name));
  }
}

/** Lists an open folder synchronously; null if it cannot be read. */
export function listNow(open: OpenFolder): ListedNames | null {
  const names = open.names();
  if (names === null) return null;
  return {
    names,
    observed: (at) => open.observe(names[at] ?? ""),
    isFile: (at, known) => {
      const observed = open.observe(names[at] ?? "");
      return (
        observed !== null &&
        observed !== "unreadable" &&
        observed.kind === "file" &&
        isUnchanged(known, observed)
      );
    },
  };
}
