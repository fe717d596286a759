import { Type, type Static } from "typebox";
import { Limit, Named, OfAgent, When } from "./request-fields.ts";
import { closed, Timestamp } from "./common.ts";
import { OnBehalfOf } from "./principal.ts";

export const TraceLevel = Type.Union(
  [
    Type.Literal("debug", { description: "Everything" }),
    Type.Literal("info", { description: "What it does" }),
    Type.Literal("warn", { description: "What may be wrong" }),
    Type.Literal("error", { description: "What failed" }),
  ],
  { description: "How much a trace matters" },
);
export type TraceLevel = Static<typeof TraceLevel>;

/** From the least to the most that a trace can matter. */
export const traceLevels: readonly TraceLevel[] = ["debug", "info", "warn", "error"];

export function isAtLeast(level: TraceLevel, least: TraceLevel): boolean {
  return traceLevels.indexOf(level) >= traceLevels.indexOf(least);
}

export const TraceStep = Type.Union(
  [
    Type.Literal("begin", { description: "The agent was asked something, such as to handle an event" }),
    Type.Literal("call", { description: "It called the kernel" }),
    Type.Literal("end", { description: "It answered, or failed" }),
  ],
  { description: "A step of an agent that a client inspects" },
);
export type TraceStep = Static<typeof TraceStep>;

export const TraceEntry = Type.Object(
  {
    timestamp: Timestamp("When it was written"),
    level: TraceLevel,
    agent: Type.String({ description: "The id of the agent that it is about" }),
    hook: Type.Optional(Type.String({ description: "The handler that ran" })),
    step: Type.Optional(
      Type.Union(TraceStep.anyOf, {
        description:
          "Which step of an inspected agent it is; only the kernel sets it, and never for what an agent traces itself",
      }),
    ),
    message: Type.String({ description: "What happened" }),
    fields: Type.Optional(
      Type.Record(Type.String(), Type.Unknown(), {
        description: "More about it, by name; values that look like secrets are left out",
      }),
    ),
    on_behalf_of: Type.Optional(
      OnBehalfOf(
        "Who led to what it is about, the nearest first; absent if the agent acted of its own accord",
      ),
    ),
    trace_id: Type.String({
      description: "The same for all traces of one event, tool call or lifecycle step",
    }),
    span_id: Type.String({ description: "Identifies this trace" }),
  },
  { ...closed, description: "A line that an agent, or the kernel about an agent, wrote into its log" },
);
export type TraceEntry = Static<typeof TraceEntry>;

/** Traces of this level and above. */
export const LevelAndAbove = Type.Optional(
  Type.Union(TraceLevel.anyOf, { description: "Only traces of this level and above; default all levels" }),
);

/** Which traces are answered. */
export const TraceQuery = Type.Object({
  agent: OfAgent,
  level: LevelAndAbove,
  since: Type.Optional(When("Only traces from then on")),
  until: Type.Optional(When("Only traces up to then")),
  after: Type.Optional(
    Named(
      "Only traces that were written after the one with this `span_id`, or after this `cursor` of `lares/traces/follow`",
    ),
  ),
  text: Type.Optional(
    Type.String({ maxLength: 256, description: "Occurs in the message, case-insensitively" }),
  ),
  limit: Type.Optional(Limit),
});
export type TraceQuery = Readonly<Static<typeof TraceQuery>>;
