import { Type, type Static } from "typebox";
import { ApprovalRule } from "../../base/vocabulary/action.ts";
import { closed } from "../../base/vocabulary/common.ts";
import { ExtensionId } from "../../base/vocabulary/extension.ts";
import { TraceLevel } from "../../base/vocabulary/trace.ts";
import { durationPattern } from "../durations.ts";

const Duration = (description: string) =>
  Type.String({ pattern: durationPattern, maxLength: 32, description });
const Amount = (maximum: number, description: string) => Type.Integer({ minimum: 1, maximum, description });
const Path = (description: string) => Type.String({ minLength: 1, maxLength: 4096, description });

const PermissionList = (description: string) =>
  Type.Array(Type.String({ minLength: 1, maxLength: 64 }), { maxItems: 64, description });

export const ExtensionEntry = Type.Object(
  {
    path: Type.Optional(Path("The extension's folder, relative to this document")),
    id: Type.Optional(ExtensionId),
    enabled: Type.Optional(Type.Boolean({ description: "Default true" })),
    grants: Type.Optional(
      Type.Object(
        {
          locations: Type.Optional(
            Type.Array(Path("A folder of the workspace"), {
              maxItems: 256,
              description: 'Folders it may see; "." is all of the workspace, and the default',
            }),
          ),
          allow: Type.Optional(PermissionList('Of what the manifest asks for; default ["*"]')),
          deny: Type.Optional(PermissionList("Beats allow")),
        },
        closed,
      ),
    ),
    config: Type.Optional(
      Type.Record(Type.String(), Type.Unknown(), { description: "Handed to the extension as it is" }),
    ),
  },
  closed,
);

/** What can reach out: counts in the user's document only. */
const RemoteEmbedder = Type.Object(
  {
    kind: Type.Literal("openai-compatible"),
    url: Type.String({ minLength: 1, maxLength: 2048, description: "Base of the /v1/embeddings endpoint" }),
    model: Type.String({ minLength: 1, maxLength: 256 }),
    dimensions: Type.Optional(Amount(65_536, "Of a vector")),
  },
  closed,
);
const LocalEmbedder = Type.Object(
  {
    kind: Type.Literal("onnx"),
    path: Path("A model file"),
    dimensions: Type.Optional(Amount(65_536, "Of a vector")),
  },
  closed,
);
export const Embedder = Type.Union([Type.Literal("hash"), RemoteEmbedder, LocalEmbedder], {
  description:
    "How texts become vectors; default hash, which needs nothing. Others in the user's document only",
});

const Vectors = Type.Union(
  [Type.Literal("auto"), Type.Literal("exact"), Type.Literal("usearch"), Type.Literal("faiss")],
  { description: "The vector index; default auto" },
);

const Namespace = (description: string) =>
  Type.Object(
    {
      name: Type.String({ minLength: 1, maxLength: 128, pattern: "^[A-Za-z0-9][A-Za-z0-9._-]*$" }),
      extensions: Type.Optional(
        Type.Array(ExtensionId, { maxItems: 256, description: "Who may open it; default all" }),
      ),
      read_write: Type.Optional(
        Type.Boolean({ description: "One writer at a time; default false, read only" }),
      ),
      workspace: Type.Optional(
        Path("For an import: the workspace whose memory it is, relative to this document"),
      ),
    },
    { ...closed, description },
  );

/** `lares.yaml` as written, in either format: the workspace's, and the user's. */
export const Lares = Type.Object(
  {
    $schema: Type.Optional(Type.String()),
    version: Type.Optional(Type.Literal(1, { description: "Of this format; default 1" })),
    extensions: Type.Optional(Type.Array(ExtensionEntry, { maxItems: 1024 })),
    approvals: Type.Optional(
      Type.Object(
        {
          auto_approve_below: Type.Optional(
            Type.Number({
              minimum: 0,
              maximum: 1,
              description: "Impact score; default 0: everything that changes files is asked",
            }),
          ),
          expire_after: Type.Optional(Duration("How long a proposal waits for a decision; default 24h")),
          rules: Type.Optional(
            Type.Array(ApprovalRule, { maxItems: 1024, description: "deny, then ask, then allow" }),
          ),
        },
        closed,
      ),
    ),
    limits: Type.Optional(
      Type.Object(
        {
          active_agents: Type.Optional(Amount(1024, "Agents loaded at once; default 16")),
          idle_unload: Type.Optional(Duration("An agent idle for this long is unloaded; default 5m")),
          max_memory_mb: Type.Optional(Amount(4096, "Caps what manifests request; default 512")),
          max_storage_mb: Type.Optional(Amount(1_048_576, "Caps what manifests request; default 4096")),
          max_vectors: Type.Optional(Amount(100_000_000, "Caps what manifests request; default 1000000")),
          max_cpu_ms_per_event: Type.Optional(Amount(3_600_000, "Caps what manifests request; default 5000")),
          max_wall_ms_per_event: Type.Optional(
            Amount(3_600_000, "Caps what manifests request; default 30000"),
          ),
          max_events_per_second: Type.Optional(Amount(100_000, "Caps what manifests request; default 1000")),
        },
        closed,
      ),
    ),
    kernel: Type.Optional(
      Type.Object(
        {
          linger: Type.Optional(
            Duration("How long the kernel stays after its last client left; default 10s"),
          ),
        },
        closed,
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
              Type.Object({ embedder: Type.Optional(Embedder), vectors: Type.Optional(Vectors) }, closed),
              { maxProperties: 256, description: "For one extension's memory, by its id" },
            ),
          ),
        },
        closed,
      ),
    ),
    trace: Type.Optional(
      Type.Object(
        {
          level: Type.Optional(TraceLevel),
          keep: Type.Optional(Duration("Older traces are deleted; default 30d")),
        },
        closed,
      ),
    ),
    index: Type.Optional(
      Type.Object(
        {
          hidden: Type.Optional(
            Type.Boolean({ description: "Whether names that begin with a dot are indexed; default false" }),
          ),
          ignore: Type.Optional(
            Type.Array(Type.String({ minLength: 1, maxLength: 1024 }), {
              maxItems: 1024,
              description: "Globs that are left out, beside .gitignore's",
            }),
          ),
        },
        closed,
      ),
    ),
    shared_namespaces: Type.Optional(
      Type.Array(Namespace("A memory that several extensions may open"), { maxItems: 64 }),
    ),
    import_namespaces: Type.Optional(
      Type.Array(Namespace("A shared memory of another workspace"), { maxItems: 64 }),
    ),
    ai: Type.Optional(
      Type.Record(Type.String(), Type.Unknown(), {
        description: "Providers of language models; in the user's document only",
      }),
    ),
  },
  { ...closed, title: "Configuration of a Lares workspace, or of a user" },
);
export type LaresDocument = Static<typeof Lares>;
export type ExtensionEntry = Static<typeof ExtensionEntry>;
export type Embedder = Static<typeof Embedder>;
