import { Type, type Static } from "typebox";

const Count = (description: string) => Type.Integer({ minimum: 0, description });
const Head = Type.String({
  description:
    "The last hash of the journal's chain, 64 hexadecimal digits: the same for two memories with the same records",
});
const Time = (description: string) =>
  Type.Union([Type.String(), Type.Null()], {
    description: `${description}, UTC, ISO 8601; null if there is none`,
  });

/** What is made of the journal so that it can be asked. */
const Projections = Type.Object({
  projected: Count("The record up to which the projections are"),
  temporal: Type.Object(
    {
      events: Count("How many events there are"),
      oldest: Time("When the oldest one happened"),
      newest: Time("When the newest one happened"),
    },
    { description: "The history" },
  ),
  knowledge: Type.Object(
    { items: Count("How many items there are"), relations: Count("How many relations between them") },
    { description: "The knowledge" },
  ),
  vectors: Type.Object(
    {
      engine: Type.String({ description: "The engine in use: exact, faiss or usearch" }),
      dimensions: Count("Numbers in a vector"),
      count: Count("How many vectors there are"),
      hot: Count("Vectors that are kept exactly"),
      warm: Count("Vectors that are kept at half the size"),
      cold: Count("Vectors that are kept quantized"),
      pending: Count("Items that wait for their embedding"),
      failed: Count("Items that could not be embedded; they are found by text only"),
    },
    { description: "The vector index" },
  ),
  embedder: Type.String({ description: "What turns texts into vectors" }),
  rebuilding: Type.Optional(
    Type.Object(
      {
        what: Type.Enum(["projections", "embeddings", "index"], { description: "What is rebuilt" }),
        fraction: Type.Number({ minimum: 0, maximum: 1, description: "How much of it is done" }),
      },
      { description: "Present while something is rebuilt" },
    ),
  ),
  bytes: Count("Size of all projections on the disk, bytes"),
});

export const MemoryStats = Type.Object({
  records: Count("Records in the journal"),
  head: Type.String({ description: "The last hash of the journal's chain; zeros if there is no record" }),
  sizeBytes: Count("Size of the journal, bytes"),
  limitBytes: Count("What the journal may have, by `max_storage_mb`, bytes"),
  projections: Type.Union([Projections, Type.Null()], {
    description:
      "What the kernel made of the journal so that it can be asked; null where nothing was asked of this memory yet",
  }),
});
export type MemoryStats = Static<typeof MemoryStats>;

/** A memory that several agents may open. */
export const SharedMemory = Type.Object(
  {
    name: Type.String({ description: "What `namespace` is where this memory is meant" }),
    agents: Type.Array(Type.String(), { description: "Ids of the agents that may open it" }),
    access: Type.Enum(["read", "read_write"], { description: "What these agents may do with it" }),
    workspace: Type.Optional(
      Type.String({
        description:
          "The absolute path of the workspace that it belongs to, where it is another one's and can only be queried here",
      }),
    ),
    records: Type.Optional(
      Type.Integer({
        minimum: 0,
        description: "Records in its journal; absent where it is another workspace's",
      }),
    ),
  },
  { description: "A memory that several agents may open" },
);
export type SharedMemory = Static<typeof SharedMemory>;

export const MemoryExport = Type.Object({
  path: Type.String({ description: "The file that was written" }),
  records: Count("Records in it"),
  head: Head,
  bytes: Count("Size of the file, bytes"),
  vectors: Count("Vectors in it"),
});
export type MemoryExport = Static<typeof MemoryExport>;

export const MemoryImport = Type.Object({
  records: Count("Records in the file"),
  head: Head,
  from: Type.String({ description: 'The memory that was exported, as the file says: "extension/<id>"' }),
  created: Type.String({ description: "When it was exported, as the file says" }),
  first: Type.String({ description: "When the first record was written" }),
  last: Type.String({ description: "When the last record was written" }),
  bytes: Count("Size of the journal in it, bytes"),
  vectors: Count("Vectors in it"),
  imported: Type.Boolean({ description: "False: it was a preview, and nothing was written" }),
});
export type MemoryImport = Static<typeof MemoryImport>;
