import { Type, type Static } from "typebox";
import { ApprovalRule } from "../../base/vocabulary/approval-rule.ts";
import { closed } from "../../base/vocabulary/common.ts";
import { ExtensionId } from "../../base/vocabulary/extension.ts";
import { NotificationRule } from "../../base/vocabulary/notification-rule.ts";
import { TraceLevel } from "../../base/vocabulary/trace.ts";
import { DeclaredModels } from "./declared-models.ts";
import { durationPattern } from "./durations.ts";
import { Egress } from "./egress.ts";
import { Capability } from "./hooks.ts";
import { Models } from "./models.ts";

const Duration = (description: string, fallback: string) =>
  Type.String({
    pattern: durationPattern,
    maxLength: 32,
    description: `${description}; default ${fallback}`,
    default: fallback,
    examples: ["500ms", "10s", "5m", "24h", "30d"].filter((example) => example !== fallback),
  });
const Amount = (maximum: number, description: string) => Type.Integer({ minimum: 1, maximum, description });
/** Caps for what manifests request. */
const Cap = (maximum: number, what: string, fallback: number) =>
  Type.Integer({
    minimum: 1,
    maximum,
    description: `${what}: the most that a manifest gets, whatever it requests; default ${fallback}`,
    default: fallback,
  });
const Path = (description: string) => Type.String({ minLength: 1, maxLength: 4096, description });

const PermissionList = (description: string) =>
  Type.Array(Type.String({ minLength: 1, maxLength: 64, description: "A permission, or * for all" }), {
    maxItems: 64,
    description,
  });

export const ExtensionEntry = Type.Object(
  {
    path: Type.Optional(
      Path("The extension's folder, relative to this document; instead of id, for one that lies elsewhere"),
    ),
    id: Type.Optional(
      Type.String({
        ...ExtensionId,
        description:
          "The extension's id; it is looked for in .lares/extensions, in your own folder of extensions, and in what comes with Lares",
      }),
    ),
    enabled: Type.Optional(
      Type.Boolean({ description: "false keeps the entry and runs no agent; default true", default: true }),
    ),
    grants: Type.Optional(
      Type.Object(
        {
          locations: Type.Optional(
            Type.Array(Path("A folder of the workspace"), {
              maxItems: 256,
              description: 'Folders it may see; "." is all of the workspace, and the default',
              default: ["."],
            }),
          ),
          allow: Type.Optional(
            PermissionList('Permissions it gets of those its manifest asks for; default ["*"], all of them'),
          ),
          deny: Type.Optional(
            PermissionList("Permissions it does not get, whatever it asks for; deny beats allow"),
          ),
        },
        {
          ...closed,
          description:
            "What the extension may do and where. It counts once a person has accepted this document",
        },
      ),
    ),
    config: Type.Optional(
      Type.Record(Type.String(), Type.Unknown(), {
        description: "The extension's own settings, handed to it as they are",
      }),
    ),
    models: Type.Optional(
      DeclaredModels(
        "Models that the extension gets besides those of its manifest; one of the same name takes that one's place. It counts once a person has accepted it",
      ),
    ),
  },
  closed,
);

/** Settings that allow network access; only the user's document may set them. */
const RemoteEmbedder = Type.Object(
  {
    kind: Type.Literal("openai-compatible", { description: "A service with OpenAI's interface" }),
    url: Type.String({
      minLength: 1,
      maxLength: 2048,
      description: "Base of the /v1/embeddings endpoint",
      examples: ["http://localhost:11434"],
    }),
    model: Type.String({ minLength: 1, maxLength: 256, description: "The model's name at the service" }),
    dimensions: Type.Optional(Amount(65_536, "Numbers in a vector; default the model's own")),
  },
  {
    ...closed,
    description:
      "A service that turns texts into vectors: what is remembered is sent to it, and what is said to agents that may use_models `embedding`",
  },
);
const LocalEmbedder = Type.Object(
  {
    kind: Type.Literal("onnx", { description: "A model on this machine" }),
    path: Path("The model's file, relative to this document"),
    dimensions: Type.Optional(Amount(65_536, "Numbers in a vector; default the model's own")),
  },
  { ...closed, description: "A model file that runs on this machine" },
);
export const Embedder = Type.Union(
  [
    Type.Literal("hash", { description: "Compares words; needs no model and no network" }),
    Type.Literal("minilm", {
      description:
        "Compares meanings, in English; runs here, once `lares models fetch minilm` has brought it",
    }),
    RemoteEmbedder,
    LocalEmbedder,
  ],
  {
    description:
      "How texts become vectors; default hash, which needs nothing. A service or a file counts in your own document only",
    default: "hash",
  },
);

const Vectors = Type.Union(
  [
    Type.Literal("auto", {
      description: "exact below 10,000 vectors; above, faiss where it loads, else usearch",
    }),
    Type.Literal("exact", { description: "Compares with every vector: nothing is missed" }),
    Type.Literal("usearch", { description: "An approximate index, part of Lares" }),
    Type.Literal("faiss", { description: "An approximate index, where the library is installed" }),
  ],
  { description: "The vector index; default auto", default: "auto" },
);

const Namespace = (description: string) =>
  Type.Object(
    {
      name: Type.String({
        minLength: 1,
        maxLength: 128,
        pattern: "^[A-Za-z0-9][A-Za-z0-9._-]*$",
        description: "What agents open it by: letters, digits, dots, dashes",
      }),
      extensions: Type.Optional(
        Type.Array(ExtensionId, { maxItems: 256, description: "Extensions that may open it; default all" }),
      ),
      read_write: Type.Optional(
        Type.Boolean({
          description: "Whether they may write to it, one at a time; default false, read only",
          default: false,
        }),
      ),
      workspace: Type.Optional(
        Path("For an import: the workspace whose memory it is, relative to this document"),
      ),
    },
    { ...closed, description },
  );

const traceLevelOptions = { description: "The least that is kept; default info", default: "info" } as const;

/** `lares.yaml` as written, in either format, in a workspace or for a user. */
export const Lares = Type.Object(
  {
    $schema: Type.Optional(Type.String({ description: "The schema's address, for editors" })),
    version: Type.Optional(
      Type.Literal(1, { description: "The version of this format, 1; default 1", default: 1 }),
    ),
    extensions: Type.Optional(
      Type.Array(ExtensionEntry, {
        maxItems: 1024,
        description: "The extensions whose agents run here, and what each of them is granted",
      }),
    ),
    approvals: Type.Optional(
      Type.Object(
        {
          auto_approve_below: Type.Optional(
            Type.Number({
              minimum: 0,
              maximum: 1,
              description:
                "Changes with a smaller impact score than this are made without asking; default 0: everything that changes files is asked",
              default: 0,
              examples: [0.2],
            }),
          ),
          expire_after: Type.Optional(Duration("How long a proposal waits for a decision", "24h")),
          rules: Type.Optional(
            Type.Array(ApprovalRule, {
              maxItems: 1024,
              description:
                "Decisions made beforehand. Among the rules that match, deny counts before ask, and ask before allow",
            }),
          ),
        },
        { ...closed, description: "Which of the changes that agents propose are asked, made or refused" },
      ),
    ),
    limits: Type.Optional(
      Type.Object(
        {
          active_agents: Type.Optional(
            Type.Integer({
              minimum: 1,
              maximum: 1024,
              description:
                "Agents loaded at once; others wait until one is idle. Up to eight more are loaded for calls that wait for their answers. Default 16",
              default: 16,
            }),
          ),
          idle_unload: Type.Optional(Duration("An agent idle for this long is unloaded", "5m")),
          max_memory_mb: Type.Optional(Cap(4096, "Memory of a program, mebibytes", 512)),
          max_storage_mb: Type.Optional(Cap(1_048_576, "What an agent may keep, mebibytes", 4096)),
          max_vectors: Type.Optional(Cap(100_000_000, "Vectors of an agent's memory", 1_000_000)),
          max_cpu_ms_per_event: Type.Optional(Cap(3_600_000, "CPU time for one event, milliseconds", 5000)),
          max_wall_ms_per_event: Type.Optional(
            Cap(3_600_000, "Time a handler may hang, milliseconds", 30_000),
          ),
          max_events_per_second: Type.Optional(Cap(100_000, "Events an agent gets in a second", 1000)),
        },
        { ...closed, description: "What all agents together, and each of them, may use" },
      ),
    ),
    kernel: Type.Optional(
      Type.Object(
        {
          linger: Type.Optional(Duration("How long the kernel stays after its last client left", "10s")),
        },
        { ...closed, description: "The process that runs the agents of this workspace" },
      ),
    ),
    memory: Type.Optional(
      Type.Object(
        {
          embedder: Type.Optional(Embedder),
          vectors: Type.Optional(Vectors),
          extensions: Type.Optional(
            Type.Record(
              Type.String({ minLength: 1, maxLength: 128 }),
              Type.Object(
                { embedder: Type.Optional(Embedder), vectors: Type.Optional(Vectors) },
                { ...closed, description: "What differs for this extension's memory" },
              ),
              { maxProperties: 256, description: "What differs for one extension's memory, by its id" },
            ),
          ),
        },
        { ...closed, description: "How agents' memories are searched" },
      ),
    ),
    trace: Type.Optional(
      Type.Object(
        {
          level: Type.Optional(Type.Union(TraceLevel.anyOf, traceLevelOptions)),
          keep: Type.Optional(Duration("Older traces are deleted", "30d")),
        },
        { ...closed, description: "What agents leave behind of what they did" },
      ),
    ),
    notifications: Type.Optional(
      Type.Object(
        {
          rules: Type.Optional(
            Type.Array(NotificationRule, {
              maxItems: 256,
              description:
                "Where notifications are shown; the first rule that matches counts. Without one: editor and terminal. A workspace's rules only take channels away from those that your own document leaves",
            }),
          ),
        },
        { ...closed, description: "Where the notifications of agents are shown" },
      ),
    ),
    index: Type.Optional(
      Type.Object(
        {
          hidden: Type.Optional(
            Type.Boolean({
              description: "Whether names that begin with a dot are indexed; default false",
              default: false,
            }),
          ),
          ignore: Type.Optional(
            Type.Array(
              Type.String({
                minLength: 1,
                maxLength: 1024,
                description: "A glob, relative to the workspace",
                examples: ["build/**", "*.tmp"],
              }),
              { maxItems: 1024, description: "What agents do not see, beside what .gitignore names" },
            ),
          ),
        },
        { ...closed, description: "Which files of the workspace agents can know of" },
      ),
    ),
    conversations: Type.Optional(
      Type.Object(
        {
          untrusted: Type.Optional(
            Type.Array(
              Type.String({
                minLength: 1,
                maxLength: 1024,
                description: "A glob, relative to the workspace",
                examples: ["downloads/**"],
              }),
              {
                maxItems: 1024,
                description:
                  "Files whose contents others wrote: a conversation that read one asks before each change. Always among them: downloads/**",
              },
            ),
          ),
          at_once: Type.Optional(
            Type.Integer({
              minimum: 1,
              maximum: 4096,
              description: "Processes of all conversations that run at once; others wait; default 256",
              default: 256,
            }),
          ),
          processes: Type.Optional(
            Type.Integer({
              minimum: 1,
              maximum: 64,
              description:
                "Processes of one conversation that run at once; others wait. Workers that wait for a follow-up count, and end to make room; default 8",
              default: 8,
            }),
          ),
          unattended: Type.Optional(
            Duration("How long conversations keep running after the last trusted client left", "30m"),
          ),
        },
        { ...closed, description: "How people and agents talk" },
      ),
    ),
    shared_namespaces: Type.Optional(
      Type.Array(Namespace("A memory that several extensions may open"), {
        maxItems: 64,
        description: "Memories of this workspace that several extensions may open",
      }),
    ),
    import_namespaces: Type.Optional(
      Type.Array(Namespace("A shared memory of another workspace"), {
        maxItems: 64,
        description: "Shared memories of other workspaces, to be read here",
      }),
    ),
    device: Type.Optional(
      Type.Object(
        {
          capabilities: Type.Optional(
            Type.Array(
              Type.String({ ...Capability, description: "A capability, such as gpu or always_on" }),
              {
                maxItems: 64,
                uniqueItems: true,
                description:
                  "What this device can do: schedules with on_device_with_capability run here if theirs is listed; default none",
              },
            ),
          ),
        },
        { ...closed, description: "This device; counts in your own document only" },
      ),
    ),
    models: Type.Optional(Models),
    egress: Type.Optional(Egress),
    ai: Type.Optional(
      Type.Unknown({
        deprecated: true,
        description: "Never read. Providers of language models belong under models",
      }),
    ),
  },
  { ...closed, title: "Configuration of a Lares workspace, or of a user" },
);
export type LaresDocument = Static<typeof Lares>;
export type ExtensionEntry = Static<typeof ExtensionEntry>;
export type Embedder = Static<typeof Embedder>;
