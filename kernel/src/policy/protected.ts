import { foldName, isGitName } from "../base/names.ts";

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

/** `path` is canonical. Names are compared as the most careless file system would. */
export function protectionOf(path: string, places: ProtectedPlaces): Protection {
  if (isForbidden(path, places)) return "forbidden";
  const names = path.split("/").map(foldName);
  if (isProtectedByName(names)) return "protected";
  if (places.protectedPaths.some((place) => touches(names, place))) return "protected";
  return "none";
}

/** True for what is closed to everybody: `.git` at any depth, and the state folder. */
export function isForbidden(path: string, places: ProtectedPlaces): boolean {
  // Asked once per entry and query: a plain name without "git" in it cannot be a disguise of one.
  const plain = /^[ -~]*$/.test(path) && !/git/i.test(path);
  if (!plain && path.split("/").some(isGitName)) return true;
  if (places.forbiddenPaths.length === 0) return false;
  const names = path.split("/").map(foldName);
  return places.forbiddenPaths.some((place) => liesIn(names, place));
}

/** True if what is done to the whole of `path` would reach something closed inside it. */
export function holdsForbidden(path: string, places: ProtectedPlaces): boolean {
  const names = path.split("/").map(foldName);
  return places.forbiddenPaths.some((place) => touches(names, place));
}

function liesIn(names: readonly string[], place: string): boolean {
  if (place === ".") return true;
  const isWorkspace = names.length === 1 && names[0] === "";
  return !isWorkspace && names.length >= place.split("/").length && touches(names, place);
}

/** Inside the place, the place itself, or a folder that holds it: moving or deleting that takes the place along. */
function touches(names: readonly string[], place: string): boolean {
  if (place === ".") return true;
  if (names.length === 1 && names[0] === "") return true; // "." folds to nothing: the workspace holds everything
  const other = place.split("/").map(foldName);
  const shared = Math.min(names.length, other.length);
  for (let at = 0; at < shared; at++) if (names[at] !== other[at]) return false;
  return true;
}

function isProtectedByName(names: readonly string[]): boolean {
  const base = names.at(-1) ?? "";
  if (names.some((name) => protectedFolders.has(name))) return true;
  if (/^(?:lares|extension)\./.test(base)) return true;
  if (protectedFiles.has(base) || base.endsWith(".code-workspace") || /(?:^|[._])profile\.ps1$/.test(base))
    return true;
  const fish = names.lastIndexOf("fish");
  return fish >= 0 && (base === "config.fish" || (names[fish + 1] === "conf.d" && fish + 2 < names.length));
}

/** What editors, build servers and sessions take instructions from, and where extensions live. */
const protectedFolders = new Set([
  ".lares",
  ".vscode",
  ".idea",
  ".devcontainer",
  ".github",
  ".gitlab",
  ".circleci",
  ".ci",
  ".husky",
  ".ssh",
  ".claude",
  ".cursor",
  ".zed",
  ".helix",
  ".emacs.d",
  "autostart",
  "systemd",
]);

/** Start-up files of shells and editors, and the single-file equals of the folders above. */
const protectedFiles = new Set([
  ".bashrc",
  ".bash_profile",
  ".bash_login",
  ".bash_logout",
  ".bash_aliases",
  ".profile",
  ".xprofile",
  ".xsessionrc",
  ".zshrc",
  ".zshenv",
  ".zprofile",
  ".zlogin",
  ".zlogout",
  ".kshrc",
  ".mkshrc",
  ".cshrc",
  ".tcshrc",
  ".login",
  ".logout",
  ".envrc",
  ".gitconfig",
  ".gitmodules",
  ".npmrc",
  ".vimrc",
  ".gvimrc",
  ".exrc",
  ".nvim.lua",
  ".nvimrc",
  ".emacs",
  ".dir-locals.el",
  ".tmux.conf",
  ".inputrc",
  ".mcp.json",
  ".pre-commit-config.yaml",
  "jenkinsfile",
  ".gitlab-ci.yml",
  ".gitlab-ci.yaml",
]);
