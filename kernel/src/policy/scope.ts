import type { EntryKind } from "../base/vocabulary/entry.ts";
import type { Authority } from "../base/vocabulary/permissions.ts";
import { literalEndings, wideningGlob } from "./globs.ts";
import { canonicalPath, isWithinExactly } from "./paths.ts";
import { isAskedFor } from "./permissions.ts";
import { isForbidden } from "./protected.ts";

/** True if the path is, or lies in, a granted folder. False if it is not canonical. */
export function inGrantedScope(authority: Authority, path: string): boolean {
  const canonical = canonicalPath(path);
  if (!canonical.ok) return false;
  return everyone(authority, ({ locations }) =>
    locations.some((location) => isWithinExactly(location, canonical.path)),
  );
}

/**
 * True if the agent may know of this entry: it has the permission to read, and the entry lies in a granted folder,
 * passes the permission's own filter and is not forbidden. The same holds for folders: a filter for pictures hides
 * folders, too.
 */
export function isVisible(authority: Authority, path: string, _kind: EntryKind): boolean {
  return everyone(authority, (one) => {
    if (!isAskedFor(one.effective, "read_entries")) return false;
    if (!one.locations.some((location) => isWithinExactly(location, path))) return false;
    return passesReadFilter(one, path) && !isForbidden(path, one);
  });
}

/** True if it holds for the agent and for each agent on whose behalf it acts. */
export function everyone(authority: Authority, holds: (authority: Authority) => boolean): boolean {
  return holds(authority) && (authority.onBehalfOf?.every((caller) => holds(caller)) ?? true);
}

/** True if whatever the other one may read, this one may read too, as far as that can be said of any file. */
export function readsAllOf(one: Authority, other: Authority): boolean {
  return (
    !isAskedFor(other.effective, "read_entries") ||
    (isAskedFor(one.effective, "read_entries") &&
      other.locations.every((place) => one.locations.some((location) => isWithinExactly(location, place))) &&
      [undefined, filterOf(other)].includes(filterOf(one)) &&
      one.forbiddenPaths.every((path) => other.forbiddenPaths.includes(path)))
  );
}

function filterOf({ effective: { read_entries: permission } }: Authority): string | undefined {
  return typeof permission === "object" ? permission.filter : undefined;
}

/** Applies the filter of `read_entries`. An invalid glob lets nothing pass. */
export function passesReadFilter(authority: Authority, path: string): boolean {
  return readFilterOf(authority)(path);
}

// An authority is recreated when a grant changes, and is used for each entry and query until then.
const compiledFilters = new WeakMap<Authority, (path: string) => boolean>();

function readFilterOf(authority: Authority): (path: string) => boolean {
  const known = compiledFilters.get(authority);
  if (known !== undefined) return known;
  const pattern = filterOf(authority);
  const matches =
    pattern === undefined
      ? (): boolean => true
      : wideningGlob(pattern, { ignoreCase: true, matchBase: true });
  compiledFilters.set(authority, matches);
  return matches;
}

/**
 * Returns the endings of names that the filter of `read_entries` lets pass; null if there is no filter, or if it does
 * not determine them.
 */
export function readEndings(authority: Authority): readonly string[] | null {
  const pattern = filterOf(authority);
  return pattern === undefined ? null : literalEndings(pattern);
}
