import type { EntryChange, LaresEvent } from "../base/vocabulary/event.ts";
import { unreachable } from "../base/exhaustive.ts";

/** Returns the event that hooks receive for a change of the workspace. */
export function eventOfChange(
  change: EntryChange,
  stamp: { readonly id: string; readonly timestamp: string },
): LaresEvent {
  switch (change.kind) {
    case "created":
      return { name: "EntryCreated", ...stamp, entry: change.entry, location: change.entry.location };
    case "modified":
      return { name: "EntryModified", ...stamp, entry: change.entry, changed_fields: change.changed_fields };
    case "moved":
      return { name: "EntryMoved", ...stamp, entry: change.entry, from: change.from };
    case "deleted":
      return { name: "EntryDeleted", ...stamp, entry_id: change.entry_id, path: change.path };
    case "tag_added":
      return { name: "TagAdded", ...stamp, entry: change.entry, tag: change.tag };
    case "tag_removed":
      return { name: "TagRemoved", ...stamp, entry: change.entry, tag: change.tag };
    default:
      return unreachable(change);
  }
}
