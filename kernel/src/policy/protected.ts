import { isGitName } from "../base/names.ts";
import { compileNames, foldFast } from "./name-patterns.ts";
import protectedGroups from "./protected-names.json" with { type: "json" };

/**
 * What may be done to a path:
 * - "none": the approval policy decides
 * - "protected": changed only if a person approves it each time; never automatically, never by an "always"
 * - "forbidden": neither read nor changed, whatever was granted
 */
export type Protection = "none" | "protected" | "forbidden";

/** The additions of this workspace: programs of extensions, and the state folder if it lies inside. */
export interface ProtectedPlaces {
  readonly protectedPaths: readonly string[];
  readonly forbiddenPaths: readonly string[];
}

/**
 * Returns the protection of `path`, which must be canonical. Names are compared as on the most lenient file system. The
 * name cannot show that a file is executable; the caller adds that fact (`executable.ts`).
 */
export function protectionOf(path: string, places: ProtectedPlaces): Protection {
  if (isForbidden(path, places)) return "forbidden";
  const names = path.split("/").map(foldFast);
  if (isProtectedByName(names)) return "protected";
  return foldedPlaces(places.protectedPaths).some((place) => touches(names, place)) ? "protected" : "none";
}

/** A group of paths that are asked each time: folders with all their contents, and files, by name; "*" is any text. */
export interface ProtectedGroup {
  readonly reason: string;
  readonly folders: readonly string[];
  readonly files: readonly string[];
}

const startsWithDot = "Programs read names that begin with a dot without being told to.";
/** Why the additions of this workspace are protected. */
export const whyPlaceIsProtected = "It holds programs of extensions, or your own configuration of Lares.";
const maybeShort = "It may be the short name of another file.";

/** Everything that is asked each time by its name, in every workspace, including the rules that need no list. */
export const protectedByName: readonly ProtectedGroup[] = [
  { reason: startsWithDot, folders: [".*"], files: [".*"] },
  { reason: maybeShort, folders: ["?*~1"], files: ["?*~1"] },
  { reason: "A file that can be executed, or that a script of a package runs.", folders: [], files: [] },
  ...protectedGroups,
];

/** Returns why a path is protected by its names, as a sentence; null if they do not protect it. */
export function protectionReason(path: string, places: ProtectedPlaces): string | null {
  const names = path.split("/").map(foldFast);
  if (names.some((name) => name.startsWith("."))) return startsWithDot;
  if (names.some((name) => shortName.test(name))) return maybeShort;
  const group = groups.find(({ isFolder, isFile }) => names.some(isFolder) || isFile(names.at(-1) ?? ""));
  if (group !== undefined) return group.reason;
  return foldedPlaces(places.protectedPaths).some((place) => touches(names, place))
    ? whyPlaceIsProtected
    : null;
}

export function strictest(found: readonly Protection[]): Protection {
  if (found.includes("forbidden")) return "forbidden";
  return found.includes("protected") ? "protected" : "none";
}

/** True for paths that are closed to everybody: `.git` at any depth, and the state folder. */
export function isForbidden(path: string, places: ProtectedPlaces): boolean {
  // Called once per entry and query. A plain name without "git" cannot be a disguise of ".git".
  const plain = /^[ -~]*$/.test(path) && !/git/i.test(path);
  if (!plain && path.split("/").some(isGitName)) return true;
  if (places.forbiddenPaths.length === 0) return false;
  const names = path.split("/").map(foldFast);
  return foldedPlaces(places.forbiddenPaths).some((place) => liesIn(names, place));
}

/** True if an operation on the whole of `path` would reach something forbidden inside it. */
export function holdsForbidden(path: string, places: ProtectedPlaces): boolean {
  const names = path.split("/").map(foldFast);
  return foldedPlaces(places.forbiddenPaths).some((place) => touches(names, place));
}

function liesIn(names: readonly string[], place: readonly string[]): boolean {
  if (isTop(place)) return true;
  return !isTop(names) && names.length >= place.length && touches(names, place);
}

/** True if a path is one of these places or lies in one, however it is spelled; all canonical. */
export function isInPlace(path: string, places: readonly string[]): boolean {
  const names = path.split("/").map(foldFast);
  return foldedPlaces(places).some((place) => liesIn(names, place));
}

/** True if a change of the whole of `path` would reach one of these places: it is in one, or contains one. */
export function reachesPlace(path: string, places: readonly string[]): boolean {
  const names = path.split("/").map(foldFast);
  return foldedPlaces(places).some((place) => touches(names, place));
}

/**
 * True inside the place, for the place itself, and for a folder that contains it, because moving or deleting that
 * folder affects the place.
 */
function touches(names: readonly string[], place: readonly string[]): boolean {
  if (isTop(place) || isTop(names)) return true;
  const shared = Math.min(names.length, place.length);
  for (let at = 0; at < shared; at++) if (names[at] !== place[at]) return false;
  return true;
}

/** "." folds to nothing: the workspace, which contains everything. */
function isTop(names: readonly string[]): boolean {
  return names.length === 1 && names[0] === "";
}

/** Cached, because thousands of paths are compared with the same places. */
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

/** A name in the shortened form of Windows: it does not show which name it stands for. */
const shortName = /^[^.~]{0,6}~\d{1,6}(?:\.[^.]{0,3})?$/;

function isProtectedByName(names: readonly string[]): boolean {
  if (names.some((name) => name.startsWith(".") || isProtectedFolder(name) || shortName.test(name)))
    return true;
  return isProtectedFile(names.at(-1) ?? "");
}
