import { isLaresError } from "../base/errors.ts";
import { sha256 } from "../platform/hash.ts";
import type { WorkspaceFiles } from "../platform/workspace-files.ts";
import type { FileService } from "../server/ports.ts";
import { pathOf } from "./workspace-paths.ts";

/** A larger file is not looked at with every request of an editor. Bytes. */
const maxHashedBytes = 4 * 1024 * 1024;

/** The files of the workspace under the names that clients have for them. */
export function createFileService(
  files: WorkspaceFiles,
  /** From an absolute path, as a client or the system names it, to the workspace's own. */
  clientPaths: (absolute: string) => Promise<readonly string[]>,
): FileService {
  return {
    pathsOf: async (uri) => {
      const absolute = pathOf(uri);
      return absolute === null ? [] : clientPaths(absolute);
    },
    hashOf: async (path) => {
      try {
        return sha256(await files.readFile(path, { maxBytes: maxHashedBytes }));
      } catch (error) {
        if (isLaresError(error, "NotFound")) return null;
        if (isLaresError(error)) return "unknown";
        throw error;
      }
    },
  };
}

/** The first of `paths` that one of these documents is, by whatever name it was opened; null where none is. */
export async function unsavedAmong(
  files: Pick<FileService, "pathsOf">,
  uris: readonly string[],
  paths: readonly string[],
): Promise<string | null> {
  const open = new Set((await Promise.all(uris.map((uri) => files.pathsOf(uri)))).flat());
  return paths.find((path) => open.has(path)) ?? null;
}
