import * as v from "valibot";
import {
  commonPushes,
  commonRequests,
  Count,
  focusPushes,
  focusRequests,
  Nothing,
  Text,
} from "../shared/common-state.ts";

/** Entries in one message. */
export const maxEntriesPerPush = 500;
/** Entries in the answer to a query. */
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
  /** JSON; cut if it is longer. */
  fields: v.optional(Text(maxFieldsCharacters)),
  traceId: Text(64),
  spanId: Text(64),
});
export type Entry = v.InferOutput<typeof Entry>;

/** The filter of the traces. The kernel searches for the text in queries, the view does while following. */
export const Filter = v.object({
  agent: v.optional(Text(256)),
  level: v.optional(Level),
});
export type Filter = v.InferOutput<typeof Filter>;

export const tracesContract = {
  requests: {
    ...commonRequests,
    ...focusRequests,
    /** Returns the matching traces, newest first. */
    query: {
      params: v.object({
        ...Filter.entries,
        since: v.optional(Text(40)),
        until: v.optional(Text(40)),
        text: v.optional(Text(256)),
      }),
      result: v.pipe(v.array(Entry), v.maxLength(maxEntriesPerQuery)),
    },
    /** From now on, matching entries are pushed; this replaces the earlier filter. */
    follow: { params: Filter, result: Nothing },
    unfollow: { params: Nothing, result: Nothing },
    /** Opens a file of the workspace at a line, counted from 1. */
    openPlace: {
      params: v.object({ path: Text(4_096), line: v.pipe(Count, v.minValue(1)) }),
      result: Nothing,
    },
    copy: { params: v.object({ text: Text(900_000) }), result: Nothing },
  },
  pushes: {
    ...commonPushes,
    ...focusPushes,
    /**
     * Oldest first. `dropped`: the number of entries before them that came too fast to be shown; the kernel's file has
     * them.
     */
    entries: v.object({
      entries: v.pipe(v.array(Entry), v.maxLength(maxEntriesPerPush)),
      dropped: Count,
    }),
  },
};
export type TracesContract = typeof tracesContract;
