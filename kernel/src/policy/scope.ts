import type { EntryKind } from "../base/vocabulary/entry.ts";
import type { Authority } from "../base/vocabulary/permissions.ts";
import { wideningGlob } from "./globs.ts";
import { canonicalPath, isWithinExactly } from "./paths.ts";
import { isAskedFor } from "./permissions.ts";
import { isForbidden } from "./protected.ts";

/** True if the path lies in a folder that was granted, or is one. A path that is not canonical does not. */
export function inGrantedScope(authority: Authority, path: string): boolean {
  const canonical = canonicalPath(path);
  return canonical.ok && authority.locations.some((location) => isWithinExactly(location, canonical.path));
}

/**
 * True if the agent may know of this entry: it may read, the entry lies in a granted folder, passes the
 * permission's own filter, and is nothing that is closed to everybody. Files and folders alike: a filter
 * for pictures hides folders too.
 */
export function isVisible(authority: Authority, path: string, _kind: EntryKind): boolean {
  if (!isAskedFor(authority.effective, "read_entries")) return false;
  if (!authority.locations.some((location) => isWithinExactly(location, path))) return false;
  return passesReadFilter(authority, path) && !isForbidden(path, authority);
}

/** The filter of `read_entries`; a filter that is no valid glob lets nothing through. */
export function passesReadFilter(authority: Authority, path: string): boolean {
  return readFilterOf(authority)(path);
}

// An authority is made anew when a grant changes and asked about once per entry and query in between.
const compiledFilters = new WeakMap<Authority, (path: string) => boolean>();

function readFilterOf(authority: Authority): (path: string) => boolean {
  const known = compiledFilters.get(authority);
  if (known !== undefined) return known;
  const permission = authority.effective.read_entries;
  const pattern = typeof permission === "object" ? permission.filter : undefined;
  const matches =
    pattern === undefined
      ? (): boolean => true
      : wideningGlob(pattern, { ignoreCase: true, matchBase: true });
  compiledFilters.set(authority, matches);
  return matches;
}
