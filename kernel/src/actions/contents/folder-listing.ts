import { limitExceeded } from "../../base/errors.ts";
import { canonicalJson } from "../../base/json.ts";
import { sha256 } from "../../platform/files/hash.ts";
import type { WorkspaceFiles } from "../../platform/files/workspace-files.ts";
import { protectionOf, strictest, type Protection } from "../../policy/protected.ts";
import type { FolderListing, ListRequest } from "../content-requests.ts";
import { actionLimits } from "../limits.ts";

/** Lists a folder that is to be moved. Links are listed, not followed. LimitExceeded beyond `folderMembers`. */
export async function listFolder(
  files: WorkspaceFiles,
  folder: string,
  move: ListRequest["move"],
): Promise<FolderListing> {
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
          `${JSON.stringify(folder)} contains more than ${actionLimits.folderMembers} files and folders. Move parts of it.`,
        );
      }
      // Forbidden paths are not read here; the caller sees their names and refuses them.
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
    protections: move === null ? [] : members.map(([path]) => protectionOfMember(folder, path, move)),
  };
}

function protectionOfMember(
  folder: string,
  member: string,
  move: NonNullable<ListRequest["move"]>,
): Protection {
  const { to, places } = move;
  return strictest([`${folder}/${member}`, `${to}/${member}`].map((path) => protectionOf(path, places)));
}
