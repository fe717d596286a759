import { Type, type Static } from "typebox";
import { closed, Place, Timestamp } from "./common.ts";

export const AgentState = Type.Union(
  [
    Type.Literal("Unloaded", { description: "Not loaded; an event, a job or a tool call loads it" }),
    Type.Literal("Initializing", { description: "Its program is being loaded" }),
    Type.Literal("Active", { description: "Loaded; it takes events, jobs and tool calls" }),
    Type.Literal("Suspended", {
      description: "Stopped by a person, or after repeated failures; its events wait",
    }),
    Type.Literal("Error", {
      description: "It cannot run until it is reloaded or changed, or until a person accepts it",
    }),
    Type.Literal("ShuttingDown", { description: "Its program is being stopped" }),
  ],
  { description: "Where an agent is in its life" },
);
export type AgentState = Static<typeof AgentState>;

const Count = (description: string) => Type.Integer({ minimum: 0, description });

export const AgentMetrics = Type.Object(
  {
    events_today: Type.Integer({
      minimum: 0,
      description:
        "Events that handlers answered, with success or an error, on this day of the calendar where the kernel runs; kept over restarts. All other counts are since the kernel started",
    }),
    events_received: Count("Events that were delivered to it"),
    events_processed: Count("Events that its handlers answered with success"),
    events_failed: Count("Events that its handlers answered with an error"),
    avg_event_latency_ms: Type.Number({
      minimum: 0,
      description: "Mean time from an event to its handler's answer, milliseconds",
    }),
    p99_event_latency_ms: Type.Number({
      minimum: 0,
      description: "The same time of the slowest hundredth, milliseconds",
    }),
    temporal_events_count: Count("Events in its history"),
    knowledge_items_count: Count("Items in its knowledge"),
    memory_size_bytes: Count("Size of its memory on the disk, bytes"),
    jobs_dispatched: Count("Jobs that it dispatched"),
    jobs_completed: Count("Jobs that ended with success"),
    jobs_failed: Count("Jobs that ended with an error"),
    jobs_cancelled: Type.Optional(
      Type.Integer({
        minimum: 1,
        description: "Jobs that a person cancelled: neither completed nor failed. Absent where none was",
      }),
    ),
    cpu_time_ms: Type.Number({ minimum: 0, description: "CPU time of its program's thread, milliseconds" }),
    peak_memory_bytes: Type.Integer({
      minimum: 0,
      description: "The most linear memory that its program had, bytes",
    }),
    wakeups: Count("How often its program was loaded"),
  },
  { ...closed, description: "What an agent did and used" },
);
export type AgentMetrics = Static<typeof AgentMetrics>;

export const AgentHook = Type.Object(
  {
    handler: Type.String({ description: "The function under `hooks` of the program" }),
    on: Type.Optional(Type.String({ description: "The event that it waits for" })),
    filter: Type.Optional(Type.String({ description: "Which of these events, as a CEL expression" })),
    schedule: Type.Optional(Type.String({ description: "When it runs, as a cron expression" })),
    nextRun: Type.Optional(Timestamp("When the schedule is due next; absent while it is suspended")),
    missing_capability: Type.Optional(
      Type.String({
        description:
          "The schedule does not run here: it waits for a device with this capability. The person's `device.capabilities` lists those of this one",
      }),
    ),
    suspended: Type.Optional(
      Type.Object(
        {
          since: Timestamp("When its last run failed"),
          error: Type.String({ description: "Why that run failed, at most 1,000 characters" }),
        },
        {
          ...closed,
          description:
            "Three runs of the schedule in a row failed: it does not run until `lares/agents/control` resumes it",
        },
      ),
    ),
  },
  { ...closed, description: "An event or a time that wakes an agent, and the handler that is called" },
);
export type AgentHook = Static<typeof AgentHook>;

export const AgentFailure = Type.Object(
  {
    handler: Type.String({ description: "The handler, job or tool that failed, by its name in the program" }),
    message: Type.String({
      description: "The error's message, at most 1,000 characters; control characters are shown as marks",
    }),
    at: Timestamp("When it failed"),
    place: Type.Optional(Place),
  },
  { ...closed, description: "The last failure of a handler that has not succeeded since" },
);
export type AgentFailure = Static<typeof AgentFailure>;

export const Agent = Type.Object(
  {
    id: Type.String({ description: "The agent's id, which is its extension's" }),
    name: Type.String({ description: "The extension's name" }),
    version: Type.String({ description: "The extension's version" }),
    state: AgentState,
    error: Type.Optional(Type.String({ description: "Why it is in `Error` or `Suspended`" })),
    disabled: Type.Optional(
      Type.Literal(true, {
        description: "It was disabled: it stays `Unloaded` until it is enabled, and is sent no event",
      }),
    ),
    awaiting: Type.Optional(
      Type.Literal("acceptance", {
        description:
          "It is in `Error` only because a person has not accepted what it asks for, or its program",
      }),
    ),
    last_failure: Type.Optional(AgentFailure),
    problems: Type.Optional(
      Type.Integer({
        minimum: 1,
        description:
          "How many errors its manifest, or the documents' entry for it, has: it is in `Error` because of them. `version` is empty and `metrics` are zero where they are unknown",
      }),
    ),
    first_problem: Type.Optional(
      Type.Object(
        { message: Type.String({ description: "What is wrong" }), place: Type.Optional(Place) },
        { ...closed, description: "The first of its `problems`" },
      ),
    ),
    since: Timestamp("When it came into its state"),
    hooks: Type.Array(AgentHook, { description: "What wakes it" }),
    tools: Type.Array(Type.String(), { description: "Names of the tools that it offers" }),
    mind: Type.Optional(
      Type.Literal(true, { description: "It has a mind: `lares/conversations/open` begins a conversation" }),
    ),
    permissions: Type.Array(Type.String(), {
      description: "Names of its effective permissions: asked for, granted and not denied",
    }),
    locations: Type.Array(Type.String(), {
      description: 'Folders of the workspace that it may see; "." is all of it',
    }),
    metrics: AgentMetrics,
  },
  { ...closed, description: "An agent: a running or stopped extension" },
);
export type Agent = Static<typeof Agent>;

export const AgentCommand = Type.Union(
  [
    Type.Literal("enable", { description: "A disabled agent gets events again" }),
    Type.Literal("disable", { description: "It is stopped and sent no event until it is enabled" }),
    Type.Literal("suspend", { description: "It is stopped; its events wait until it is resumed" }),
    Type.Literal("resume", { description: "Resumes a suspended agent, or with `hook` a suspended schedule" }),
    Type.Literal("reload", { description: "Reloads its program, also after an `Error`" }),
  ],
  { description: "What to do with the agent" },
);
export type AgentCommand = Static<typeof AgentCommand>;

export const Tool = Type.Object(
  {
    agent: Type.String({ description: "The id of the agent that offers it" }),
    name: Type.String({ description: "What it is called by" }),
    description: Type.String({ description: "What it does, for people and language models" }),
    parameters: Type.Record(Type.String(), Type.Unknown(), { description: "JSON Schema of its arguments" }),
  },
  { ...closed, description: "A function that an agent offers to people and other agents" },
);
export type Tool = Static<typeof Tool>;
