import * as v from "valibot";
import {
  commonPushes,
  commonRequests,
  Count,
  focusPushes,
  focusRequests,
  Nothing,
  Text,
} from "../shared/situation.ts";

/** Entries that one message brings. */
export const maxEntriesPerPush = 500;
/** Entries that a question is answered with. */
export const maxEntriesPerQuery = 2_000;
/** Characters of an entry's message that are shown. */
export const maxMessageCharacters = 4_000;
/** Characters of an entry's fields, as JSON. */
export const maxFieldsCharacters = 16_000;

export const Level = v.picklist(["debug", "info", "warn", "error"]);
export type Level = v.InferOutput<typeof Level>;

export const Entry = v.object({
  timestamp: Text(40),
  level: Level,
  agent: Text(256),
  hook: v.optional(Text(256)),
  message: Text(maxMessageCharacters),
  /** JSON; cut where it is longer. */
  fields: v.optional(Text(maxFieldsCharacters)),
  traceId: Text(64),
  spanId: Text(64),
});
export type Entry = v.InferOutput<typeof Entry>;

/** What of the traces is looked at. The text is the kernel's to look for when asked, and the view's while following. */
export const Filter = v.object({
  agent: v.optional(Text(256)),
  level: v.optional(Level),
});
export type Filter = v.InferOutput<typeof Filter>;

export const tracesContract = {
  requests: {
    ...commonRequests,
    ...focusRequests,
    /** What was traced, newest first. */
    query: {
      params: v.object({
        ...Filter.entries,
        since: v.optional(Text(40)),
        until: v.optional(Text(40)),
        text: v.optional(Text(256)),
      }),
      result: v.pipe(v.array(Entry), v.maxLength(maxEntriesPerQuery)),
    },
    /** From now on what matches is pushed; what was followed before is not any more. */
    follow: { params: Filter, result: Nothing },
    unfollow: { params: Nothing, result: Nothing },
    copy: { params: v.object({ text: Text(900_000) }), result: Nothing },
  },
  pushes: {
    ...commonPushes,
    ...focusPushes,
    /** Oldest first. `dropped`: so many before them came too fast to be shown; they are in the kernel's file. */
    entries: v.object({
      entries: v.pipe(v.array(Entry), v.maxLength(maxEntriesPerPush)),
      dropped: Count,
    }),
  },
};
export type TracesContract = typeof tracesContract;
