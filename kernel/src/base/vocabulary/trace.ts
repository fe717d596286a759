import { Type, type Static } from "typebox";
import { closed, Timestamp } from "./common.ts";

export const TraceLevel = Type.Union([
  Type.Literal("debug", { description: "Everything" }),
  Type.Literal("info", { description: "What it does" }),
  Type.Literal("warn", { description: "What may be wrong" }),
  Type.Literal("error", { description: "What failed" }),
]);
export type TraceLevel = Static<typeof TraceLevel>;

export const TraceEntry = Type.Object(
  {
    timestamp: Timestamp,
    level: TraceLevel,
    agent: Type.String(),
    hook: Type.Optional(Type.String()),
    message: Type.String(),
    fields: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
    trace_id: Type.String({ description: "One per event, tool call or lifecycle step" }),
    span_id: Type.String(),
  },
  closed,
);
export type TraceEntry = Static<typeof TraceEntry>;
