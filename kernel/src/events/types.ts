import { extensionIdPattern } from "../base/vocabulary/extension.ts";
import { endedStates } from "../base/vocabulary/action.ts";
import { Media } from "../base/vocabulary/entry.ts";
import type { EventType, Field } from "./event-type.ts";
import { mindEventTypes } from "./mind-events.ts";

const entry: Field = { type: "Entry", description: "The file or folder it happened to" };

/** The fields that every event has, including custom ones. */
export const commonFields: Readonly<Record<string, Field>> = {
  name: { type: "string", description: "The event's name" },
  id: { type: "string", description: "UUIDv7" },
  timestamp: { type: "string", description: "UTC, ISO 8601 with milliseconds" },
};

/** The fields that a custom event has besides, if its publisher declares it. */
export const declaredEventFields: Readonly<Record<string, Field>> = {
  version: { type: "int", description: "The version of its declaration" },
};

/** The built-in events. A custom event is named `publisher.id/EventName` and has the fields of its emission. */
export const eventTypes: readonly EventType[] = [
  {
    name: "EntryCreated",
    description: "An entry was seen for the first time, live or by an index run",
    fields: { entry, location: { type: "string", description: "The granted folder it was seen through" } },
  },
  {
    name: "EntryModified",
    description: "An entry's content or metadata changed",
    fields: {
      entry,
      changed_fields: {
        type: "list<string>",
        description: "Which of the entry's fields changed",
        values: ["size", "created", "modified", "content_id", "tags", "fields", "sidecars"],
      },
    },
  },
  {
    name: "EntryMoved",
    description: "An entry has another path; its id is the same",
    fields: { entry, from: { type: "string", description: "The path it had" } },
  },
  {
    name: "EntryDeleted",
    description: "An entry is gone",
    fields: {
      entry_id: { type: "string", description: "The id it had" },
      path: { type: "string", description: "The path it had" },
    },
  },
  {
    name: "IndexComplete",
    description: "An index run over a location has ended",
    fields: {
      location: { type: "string", description: "The granted folder" },
      entries_processed: { type: "int", description: "Entries seen in it" },
      duration_ms: { type: "int", description: "Milliseconds the run took" },
    },
  },
  {
    name: "TagAdded",
    description: "A tag was put on an entry",
    fields: { entry, tag: { type: "string", description: "The tag" } },
  },
  {
    name: "TagRemoved",
    description: "A tag was taken off an entry",
    fields: { entry, tag: { type: "string", description: "The tag" } },
  },
  {
    name: "ActionEnded",
    description: "An action that this extension proposed has come to an end. Nobody else is told",
    fields: {
      action: { type: "string", description: "The action's id" },
      title: { type: "string", description: "The title it was proposed with" },
      state: {
        type: "string",
        description: "What became of it",
        values: [...endedStates],
      },
      paths: { type: "list<string>", description: "The paths that it names, as it was proposed" },
      reason: {
        type: "string",
        description: "What the person who rejected it said; missing where nothing was said",
      },
      superseded_by: {
        type: "string",
        description: "The id of the action that replaced it; missing if there is none",
      },
    },
  },
  {
    name: "PermissionChanged",
    description: "What this extension may do, or where, has changed",
    fields: {
      permissions: { type: "map<string, dyn>", description: "What it may do now" },
      locations: { type: "list<string>", description: "Where it may do it now" },
    },
  },
  {
    name: "ScheduleFired",
    description: "A schedule's time has come",
    fields: {
      schedule: { type: "string", description: "The cron expression" },
      scheduled_for: { type: "string", description: "The time it was due, UTC, ISO 8601 with milliseconds" },
    },
  },
  ...mindEventTypes,
];

export const eventNames: readonly string[] = eventTypes.map((type) => type.name);

/** An entry's fields as a filter sees them. */
export const entryFields: Readonly<Record<string, Field>> = {
  id: { type: "string", description: "Stays the same when the entry is moved" },
  path: { type: "string", description: 'Relative to the workspace, "/" separators' },
  name: { type: "string", description: "The last component of the path" },
  kind: { type: "string", description: "What it is", values: ["file", "folder"] },
  media: { type: "string", description: "What it holds", values: Media.anyOf.map((media) => media.const) },
  extension: { type: "string", description: "Lower case, no dot" },
  mime: { type: "string", description: "Media type" },
  size: { type: "int", description: "Bytes" },
  created: { type: "string", description: "UTC, ISO 8601 with milliseconds" },
  modified: { type: "string", description: "UTC, ISO 8601 with milliseconds" },
  content_id: { type: "dyn", description: "SHA-256 of the content, or null until it is known" },
  tags: { type: "list<string>", description: "Its tags" },
  fields: { type: "map<string, map<string, dyn>>", description: "Custom fields by namespace" },
  sidecars: { type: "list<string>", description: "Kinds of sidecar it has" },
  location: { type: "string", description: "The granted folder it was seen through" },
};

/** Methods of an entry in a filter, with the kind of media each tests for. */
export const entryMethods: Readonly<Record<string, Media>> = {
  isImage: "image",
  isVideo: "video",
  isAudio: "audio",
  isDocument: "document",
  isText: "text",
};

const customName = new RegExp(`${extensionIdPattern.slice(0, -1)}/[A-Za-z][A-Za-z0-9_]{0,127}$`);

/** True for `publisher.id/EventName`: an event that an extension emits. */
export function isCustomEvent(name: string): boolean {
  return name.length <= 256 && customName.test(name);
}

export function eventType(name: string): EventType | undefined {
  return eventTypes.find((type) => type.name === name);
}
