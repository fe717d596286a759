import { Type } from "typebox";
import { define } from "../define.ts";
import { memoryFields, memoryResults } from "../memory-calls.ts";
import { Name } from "./fields.ts";

/** An absolute path on the kernel's machine. */
const MachinePath = Type.String({
  minLength: 1,
  maxLength: 4096,
  description: "Absolute, on the kernel's machine",
});

export const memoryRequests = define({
  "lares/memory/query": {
    params: Type.Union([
      Type.Object({ ...memoryFields.temporalQuery, agent: Name, kind: Type.Literal("temporal") }),
      Type.Object({ ...memoryFields.associativeQuery, agent: Name, kind: Type.Literal("associative") }),
      Type.Object({ ...memoryFields.workingRead, agent: Name, kind: Type.Literal("working") }),
      Type.Object({ ...memoryFields.search, agent: Name, kind: Type.Literal("search") }),
    ]),
    result: Type.Union([
      memoryResults.temporalQuery,
      memoryResults.associativeQuery,
      memoryResults.workingRead,
      memoryResults.search,
    ]),
  },
  "lares/memory/verify": {
    params: Type.Object({ agent: Name }),
    result: Type.Object({
      ok: Type.Boolean(),
      records: Type.Integer({ minimum: 0 }),
      head: Type.Union([Type.String(), Type.Null()], {
        description: "The chain's last hash; null while it is empty",
      }),
      firstBad: Type.Optional(Type.Object({ seq: Type.Integer(), reason: Type.String() })),
    }),
  },
  "lares/memory/export": {
    params: Type.Object({ agent: Name, path: MachinePath }),
    result: Type.Record(Type.String(), Type.Unknown()),
  },
  "lares/memory/import": {
    params: Type.Object({ agent: Name, path: MachinePath }),
    result: Type.Record(Type.String(), Type.Unknown()),
  },
  "lares/memory/stats": {
    params: Type.Object({ agent: Name }),
    result: Type.Record(Type.String(), Type.Unknown()),
  },
  "lares/memory/forget": {
    params: Type.Object({ agent: Name, id: Name, reason: Type.Optional(Type.String({ maxLength: 4000 })) }),
    result: Type.Object({ seq: Type.Integer() }),
  },
});
