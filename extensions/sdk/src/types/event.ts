import type { Action } from "./action.ts";
import type { Entry } from "./entry.ts";
import type { EventBase } from "./event-base.ts";
import type {
  AfterToolCall,
  BeforeAction,
  BeforeCompact,
  Context,
  MessageEnd,
  UserInput,
} from "./intercept.ts";
import type { Permissions } from "./permissions.ts";

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
/** An action that this agent proposed has ended. Only this agent gets the event. */
export interface ActionEnded extends EventBase {
  readonly action: string;
  readonly title: string;
  readonly state: "Committed" | "Rejected" | "Failed" | "Stale" | "Expired" | "Undone";
  /** The paths that it names, as it was proposed. */
  readonly paths: readonly string[];
  /** The reason of the person who rejected it. */
  readonly reason?: string;
  /** The id of the action that replaced it. */
  readonly superseded_by?: string;
}
/** The extension's permissions or locations have changed. */
export interface PermissionChanged extends EventBase {
  readonly permissions: Permissions;
  readonly locations: readonly string[];
}
/** A schedule's time has come. */
export interface ScheduleFired extends EventBase {
  /** The cron expression. */
  readonly schedule: string;
  /** When it was due, UTC, ISO 8601 with milliseconds. A run that was missed may come much later. */
  readonly scheduled_for: string;
}

/**
 * The parameter of a hook's handler without a type of its own. Only the manifest says which event it will be, so it has
 * all fields of the built-in events. Annotate the parameter (`async photoAdded({ entry }: EntryCreated, ctx)`) to have
 * only those of one event.
 */
export interface HookEvent
  extends
    EntryCreated,
    EntryModified,
    EntryMoved,
    EntryDeleted,
    IndexComplete,
    TagAdded,
    PermissionChanged,
    ScheduleFired,
    UserInput,
    Context,
    AfterToolCall,
    BeforeCompact,
    MessageEnd,
    Omit<BeforeAction, "action">,
    Omit<ActionEnded, "action" | "reason" | "superseded_by"> {
  /** The id of an action that has ended; in `BeforeAction` the action. */
  readonly action: string & Action;
  /** A custom event's own fields. */
  readonly [field: string]: unknown;
}
