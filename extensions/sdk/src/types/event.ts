import type { Entry } from "./entry.ts";

/** What every event has. */
export interface EventBase {
  readonly id: string;
  readonly name: string;
  /** UTC, ISO 8601 with milliseconds. */
  readonly timestamp: string;
}

export interface EntryCreated extends EventBase {
  readonly entry: Entry;
  readonly location: string;
}
export interface EntryModified extends EventBase {
  readonly entry: Entry;
  readonly changed_fields: readonly string[];
}
export interface EntryMoved extends EventBase {
  readonly entry: Entry;
  readonly from: string;
}
export interface EntryDeleted extends EventBase {
  readonly entry_id: string;
  readonly path: string;
}
export interface IndexComplete extends EventBase {
  readonly location: string;
  readonly entries_processed: number;
  readonly duration_ms: number;
}
export interface TagAdded extends EventBase {
  readonly entry: Entry;
  readonly tag: string;
}
export type TagRemoved = TagAdded;
/** An action that this agent proposed has come to an end. Nobody else is told. */
export interface ActionEnded extends EventBase {
  readonly action: string;
  readonly title: string;
  readonly state: "Committed" | "Rejected" | "Failed" | "Stale" | "Expired" | "Undone";
  /** The paths that it names, as it was proposed. */
  readonly paths: readonly string[];
  /** What the person who rejected it said. */
  readonly reason?: string;
  /** The id of the action that replaced it. */
  readonly superseded_by?: string;
}

/**
 * What a hook's handler gets when its parameter has no type of its own: it is the manifest that says which
 * event it will be, so all fields of the built-in events are here. Annotate the parameter
 * (`async photoAdded({ entry }: EntryCreated, ctx)`) to have only those of one.
 */
export interface HookEvent
  extends
    EntryCreated,
    EntryModified,
    EntryMoved,
    EntryDeleted,
    IndexComplete,
    TagAdded,
    Omit<ActionEnded, "reason" | "superseded_by"> {
  /** A custom event's own fields. */
  readonly [field: string]: unknown;
}
