import { Type } from "typebox";
import { closed } from "../../../base/vocabulary/common.ts";
import { define } from "../../define.ts";
import { memoryFields, memoryResults } from "../../memory-calls.ts";

export const memoryCalls = define({
  "memory/working/read": {
    params: Type.Object(memoryFields.workingRead, closed),
    result: memoryResults.workingRead,
  },
  /** Conflict when the state is no longer at `revision`. */
  "memory/working/swap": {
    params: Type.Object(memoryFields.workingSwap, closed),
    result: memoryResults.workingSwap,
  },
  "memory/temporal/append": {
    params: Type.Object(memoryFields.temporalAppend, closed),
    result: memoryResults.temporalAppend,
  },
  "memory/temporal/query": {
    params: Type.Object(memoryFields.temporalQuery, closed),
    result: memoryResults.temporalQuery,
  },
  "memory/temporal/count": {
    params: Type.Object(memoryFields.temporalCount, closed),
    result: memoryResults.temporalCount,
  },
  "memory/associative/add": {
    params: Type.Object(memoryFields.associativeAdd, closed),
    result: memoryResults.associativeAdd,
  },
  "memory/associative/update": {
    params: Type.Object(memoryFields.associativeUpdate, closed),
    result: Type.Unknown(),
  },
  "memory/associative/remove": {
    params: Type.Object(memoryFields.associativeRemove, closed),
    result: Type.Unknown(),
  },
  "memory/associative/relate": {
    params: Type.Object(memoryFields.associativeRelate, closed),
    result: Type.Unknown(),
  },
  "memory/associative/query": {
    params: Type.Object(memoryFields.associativeQuery, closed),
    result: memoryResults.associativeQuery,
  },
  "memory/search": { params: Type.Object(memoryFields.search, closed), result: memoryResults.search },
  "memory/sync": { params: Type.Object(memoryFields.sync, closed), result: Type.Unknown() },
  "memory/cleanup": { params: Type.Object(memoryFields.cleanup, closed), result: Type.Unknown() },
});
