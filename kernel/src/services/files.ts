import type { Hash } from "../base/vocabulary/common.ts";

/** Maps clients' URIs to the workspace's files. */
export interface FileService {
  /**
   * Returns the workspace's paths of the file that a URI names, including paths through links; the real path comes
   * first. Empty for a file outside the workspace. Never rejects.
   */
  pathsOf(uri: string): Promise<readonly string[]>;
  /** Returns null if there is no file; unknown if it is too large or not a regular file. */
  hashOf(path: string): Promise<Hash | null | "unknown">;
}
