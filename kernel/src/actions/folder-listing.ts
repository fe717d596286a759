import { limitExceeded } from "../base/errors.ts";
import { canonicalJson } from "../base/json.ts";
import type { Hash } from "../base/vocabulary/common.ts";
import { sha256 } from "../platform/hash.ts";
import type { WorkspaceFiles } from "../platform/workspace-files.ts";
import { actionLimits } from "./limits.ts";

export interface FolderListing {
  /** Of names, kinds, sizes and times of everything in it: another hash, something in it has changed. */
  readonly hash: Hash;
  /** Relative to the folder. */
  readonly members: readonly string[];
  readonly files: number;
  /** The permissions of all its files together: a bit is set that one of them has. */
  readonly mode: number;
}

/** Walks a folder that is to be moved. Links are listed, not followed. LimitExceeded beyond `folderMembers`. */
export async function listFolder(files: WorkspaceFiles, folder: string): Promise<FolderListing> {
  const members: [path: string, kind: string, size: number, mtimeMs: number][] = [];
  let mode = 0;
  const waiting = [""];
  for (let inner = waiting.pop(); inner !== undefined; inner = waiting.pop()) {
    for (const { name, kind } of await files.list(inner === "" ? folder : `${folder}/${inner}`)) {
      const path = inner === "" ? name : `${inner}/${name}`;
      if (members.length >= actionLimits.folderMembers) {
        throw limitExceeded(
          "folderMembers",
          members.length + 1,
          `${JSON.stringify(folder)} holds more than ${actionLimits.folderMembers} files and folders; move parts of it.`,
        );
      }
      // What is closed is refused by the caller, who sees its name; it is not looked at here.
      const stat = kind === "file" ? await files.stat(`${folder}/${path}`) : null;
      mode |= stat?.mode ?? 0;
      members.push([path, kind, stat?.size ?? 0, stat?.mtimeMs ?? 0]);
      if (kind === "folder" && !/^\.git$/i.test(name)) waiting.push(path);
    }
  }
  members.sort(([one], [other]) => (one < other ? -1 : 1));
  return {
    hash: sha256(canonicalJson(members)),
    members: members.map(([path]) => path),
    files: members.filter(([, kind]) => kind === "file").length,
    mode,
  };
}
