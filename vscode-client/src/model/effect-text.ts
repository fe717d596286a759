import type { Action, Effect } from "../protocol.ts";
import { label } from "./text.ts";

/** Describes an effect in a few words as plain text: “edit”, “new file”, “moved from inbox/”. */
export function effectVerb(effect: Effect): string {
  switch (effect.kind) {
    case "file.write":
      return effect.before === null ? "new file" : "overwrite";
    case "file.edit":
      return "edit";
    case "file.move":
      return effect.from === undefined || folderOf(effect.from) === folderOf(effect.path)
        ? `renamed from ${label(nameOf(effect.from ?? effect.path), 60)}`
        : `moved from ${folderName(folderOf(effect.from))}`;
    case "file.delete":
      return "delete";
    case "folder.create":
      return "new folder";
    case "tag.add":
      return `add tag “${label(effect.tag ?? "", 60)}”`;
    case "tag.remove":
      return `remove tag “${label(effect.tag ?? "", 60)}”`;
    case "field.set":
      return `set ${label(`${effect.namespace ?? ""}.${effect.key ?? ""}`, 80)}`;
    case "sidecar.write":
      return `sidecar ${label(effect.sidecar ?? "", 60)}`;
  }
}

/** Returns “3 of 5” if only a part of an action was approved; undefined if all or nothing was. */
export function appliedOf({ effects, receipt }: Pick<Action, "effects" | "receipt">): string | undefined {
  if (receipt === undefined || receipt.applied.length >= effects.length) return undefined;
  return `${receipt.applied.length.toLocaleString("en")} of ${effects.length.toLocaleString("en")}`;
}

/** Returns the last component of a path. */
export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

/** Returns all but the last component, without the slash; empty for a path at the top. */
export function folderOf(path: string): string {
  const slash = path.lastIndexOf("/");
  return slash < 0 ? "" : path.slice(0, slash);
}

function folderName(folder: string): string {
  return folder === "" ? "the top folder" : `${label(folder, 80)}/`;
}

/** Returns every path that an effect touches. */
export function effectPaths({ path, from }: Effect): string[] {
  return from === undefined ? [path] : [from, path];
}

/** Returns true if an effect is shown as two contents; others are described in words. */
export function hasContents({ kind }: Effect): boolean {
  return kind === "file.write" || kind === "file.edit" || kind === "file.delete";
}
