import { lstat, mkdir, realpath, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { basename, isAbsolute, join } from "node:path";
import process from "node:process";
import { invalidParams, storageError } from "../../base/errors.ts";
import { sha256Hex } from "./hash.ts";
import { recordWorkspace } from "./workspace-record.ts";

/** Environment variables by name, as `process.env`. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** The part of a workspace's name that suffices to recognise it. */
const maxNameLength = 40;

/** Returns the folder of this user's Lares state: `$LARES_HOME`, or `lares` in the platform's location for it. */
export function stateHome(environment: Environment, platform: NodeJS.Platform = process.platform): string {
  const own = environment["LARES_HOME"];
  if (own !== undefined && own !== "") {
    if (!isAbsolute(own)) throw invalidParams(`LARES_HOME is "${own}"; it must be an absolute path.`);
    return own;
  }
  const home = homeOf(environment);
  if (platform === "win32") {
    return join(absolute(environment["LOCALAPPDATA"]) ?? join(home, "AppData", "Local"), "lares");
  }
  if (platform === "darwin") return join(home, "Library", "Application Support", "lares");
  return join(absolute(environment["XDG_STATE_HOME"]) ?? join(home, ".local", "state"), "lares");
}

/** Returns the folder for repeatable downloads: `$LARES_HOME/cache`, or `lares` in the platform's cache folder. */
export function cacheHome(environment: Environment, platform: NodeJS.Platform = process.platform): string {
  const own = environment["LARES_HOME"];
  if (own !== undefined && own !== "") return join(stateHome(environment, platform), "cache");
  if (platform === "win32") return join(stateHome(environment, platform), "Cache");
  const home = homeOf(environment);
  if (platform === "darwin") return join(home, "Library", "Caches", "lares");
  return join(absolute(environment["XDG_CACHE_HOME"]) ?? join(home, ".cache"), "lares");
}

/** Returns the folder of fetched models, one subfolder each. */
export const modelsFolder = (environment: Environment): string => join(cacheHome(environment), "models");

/** Returns the folder of a person's own documents and extensions. It is only read, so it need not exist. */
export function userConfigFolder(
  environment: Environment,
  platform: NodeJS.Platform = process.platform,
): string {
  const home = homeOf(environment);
  if (platform === "win32")
    return join(absolute(environment["APPDATA"]) ?? join(home, "AppData", "Roaming"), "lares");
  const xdg = absolute(environment["XDG_CONFIG_HOME"]);
  if (xdg !== undefined) return join(xdg, "lares");
  return platform === "darwin"
    ? join(home, "Library", "Preferences", "lares")
    : join(home, ".config", "lares");
}

/**
 * Returns the state folder of a workspace; creates it with mode 0700 if it is missing. Throws StorageError if
 * another user could write to it, or if it cannot be created.
 */
export async function stateFolderOf(
  workspaceRoots: readonly string[],
  environment: Environment,
): Promise<string> {
  const folder = await stateFolderPath(workspaceRoots, environment);
  const home = stateHome(environment);
  for (const step of [home, join(home, "workspaces"), folder]) await makePrivateFolder(step);
  const [root, ...others] = workspaceRoots;
  if (root !== undefined && others.length === 0) await recordWorkspace(folder, await realPathOf(root));
  return folder;
}

/**
 * Returns the path of a workspace's state folder, which need not exist: `<state home>/workspaces/<name>-<12
 * hexadecimal digits of the SHA-256 of the real path>`. With several roots, the digest covers all real paths,
 * sorted, and the name is the first one's.
 */
export async function stateFolderPath(
  workspaceRoots: readonly string[],
  environment: Environment,
): Promise<string> {
  const realPaths = await Promise.all(workspaceRoots.map(realPathOf));
  const sorted = realPaths.toSorted();
  const first = sorted[0];
  if (first === undefined) throw invalidParams("A workspace needs at least one folder.");
  const name = `${workspaceName(first)}-${sha256Hex(sorted.join("\0")).slice(0, 12)}`;
  return join(stateHome(environment), "workspaces", name);
}

/** Creates the folder with mode 0700, or checks that only this user can write to the existing one. */
export async function makePrivateFolder(path: string): Promise<void> {
  try {
    const made = await mkdir(path, { recursive: true, mode: 0o700 });
    if (made !== undefined) return;
  } catch (error) {
    throw storageError(
      `The folder "${path}" cannot be made: ${String(error)}. Set LARES_HOME to a folder that is yours.`,
      error,
    );
  }
  const link = await lstat(path);
  const found = link.isSymbolicLink() ? await stat(path) : link;
  if (!found.isDirectory())
    throw storageError(`"${path}" is not a folder. Move it away, or set LARES_HOME to another place.`);
  const user = process.getuid?.();
  // Windows has neither user ids nor modes.
  if (user === undefined) return;
  if (link.uid !== user || found.uid !== user) {
    throw storageError(
      `The folder "${path}" belongs to user ${found.uid}, not to you (${user}). Set LARES_HOME to a folder that is yours.`,
    );
  }
  if ((found.mode & 0o022) !== 0) {
    const mode = (found.mode & 0o777).toString(8).padStart(4, "0");
    throw storageError(
      `The folder "${path}" can be written by others (mode ${mode}). Run: chmod 700 "${path}"`,
    );
  }
}

/** Returns the workspace folder's name without characters that file names may not have. */
function workspaceName(realPath: string): string {
  const name = basename(realPath)
    .normalize("NFC")
    .replace(/[^\p{L}\p{N}._-]+/gu, "-")
    .replace(/^[.-]+|(?<![.-])[.-]+$/g, "");
  return Array.from(name).slice(0, maxNameLength).join("") || "root";
}

async function realPathOf(root: string): Promise<string> {
  try {
    return await realpath(root);
  } catch (error) {
    throw storageError(`The workspace folder "${root}" cannot be opened: ${String(error)}`, error);
  }
}

/** Returns the user's home folder. */
export function homeOf(environment: Environment): string {
  return absolute(environment["HOME"]) ?? homedir();
}

/** The XDG specification requires that relative paths are ignored. */
function absolute(path: string | undefined): string | undefined {
  return path !== undefined && isAbsolute(path) ? path : undefined;
}
