import { Type } from "typebox";
import { closed } from "../../../base/vocabulary/common.ts";
import { define } from "../../define.ts";
import { memoryFields, memoryResults } from "../../../base/vocabulary/memory-calls.ts";
import { Nothing } from "./fields.ts";

const toRead =
  "The manifest switches the memory off, or the agent was not granted the shared memory that `namespace` names.";
const toWrite = `${toRead.slice(0, -1)}, or may only read it.`;
const full = "The memory has as much as `max_storage_mb` allows, or the record is too large.";
const busy = "Too many requests to this memory are waiting.";
const noItem = "The memory has no item with this id.";
const tooMuch = "The answer would be too large. Ask for fewer items at once.";

export const memoryCalls = define({
  "memory/working/read": {
    about: "Returns the working memory (the plan): one JSON value that the agent replaces as a whole.",
    errors: { PermissionDenied: toRead },
    params: Type.Object(memoryFields.workingRead, closed),
    result: memoryResults.workingRead,
  },
  "memory/working/swap": {
    about:
      "Replaces the working memory if it is still at `revision`. Two handlers that change it at once cannot overwrite each other: one of them reads and tries again.",
    errors: {
      PermissionDenied: toWrite,
      Conflict: "The working memory is at another revision, which `data.revision` names.",
      LimitExceeded: full,
    },
    params: Type.Object(memoryFields.workingSwap, closed),
    result: memoryResults.workingSwap,
  },
  "memory/temporal/append": {
    about: "Appends an event to the history. It is on the disk when the call is answered.",
    errors: { PermissionDenied: toWrite, LimitExceeded: full },
    params: Type.Object(memoryFields.temporalAppend, closed),
    result: memoryResults.temporalAppend,
  },
  "memory/temporal/query": {
    about: "Returns events of the history that match every given field.",
    errors: { PermissionDenied: toRead, LimitExceeded: tooMuch, Busy: busy },
    params: Type.Object(memoryFields.temporalQuery, closed),
    result: memoryResults.temporalQuery,
  },
  "memory/temporal/count": {
    about:
      "Counts events of the history that match every given field, in groups where `group_by` asks for them.",
    errors: {
      PermissionDenied: toRead,
      LimitExceeded: "There are too many groups. Narrow the time, or group by day.",
      Busy: busy,
    },
    params: Type.Object(memoryFields.temporalCount, closed),
    result: memoryResults.temporalCount,
  },
  "memory/associative/add": {
    about:
      "Adds an item to the knowledge. It is on the disk when the call is answered. The kernel embeds its text in the background; a query waits for that.",
    errors: {
      PermissionDenied: toWrite,
      NotFound: "A relation leads to an item that does not exist.",
      LimitExceeded: full,
    },
    params: Type.Object(memoryFields.associativeAdd, closed),
    result: memoryResults.associativeAdd,
  },
  "memory/associative/update": {
    about: "Changes the given fields of an item.",
    errors: { PermissionDenied: toWrite, NotFound: noItem, LimitExceeded: full },
    params: Type.Object(memoryFields.associativeUpdate, closed),
    result: Nothing,
  },
  "memory/associative/remove": {
    about: "Removes an item and its relations from the knowledge.",
    errors: { PermissionDenied: toWrite, NotFound: noItem },
    params: Type.Object(memoryFields.associativeRemove, closed),
    result: Nothing,
  },
  "memory/associative/relate": {
    about: "Adds a relation from one item to another.",
    errors: { PermissionDenied: toWrite, NotFound: noItem, LimitExceeded: full },
    params: Type.Object(memoryFields.associativeRelate, closed),
    result: Nothing,
  },
  "memory/associative/query": {
    about: "Returns items of the knowledge that match every given field.",
    errors: { PermissionDenied: toRead, LimitExceeded: tooMuch, Busy: busy },
    params: Type.Object(memoryFields.associativeQuery, closed),
    result: memoryResults.associativeQuery,
  },
  "memory/search": {
    about:
      "Returns what fits a text, of history and knowledge together. [How a search ranks](README.md#how-a-search-ranks) says in which order.",
    errors: {
      PermissionDenied: toRead,
      VectorSearchNotConfigured: "The mode is `vector`, and no embedder answers.",
      Busy: busy,
    },
    params: Type.Object(memoryFields.search, closed),
    result: memoryResults.search,
  },
  "memory/sync": {
    about: "Waits until everything that was written before is on the disk and can be found by queries.",
    errors: { PermissionDenied: toRead, Busy: busy },
    params: Type.Object(memoryFields.sync, closed),
    result: Nothing,
  },
  "memory/cleanup": {
    about: "Removes old events from the history, and superseded states of working memory.",
    errors: { PermissionDenied: toWrite },
    params: Type.Object(memoryFields.cleanup, closed),
    result: memoryResults.cleanup,
  },
});
