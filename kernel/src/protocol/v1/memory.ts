import { Type, type Static } from "typebox";
import { define } from "../define.ts";
import { memoryFields, memoryResults } from "../memory-calls.ts";
import { Name } from "./fields.ts";

/** An absolute path on the kernel's machine. */
const MachinePath = Type.String({
  minLength: 1,
  maxLength: 4096,
  description: "Absolute, on the kernel's machine",
});

const Count = Type.Integer({ minimum: 0 });
const Head = Type.String({ description: "The chain's last hash, 64 hexadecimal digits: what to compare" });
const Time = Type.Union([Type.String(), Type.Null()]);
/** Whose memory: the agent's own, or a shared one of this workspace. */
const Whose = { agent: Name, ...memoryFields.workingRead };

/** What is made of the journal so that it can be asked. */
const Projections = Type.Object({
  projected: Type.Integer({ minimum: 0, description: "Up to this record" }),
  temporal: Type.Object({ events: Count, oldest: Time, newest: Time }),
  knowledge: Type.Object({ items: Count, relations: Count }),
  vectors: Type.Object({
    engine: Type.String({ description: "What serves now: exact, faiss, usearch" }),
    dimensions: Count,
    count: Count,
    hot: Count,
    warm: Count,
    cold: Count,
    pending: Type.Integer({ minimum: 0, description: "Items that wait for their embedding" }),
    failed: Type.Integer({ minimum: 0, description: "Items that were given up on; found by text only" }),
  }),
  embedder: Type.String(),
  rebuilding: Type.Optional(
    Type.Object({
      what: Type.Enum(["projections", "embeddings", "index"]),
      fraction: Type.Number({ minimum: 0, maximum: 1 }),
    }),
  ),
  bytes: Type.Integer({ minimum: 0, description: "Of all projections on the disk" }),
});

export const MemoryStats = Type.Object({
  records: Count,
  head: Type.String({ description: "The chain's last hash; zeros where there is no record" }),
  sizeBytes: Type.Integer({ minimum: 0, description: "Of the journal" }),
  limitBytes: Type.Integer({ minimum: 0, description: "max_storage_mb: what the journal may have" }),
  projections: Type.Union([Projections, Type.Null()], {
    description: "Null where nothing was asked of this memory yet: they are made when they are needed",
  }),
});
export type MemoryStats = Static<typeof MemoryStats>;

/** A memory that several agents may open. */
export const SharedMemory = Type.Object({
  name: Type.String({ description: "What `namespace` is where it is meant" }),
  agents: Type.Array(Type.String(), { description: "Those that may open it, of the agents there are" }),
  access: Type.Enum(["read", "read_write"], { description: "What they may do with it" }),
  workspace: Type.Optional(
    Type.String({
      description: "Of another workspace, at this path, and only to be queried here; absent: of this one",
    }),
  ),
  records: Type.Optional(
    Type.Integer({ minimum: 0, description: "In its journal; absent where it is another workspace's" }),
  ),
});
export type SharedMemory = Static<typeof SharedMemory>;

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
  /** The ABI's `memory/temporal/count`, for clients. */
  "lares/memory/count": {
    params: Type.Object({ ...memoryFields.temporalCount, agent: Name }),
    result: memoryResults.temporalCount,
  },
  "lares/memory/verify": {
    params: Type.Object(Whose),
    result: Type.Object({
      ok: Type.Boolean(),
      records: Type.Integer({ minimum: 0 }),
      head: Type.Union([Type.String(), Type.Null()], {
        description: "The chain's last hash; null while it is empty",
      }),
      firstBad: Type.Optional(Type.Object({ seq: Type.Integer(), reason: Type.String() })),
    }),
  },
  /** One file that carries the memory, as it was when this was asked. */
  "lares/memory/export": {
    params: Type.Object({
      ...Whose,
      path: MachinePath,
      overwrite: Type.Optional(
        Type.Boolean({ description: "Replaces a file that is there", default: false }),
      ),
    }),
    result: Type.Object({
      path: Type.String(),
      records: Count,
      head: Head,
      bytes: Type.Integer({ minimum: 0, description: "Of the file" }),
      vectors: Count,
    }),
  },
  /** Only into an empty memory; all of the file is proven first, also by a preview. */
  "lares/memory/import": {
    params: Type.Object({
      agent: Name,
      path: MachinePath,
      preview: Type.Optional(
        Type.Boolean({ description: "Only proves the file and says what is in it", default: false }),
      ),
      head: Type.Optional(
        Type.String({
          pattern: "^[0-9a-f]{64}$",
          description:
            "The head that is expected, as a person was shown it; DigestMismatch where it is another",
        }),
      ),
    }),
    result: Type.Object({
      records: Count,
      head: Head,
      from: Type.String({ description: 'Which memory it was, as the file says: "extension/<id>"' }),
      created: Type.String({ description: "When it was exported, as the file says" }),
      first: Type.String({ description: "When the first record was written down" }),
      last: Type.String({ description: "When the last record was written down" }),
      bytes: Type.Integer({ minimum: 0, description: "Of the journal in it" }),
      vectors: Count,
      imported: Type.Boolean({ description: "False: a preview, nothing was written" }),
    }),
  },
  "lares/memory/stats": {
    params: Type.Object(Whose),
    result: MemoryStats,
  },
  /** The shared memories that count; with `agent`, those that it may open. In the order in which documents name them. */
  "lares/memory/namespaces": {
    params: Type.Object({ agent: Type.Optional(Name) }),
    result: Type.Object({ namespaces: Type.Array(SharedMemory) }),
  },
  "lares/memory/forget": {
    params: Type.Object({ agent: Name, id: Name, reason: Type.Optional(Type.String({ maxLength: 4000 })) }),
    result: Type.Object({ seq: Type.Integer() }),
  },
});
