import type { Hash } from "../base/vocabulary/common.ts";

/** The workspace's files, as clients name them. */
export interface FileService {
  /**
   * The workspace's own paths of the file that a URI names, also through links; the file's real one comes first. None
   * where it lies outside. Never rejects.
   */
  pathsOf(uri: string): Promise<readonly string[]>;
  /** Null where there is no file; unknown where it is too large to look at, or no plain file. */
  hashOf(path: string): Promise<Hash | null | "unknown">;
}
