import { Type, type Static } from "typebox";
import { closed, Place, Timestamp } from "./common.ts";

export const AgentState = Type.Union([
  Type.Literal("Unloaded"),
  Type.Literal("Initializing"),
  Type.Literal("Active"),
  Type.Literal("Suspended"),
  Type.Literal("Error"),
  Type.Literal("ShuttingDown"),
]);
export type AgentState = Static<typeof AgentState>;

const Count = Type.Integer({ minimum: 0 });

export const AgentMetrics = Type.Object(
  {
    events_today: Type.Integer({
      minimum: 0,
      description:
        "Events that handlers answered, with success or an error, on this day of the calendar where the kernel runs; kept over restarts. All other counts are since the kernel started",
    }),
    events_received: Count,
    events_processed: Count,
    events_failed: Count,
    avg_event_latency_ms: Type.Number({ minimum: 0, description: "From the event to its handler's answer" }),
    p99_event_latency_ms: Type.Number({ minimum: 0 }),
    temporal_events_count: Count,
    knowledge_items_count: Count,
    memory_size_bytes: Count,
    jobs_dispatched: Count,
    jobs_completed: Count,
    jobs_failed: Count,
    jobs_cancelled: Type.Optional(
      Type.Integer({
        minimum: 1,
        description: "By a person: neither completed nor failed. Absent where none was",
      }),
    ),
    cpu_time_ms: Type.Number({ minimum: 0, description: "The guest thread's own" }),
    peak_memory_bytes: Type.Integer({ minimum: 0, description: "Guest linear memory, highest seen" }),
    wakeups: Count,
  },
  closed,
);
export type AgentMetrics = Static<typeof AgentMetrics>;

export const AgentHook = Type.Object(
  {
    handler: Type.String(),
    on: Type.Optional(Type.String()),
    filter: Type.Optional(Type.String()),
    schedule: Type.Optional(Type.String()),
    nextRun: Type.Optional(Timestamp),
  },
  closed,
);
export type AgentHook = Static<typeof AgentHook>;

export const AgentFailure = Type.Object(
  {
    handler: Type.String({ description: "The handler, job or tool that failed, by its name in the program" }),
    message: Type.String({ description: "At most 1,000 characters; control characters shown as marks" }),
    at: Timestamp,
    place: Type.Optional(Place),
  },
  { ...closed, description: "The last failure of a handler that has not succeeded since" },
);
export type AgentFailure = Static<typeof AgentFailure>;

export const Agent = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    version: Type.String(),
    state: AgentState,
    error: Type.Optional(Type.String()),
    disabled: Type.Optional(
      Type.Literal(true, { description: "It stays Unloaded until it is enabled, and is sent no event" }),
    ),
    awaiting: Type.Optional(
      Type.Literal("acceptance", {
        description: "In Error for want of nothing but a person's yes to what it asks for, or to its program",
      }),
    ),
    last_failure: Type.Optional(AgentFailure),
    problems: Type.Optional(
      Type.Integer({
        minimum: 1,
        description:
          "In Error because its manifest, or what the documents say of it, cannot be used: errors in it. `version` is empty and `metrics` are zero where they are unknown",
      }),
    ),
    first_problem: Type.Optional(
      Type.Object(
        { message: Type.String(), place: Type.Optional(Place) },
        { ...closed, description: "Of `problems`" },
      ),
    ),
    since: Timestamp,
    hooks: Type.Array(AgentHook),
    tools: Type.Array(Type.String()),
    permissions: Type.Array(Type.String(), {
      description: "Effective: asked for and granted and not denied",
    }),
    locations: Type.Array(Type.String()),
    metrics: AgentMetrics,
  },
  closed,
);
export type Agent = Static<typeof Agent>;

export const AgentCommand = Type.Union([
  Type.Literal("enable"),
  Type.Literal("disable"),
  Type.Literal("suspend"),
  Type.Literal("resume"),
  Type.Literal("reload"),
]);
export type AgentCommand = Static<typeof AgentCommand>;

export const Tool = Type.Object(
  {
    agent: Type.String(),
    name: Type.String(),
    description: Type.String(),
    parameters: Type.Record(Type.String(), Type.Unknown(), { description: "JSON Schema" }),
  },
  closed,
);
export type Tool = Static<typeof Tool>;
