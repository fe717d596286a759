import type { Entry } from "./entry.ts";

/**
 * An event as a hook receives it: `{ name, id, timestamp, …fields }`. `events/types.ts` defines the fields of the
 * built-in events, for filters and for documents.
 */
export interface LaresEvent {
  readonly id: string;
  readonly name: string;
  readonly timestamp: string;
  readonly [field: string]: unknown;
}

/** A change that the workspace reports. `origin` says whether the watcher or an index run found it. */
export type EntryChange =
  | { readonly kind: "created"; readonly entry: Entry; readonly origin: "live" | "index" }
  | {
      readonly kind: "modified";
      readonly entry: Entry;
      readonly changed_fields: readonly string[];
      readonly origin: "live" | "index";
    }
  | {
      readonly kind: "moved";
      readonly entry: Entry;
      readonly from: string;
      readonly origin: "live" | "index";
    }
  | {
      readonly kind: "deleted";
      readonly entry_id: string;
      readonly path: string;
      readonly origin: "live" | "index";
    }
  | { readonly kind: "tag_added"; readonly entry: Entry; readonly tag: string; readonly origin: "live" }
  | { readonly kind: "tag_removed"; readonly entry: Entry; readonly tag: string; readonly origin: "live" };
