import { maxRetentionDays } from "../../base/vocabulary/bounds.ts";
import { Type, type Static } from "typebox";
import { closed } from "../../base/vocabulary/common.ts";
import { ExtensionId } from "../../base/vocabulary/extension.ts";
import { Permissions } from "../../base/vocabulary/permissions.ts";
import { TraceLevel } from "../../base/vocabulary/trace.ts";
import { ActionDeclaration } from "./actions.ts";
import { DeclaredModels } from "./declared-models.ts";
import { EventDeclaration } from "./events.ts";
import { Command, Hook } from "./hooks.ts";
import { Mind } from "./mind.ts";
import { SharedType } from "./shared-types.ts";

const Text = (description: string, maxLength = 1024) => Type.String({ maxLength, description });
const Name = (description: string) => Type.String({ minLength: 1, maxLength: 128, description });
const Amount = (maximum: number, description: string, fallback?: number) =>
  Type.Integer({
    minimum: 1,
    maximum,
    description: fallback === undefined ? description : `${description}; default ${fallback}`,
    ...(fallback === undefined ? {} : { default: fallback }),
  });

const ManifestTool = Type.Object(
  {
    name: Type.String({
      minLength: 1,
      maxLength: 64,
      pattern: "^[A-Za-z][A-Za-z0-9_-]*$",
      description: "What people and agents call it by: letters, digits, dashes",
    }),
    description: Text("What it does, for people and language models", 4096),
    handler: Name("The function under tools of the program that is called"),
    parameters: Type.Optional(
      Type.Record(Type.String(), Type.Unknown(), {
        description: "JSON Schema of its arguments, with type: object; default no arguments are checked",
      }),
    ),
  },
  { ...closed, description: "Something that people and other agents can have this one do" },
);

const Resources = Type.Object(
  {
    max_memory_mb: Type.Optional(Amount(4096, "Memory of the program, mebibytes", 256)),
    max_storage_mb: Type.Optional(
      Amount(1_048_576, "What it may keep in memories and sidecars, mebibytes", 1024),
    ),
    max_vectors: Type.Optional(
      Amount(
        100_000_000,
        "Vectors of its memory; beyond it the ones used least go, and are found by text only",
        200_000,
      ),
    ),
    max_cpu_ms_per_event: Type.Optional(Amount(3_600_000, "CPU time for one event, milliseconds", 5000)),
    max_wall_ms_per_event: Type.Optional(
      Amount(
        3_600_000,
        "Time a handler may hang without computing or waiting for an answer, milliseconds",
        30_000,
      ),
    ),
    max_events_per_second: Type.Optional(
      Amount(100_000, "Events it takes in a second; more are delayed, none is dropped", 100),
    ),
    allowed_hosts: Type.Optional(
      Type.Array(
        Type.String({
          minLength: 1,
          maxLength: 255,
          description: "A host's name",
          examples: ["api.example.com"],
        }),
        { maxItems: 64, description: "Hosts it may reach; default none" },
      ),
    ),
  },
  {
    ...closed,
    description: "What the program wants to use; a workspace's limits cut it down to what is left",
  },
);

const AgentSettings = Type.Object(
  {
    enable_memory: Type.Optional(
      Type.Boolean({ description: "Whether it remembers anything; default true", default: true }),
    ),
    memory_retention_days: Type.Optional(Amount(maxRetentionDays, "Older events are dropped; default never")),
    memory_prune: Type.Optional(
      Type.Object(
        {
          below_importance: Type.Number({
            minimum: 0,
            maximum: 1,
            description:
              "Importance below which it goes, as it is by then: it fades with time, and grows with use and relations",
          }),
          older_than_days: Amount(maxRetentionDays, "Days since it was added or changed"),
        },
        {
          ...closed,
          description: "Knowledge that was never found, and is both, is removed; default: none is",
        },
      ),
    ),
    trace_level: Type.Optional(
      Type.Union(TraceLevel.anyOf, {
        description: "The least of its traces that is kept; default the workspace's",
      }),
    ),
    activation: Type.Optional(
      Type.Union(
        [
          Type.Literal("on_event", { description: "With the first event that it waits for" }),
          Type.Literal("eager", { description: "As soon as the kernel is ready" }),
        ],
        { description: "When it is loaded; default on_event", default: "on_event" },
      ),
    ),
    concurrency: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 64,
        description: "How many tasks of a job run at once; default 2",
        default: 2,
      }),
    ),
  },
  { ...closed, description: "How the agent lives and remembers" },
);

const Requirements = Type.Object(
  {
    min_core_version: Type.Optional(Name("The oldest kernel it works with, of the form 1.2.3")),
    features: Type.Optional(
      Type.Array(Name("A feature of the kernel"), {
        maxItems: 64,
        description: "Features that the kernel has to have",
      }),
    ),
  },
  { ...closed, description: "What the extension needs of a kernel; what is not met is a warning" },
);

/** An extension's manifest as written, in either format. */
export const Manifest = Type.Object(
  {
    $schema: Type.Optional(Type.String({ description: "The schema's address, for editors" })),
    extension: Type.Object(
      {
        id: ExtensionId,
        name: Name("What people call it"),
        version: Type.String({
          minLength: 1,
          maxLength: 64,
          description: "The extension's version, of the form 1.2.3",
        }),
        description: Type.Optional(Text("What it is for, in a sentence")),
        author: Type.Optional(Text("Who wrote it")),
        license: Type.Optional(
          Type.String({
            maxLength: 1024,
            description: "Its licence, by the SPDX identifier",
            examples: ["MIT", "Apache-2.0", "GPL-3.0-or-later"],
          }),
        ),
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
        hooks: Type.Optional(
          Type.Array(Hook, {
            maxItems: 256,
            description: "The events and times that wake the agent, and the handler of each",
          }),
        ),
        tools: Type.Optional(
          Type.Array(ManifestTool, {
            maxItems: 256,
            description: "What people and other agents can have this one do",
          }),
        ),
        mind: Type.Optional(Mind),
        commands: Type.Optional(
          Type.Array(Command, {
            maxItems: 64,
            description: "What people can have the extension do by a name, as /tidy",
          }),
        ),
        actions: Type.Optional(
          Type.Array(ActionDeclaration, {
            maxItems: 64,
            description: "Changes that others can have it propose by a name; each is a tool too",
          }),
        ),
        events: Type.Optional(
          Type.Array(EventDeclaration, {
            maxItems: 64,
            description:
              "The events that it emits, with their fields; if there is such a list, others are refused. Needs the permission emit_events",
          }),
        ),
        types: Type.Optional(
          Type.Array(SharedType, {
            maxItems: 64,
            description:
              "Types of values that agents of the workspace share; it may use its own without a permission",
          }),
        ),
        models: Type.Optional(DeclaredModels("Models that the program uses")),
      },
      { ...closed, description: "An agent: who it is, what it asks for, and what wakes it" },
    ),
  },
  { ...closed, title: "Manifest of a Lares extension" },
);
export type Manifest = Static<typeof Manifest>;
export type ManifestResources = Static<typeof Resources>;
