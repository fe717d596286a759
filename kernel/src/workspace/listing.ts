import type { Log } from "../base/log.ts";
import type { Observation, OpenFolder } from "../platform/folder-reader.ts";
import type { Exclusions } from "./exclusions.ts";
import { isAlwaysExcluded } from "./ignore-rules.ts";
import { workspaceLimits } from "./limits.ts";
import { Places } from "./places.ts";
import type { EntryNode } from "./tree.ts";

/** What one look into a folder shows. */
export interface FolderListing {
  readonly seen: readonly { readonly name: string; readonly observed: Observation | null }[];
  /** Known children whose names are no longer there. */
  readonly absent: readonly EntryNode[];
}

/** Lists an open folder and takes its .gitignore; null when it cannot be read. */
export function readListing(
  folder: EntryNode,
  open: OpenFolder,
  ports: { readonly places: Places; readonly exclusions: Exclusions; readonly log: Log },
): FolderListing | null {
  const names = open.names();
  if (names === null) return null;
  const { exclusions, log } = ports;
  exclusions.readRules(folder, open, names);
  const isDeepest = ports.places.depthOf(folder) >= workspaceLimits.depth;
  const seen: { name: string; observed: Observation | null }[] = [];
  let unseenChildren = folder.children?.size ?? 0;
  for (const name of names) {
    if (folder.child(name) !== undefined) unseenChildren--;
    if (isAlwaysExcluded(name) || exclusions.isNeverOfInterest(name)) continue;
    const observed = open.observe(name);
    if (observed === "unreadable") continue;
    if (observed === null && name.includes("\uFFFD")) {
      log.warn("A name that is not valid UTF-8 is left out.", { path: Places.pathIn(folder, name) });
    } else if (observed?.kind === "folder" && isDeepest) {
      log.warn("A folder lies too deep and is left out.", { path: Places.pathIn(folder, name) });
    } else seen.push({ name, observed });
  }
  if (unseenChildren === 0 || folder.children === null) return { seen, absent: [] };
  const present = new Set(names);
  return { seen, absent: [...folder.children.values()].filter((child) => !present.has(child.name)) };
}
