import type { Action, Effect } from "../protocol.ts";
import { label } from "./text.ts";

/** What an effect does, in a word or three: “edit”, “new file”, “moved from inbox/”. All of it plain text. */
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

/** “3 of 5” where a person let a part of an action happen; undefined where all of it did, or nothing. */
export function appliedOf({ effects, receipt }: Pick<Action, "effects" | "receipt">): string | undefined {
  if (receipt === undefined || receipt.applied.length >= effects.length) return undefined;
  return `${receipt.applied.length.toLocaleString("en")} of ${effects.length.toLocaleString("en")}`;
}

/** Last component of a path. */
export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

/** All but the last component, without the slash; empty for what lies at the top. */
export function folderOf(path: string): string {
  const slash = path.lastIndexOf("/");
  return slash < 0 ? "" : path.slice(0, slash);
}

export function folderName(folder: string): string {
  return folder === "" ? "the top folder" : `${label(folder, 80)}/`;
}

/** Every path that an effect touches. */
export function effectPaths({ path, from }: Effect): string[] {
  return from === undefined ? [path] : [from, path];
}

/** Whether an effect is shown as two contents; the others are told in words. */
export function hasContents({ kind }: Effect): boolean {
  return kind === "file.write" || kind === "file.edit" || kind === "file.delete";
}
