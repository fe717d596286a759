import { Type, type Static } from "typebox";
import { closed } from "../../base/vocabulary/common.ts";
import { ExtensionId } from "../../base/vocabulary/extension.ts";
import { Permissions } from "../../base/vocabulary/permissions.ts";
import { TraceLevel } from "../../base/vocabulary/trace.ts";

const Text = (description: string, maxLength = 1024) => Type.String({ maxLength, description });
const Name = (description: string) => Type.String({ minLength: 1, maxLength: 128, description });
const Amount = (maximum: number, description: string) => Type.Integer({ minimum: 1, maximum, description });

export const Hook = Type.Object(
  {
    on: Type.Optional(Name("The event, e.g. EntryCreated, or publisher.id/EventName")),
    filter: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 4096,
        description: "CEL over the event's fields; default every event",
      }),
    ),
    schedule: Type.Optional(
      Type.String({
        maxLength: 256,
        description: 'Cron: "minute hour day month weekday", or @daily and the like',
      }),
    ),
    timezone: Type.Optional(Name("IANA name, e.g. Europe/Berlin; default UTC")),
    catch_up: Type.Optional(
      Type.Union([Type.Literal("skip"), Type.Literal("once"), Type.Literal("all")], {
        description: "What becomes of runs that were missed; default skip",
      }),
    ),
    handler: Name("The hook of the program that is called"),
  },
  closed,
);

export const ManifestTool = Type.Object(
  {
    name: Type.String({
      minLength: 1,
      maxLength: 64,
      pattern: "^[A-Za-z][A-Za-z0-9_-]*$",
      description: "How it is called",
    }),
    description: Text("What it does, for people and language models", 4096),
    handler: Name("The tool of the program that is called"),
    parameters: Type.Optional(
      Type.Record(Type.String(), Type.Unknown(), { description: "JSON Schema of its arguments, an object" }),
    ),
  },
  closed,
);

const Model = Type.Object(
  {
    name: Name("How the program asks for it"),
    version: Type.Optional(Name("Free text")),
    source: Type.Optional(
      Type.Record(Type.String(), Type.Unknown(), { description: "Where it comes from, e.g. { url = … }" }),
    ),
    sha256: Type.Optional(Type.String({ maxLength: 128, description: "Of the file, 64 hexadecimal digits" })),
    size_mb: Type.Optional(Type.Number({ minimum: 0, description: "Mebibytes" })),
  },
  closed,
);

const Resources = Type.Object(
  {
    max_memory_mb: Type.Optional(Amount(4096, "Linear memory of the program, mebibytes; default 256")),
    max_storage_mb: Type.Optional(Amount(1_048_576, "Memories and sidecars, mebibytes; default 1024")),
    max_vectors: Type.Optional(
      Amount(
        100_000_000,
        "Vectors of its memory; beyond it the ones used least go, and are found by text only; default 200000",
      ),
    ),
    max_cpu_ms_per_event: Type.Optional(
      Amount(3_600_000, "CPU time for one event, milliseconds; default 5000"),
    ),
    max_wall_ms_per_event: Type.Optional(
      Amount(3_600_000, "Time a handler may hang, milliseconds; default 30000"),
    ),
    max_events_per_second: Type.Optional(Amount(100_000, "More are delayed, not dropped; default 100")),
    allowed_hosts: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 255 }), {
        maxItems: 64,
        description: "Hosts it may reach",
      }),
    ),
  },
  closed,
);

const AgentSettings = Type.Object(
  {
    enable_memory: Type.Optional(Type.Boolean({ description: "Default true" })),
    memory_retention_days: Type.Optional(Amount(36_500, "Older events are dropped; default never")),
    memory_prune: Type.Optional(
      Type.Object(
        {
          below_importance: Type.Number({
            minimum: 0,
            maximum: 1,
            description: "As it is by then: importance fades with time, and grows with use and relations",
          }),
          older_than_days: Amount(36_500, "Since it was added or changed"),
        },
        {
          ...closed,
          description: "Knowledge that was never found, and is both, is removed; default: none is",
        },
      ),
    ),
    trace_level: Type.Optional(TraceLevel),
    activation: Type.Optional(
      Type.Union([Type.Literal("on_event"), Type.Literal("eager")], {
        description: "When it is loaded; default on_event",
      }),
    ),
  },
  closed,
);

const Requirements = Type.Object(
  {
    min_core_version: Type.Optional(Name("The oldest kernel it works with")),
    features: Type.Optional(Type.Array(Name("A feature of the kernel"), { maxItems: 64 })),
  },
  closed,
);

/** An extension's manifest as written, in either format. */
export const Manifest = Type.Object(
  {
    $schema: Type.Optional(Type.String()),
    extension: Type.Object(
      {
        id: ExtensionId,
        name: Name("What people call it"),
        version: Type.String({ minLength: 1, maxLength: 64, description: "Of the form 1.2.3" }),
        description: Type.Optional(Text("What it is for")),
        author: Type.Optional(Text("Who wrote it")),
        license: Type.Optional(Text("SPDX identifier")),
        main: Type.Optional(
          Type.String({
            minLength: 1,
            maxLength: 1024,
            description:
              "The program, beneath the manifest's folder; default the first that exists of agent.wasm, agent.ts, agent.js",
          }),
        ),
        requirements: Type.Optional(Requirements),
        permissions: Type.Optional(Permissions),
        resources: Type.Optional(Resources),
        agent: Type.Optional(AgentSettings),
        hooks: Type.Optional(Type.Array(Hook, { maxItems: 256 })),
        tools: Type.Optional(Type.Array(ManifestTool, { maxItems: 256 })),
        models: Type.Optional(Type.Array(Model, { maxItems: 64 })),
      },
      closed,
    ),
  },
  { ...closed, title: "Manifest of a Lares extension" },
);
export type Manifest = Static<typeof Manifest>;
export type ManifestResources = Static<typeof Resources>;
export type ManifestHook = Static<typeof Hook>;
