import { isLaresError } from "../../base/errors.ts";
import { OneAtATime } from "../../base/one-at-a-time.ts";
import { sha256 } from "../../platform/files/hash.ts";
import type { WorkspaceFiles } from "../../platform/files/workspace-files.ts";
import type { FileService } from "../../services/files.ts";
import { pathOf } from "../../platform/files/file-uris.ts";

/** Maximum size in bytes of a file that is read for an editor's requests. */
const maxHashedBytes = 4 * 1024 * 1024;

/** The files of the workspace under the names that clients use for them. */
export function createFileService(
  files: Pick<WorkspaceFiles, "readFile">,
  /** Converts an absolute path, from a client or the system, to a workspace path. */
  clientPaths: (absolute: string) => Promise<readonly string[]>,
): FileService {
  // Editors send many requests at once, one for every cursor movement: only one file is in memory at a time. One read of a
  // file waits at most, and a client has a limited number of open requests.
  const reading = new OneAtATime();
  const waiting = new Map<string, ReturnType<FileService["hashOf"]>>();
  const read = async (path: string): ReturnType<FileService["hashOf"]> => {
    try {
      return sha256(await files.readFile(path, { maxBytes: maxHashedBytes }));
    } catch (error) {
      if (isLaresError(error, "NotFound")) return null;
      if (isLaresError(error)) return "unknown";
      throw error;
    }
  };
  return {
    pathsOf: async (uri) => {
      const absolute = pathOf(uri);
      return absolute === null ? [] : clientPaths(absolute);
    },
    hashOf: (path) => {
      // A read that has not begun yet is recent enough for a new request.
      const known = waiting.get(path);
      if (known !== undefined) return known;
      const hash = reading.run("hashes", () => {
        waiting.delete(path);
        return read(path);
      });
      waiting.set(path, hash);
      return hash;
    },
  };
}
