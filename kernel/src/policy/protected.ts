import { isGitName } from "../base/names.ts";
import { compileNames, foldFast } from "./name-patterns.ts";
import { protectedGroups } from "./protected-names.ts";

/**
 * What a path may have done to it:
 * - "none": the approval policy decides
 * - "protected": changed only when a person says so each time; never automatically, never by an "always"
 * - "forbidden": neither read nor changed, whatever anybody granted
 */
export type Protection = "none" | "protected" | "forbidden";

/** The workspace's own additions: programs of extensions, and the state folder where it lies inside. */
export interface ProtectedPlaces {
  readonly protectedPaths: readonly string[];
  readonly forbiddenPaths: readonly string[];
}

/**
 * Returns what may be done to `path`, which is canonical. Names are compared as the most careless file system would.
 * What cannot be seen by a name, that a file is executable, is a fact that the caller adds (`executable.ts`).
 */
export function protectionOf(path: string, places: ProtectedPlaces): Protection {
  if (isForbidden(path, places)) return "forbidden";
  const names = path.split("/").map(foldFast);
  if (isProtectedByName(names)) return "protected";
  return foldedPlaces(places.protectedPaths).some((place) => touches(names, place)) ? "protected" : "none";
}

/** Returns why a path is protected by its names, as a sentence; null where they do not protect it. */
export function protectionReason(path: string, places: ProtectedPlaces): string | null {
  const names = path.split("/").map(foldFast);
  if (names.some((name) => name.startsWith(".")))
    return "Programs read names that begin with a dot without being told to.";
  if (names.some((name) => shortName.test(name))) return "It may be the short name of another file.";
  const group = groups.find(({ isFolder, isFile }) => names.some(isFolder) || isFile(names.at(-1) ?? ""));
  if (group !== undefined) return group.reason;
  return foldedPlaces(places.protectedPaths).some((place) => touches(names, place))
    ? "It holds programs of extensions, or your own configuration of Lares."
    : null;
}

export function strictest(found: readonly Protection[]): Protection {
  if (found.includes("forbidden")) return "forbidden";
  return found.includes("protected") ? "protected" : "none";
}

/** True for what is closed to everybody: `.git` at any depth, and the state folder. */
export function isForbidden(path: string, places: ProtectedPlaces): boolean {
  // Asked once per entry and query: a plain name without "git" in it cannot be a disguise of one.
  const plain = /^[ -~]*$/.test(path) && !/git/i.test(path);
  if (!plain && path.split("/").some(isGitName)) return true;
  if (places.forbiddenPaths.length === 0) return false;
  const names = path.split("/").map(foldFast);
  return foldedPlaces(places.forbiddenPaths).some((place) => liesIn(names, place));
}

/** True if what is done to the whole of `path` would reach something closed inside it. */
export function holdsForbidden(path: string, places: ProtectedPlaces): boolean {
  const names = path.split("/").map(foldFast);
  return foldedPlaces(places.forbiddenPaths).some((place) => touches(names, place));
}

function liesIn(names: readonly string[], place: readonly string[]): boolean {
  if (isTop(place)) return true;
  return !isTop(names) && names.length >= place.length && touches(names, place);
}

/** Inside the place, the place itself, or a folder that holds it: moving or deleting that takes the place along. */
function touches(names: readonly string[], place: readonly string[]): boolean {
  if (isTop(place) || isTop(names)) return true;
  const shared = Math.min(names.length, place.length);
  for (let at = 0; at < shared; at++) if (names[at] !== place[at]) return false;
  return true;
}

/** "." folds to nothing: the workspace, which holds everything. */
function isTop(names: readonly string[]): boolean {
  return names.length === 1 && names[0] === "";
}

/** Thousands of paths are held against the same places. */
const folded = new WeakMap<readonly string[], readonly (readonly string[])[]>();

function foldedPlaces(places: readonly string[]): readonly (readonly string[])[] {
  let known = folded.get(places);
  if (known === undefined) {
    known = places.map((place) => place.split("/").map(foldFast));
    folded.set(places, known);
  }
  return known;
}

const isProtectedFolder = compileNames(protectedGroups.flatMap(({ folders }) => folders));
const isProtectedFile = compileNames(protectedGroups.flatMap(({ files }) => files));

const groups = protectedGroups.map(({ reason, folders, files }) => ({
  reason,
  isFolder: compileNames(folders),
  isFile: compileNames(files),
}));

/** A name as Windows shortens others: which one it stands for cannot be seen. */
const shortName = /^[^.~]{0,6}~\d{1,6}(?:\.[^.]{0,3})?$/;

function isProtectedByName(names: readonly string[]): boolean {
  if (names.some((name) => name.startsWith(".") || isProtectedFolder(name) || shortName.test(name)))
    return true;
  return isProtectedFile(names.at(-1) ?? "");
}
