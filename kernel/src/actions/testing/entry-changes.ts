import type { Entry } from "../../base/vocabulary/entry.ts";
import type { EntryChange } from "../../base/vocabulary/event.ts";

const entryOf = (path: string, kind: "file" | "folder" = "file"): Entry =>
  ({ path, kind, id: path, name: path.split("/").at(-1) }) as Entry;

export const modified = (path: string): EntryChange => ({
  kind: "modified",
  entry: entryOf(path),
  changed_fields: ["size", "modified"],
  origin: "live",
});
export const created = (path: string): EntryChange => ({
  kind: "created",
  entry: entryOf(path),
  origin: "live",
});
export const deleted = (path: string): EntryChange => ({
  kind: "deleted",
  entry_id: path,
  path,
  origin: "live",
});
export const movedFolder = (from: string, to: string): EntryChange => ({
  kind: "moved",
  entry: entryOf(to, "folder"),
  from,
  origin: "live",
});
