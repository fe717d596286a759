import { isLaresError } from "../../base/errors.ts";
import { OneAtATime } from "../../base/one-at-a-time.ts";
import { sha256 } from "../../platform/files/hash.ts";
import type { WorkspaceFiles } from "../../platform/files/workspace-files.ts";
import type { FileService } from "../../services/files.ts";
import { pathOf } from "../../platform/files/file-uris.ts";

/** A larger file is not looked at with every request of an editor. Bytes. */
const maxHashedBytes = 4 * 1024 * 1024;

/** The files of the workspace under the names that clients have for them. */
export function createFileService(
  files: Pick<WorkspaceFiles, "readFile">,
  /** From an absolute path, as a client or the system names it, to the workspace's own. */
  clientPaths: (absolute: string) => Promise<readonly string[]>,
): FileService {
  // Editors ask with every movement of a cursor, many at once: one file is in memory at a time.
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
      // What has not begun yet is as new as whoever asks now needs it.
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
