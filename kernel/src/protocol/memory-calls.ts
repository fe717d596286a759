import { Type, type TObject, type TProperties } from "typebox";
import { closed } from "../base/vocabulary/common.ts";

/** Fields that the client's memory requests and the guest's memory calls share. */

const Text = Type.String({ minLength: 1, maxLength: 8192 });
const Variant = Type.String({ minLength: 1, maxLength: 128 });
const Id = Type.String({ minLength: 1, maxLength: 128 });
const FieldPath = Type.String({ minLength: 1, maxLength: 256, description: 'Dotted: "a.b.c"' });
const When = Type.String({ minLength: 1, maxLength: 40, description: 'ISO 8601, or an age such as "7d"' });
const Limit = (value: number) => Type.Integer({ minimum: 1, maximum: 1000, default: value });

/** Largest number of dimensions of an embedding. */
const maxDimensions = 4096;
export const Embedding = Type.Array(Type.Number(), { minItems: 1, maxItems: maxDimensions });

export const Where = Type.Object(
  {
    field: FieldPath,
    op: Type.Enum(["eq", "ne", "in", "gt", "gte", "lt", "lte", "contains", "near"]),
    value: Type.Unknown(),
    km: Type.Optional(Type.Number({ exclusiveMinimum: 0, description: 'Radius of "near"' })),
  },
  closed,
);
const WhereList = Type.Array(Where, { maxItems: 32 });

/** Every memory call may name a shared memory it was granted. */
const shared = { namespace: Type.Optional(Type.String({ minLength: 1, maxLength: 128 })) };

const Timestamp = Type.String({ maxLength: 40 });

/** Where something stands among the others of its kind: the ranking of a search also looks at what is next to a hit. */
const place = {
  source: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 256,
      description:
        "What it is a part of, such as a conversation or a file: parts of one source follow each other. Without one, what is added within half an hour of the one before it follows it",
    }),
  ),
  position: Type.Optional(Type.Number({ description: "Its place in the source; without one: by time" })),
};

const temporalFilter = {
  variant: Type.Optional(Variant),
  since: Type.Optional(When),
  until: Type.Optional(When),
  text: Type.Optional(Type.Object({ field: Type.Optional(FieldPath), match: Text }, closed)),
  where: Type.Optional(WhereList),
};

export const memoryFields = {
  workingRead: { ...shared },
  workingSwap: { ...shared, revision: Type.Integer({ minimum: 0 }), state: Type.Unknown() },
  temporalAppend: {
    ...shared,
    variant: Variant,
    data: Type.Unknown(),
    timestamp: Type.Optional(Timestamp),
    ...place,
  },
  temporalQuery: {
    ...shared,
    ...temporalFilter,
    order: Type.Optional(
      Type.Union([Type.Literal("asc"), Type.Literal("desc")], {
        default: "desc",
        description: "By timestamp, then by order of appending",
      }),
    ),
    limit: Type.Optional(Limit(100)),
    offset: Type.Optional(Type.Integer({ minimum: 0, default: 0 })),
  },
  temporalCount: {
    ...shared,
    ...temporalFilter,
    group_by: Type.Optional(Type.Union([Type.Literal("variant"), Type.Literal("hour"), Type.Literal("day")])),
  },
  associativeAdd: {
    ...shared,
    variant: Variant,
    data: Type.Unknown(),
    text: Type.Optional(Text),
    embedding: Type.Optional(Embedding),
    importance: Type.Optional(Type.Number({ minimum: 0, maximum: 1 })),
    relations: Type.Optional(
      Type.Array(Type.Object({ to: Id, relation: Variant }, closed), { maxItems: 256 }),
    ),
    timestamp: Type.Optional(
      Type.String({ maxLength: 40, description: "When it was said or happened, ISO 8601; default now" }),
    ),
    ...place,
  },
  associativeUpdate: {
    ...shared,
    id: Id,
    variant: Type.Optional(Variant),
    data: Type.Optional(Type.Unknown()),
    text: Type.Optional(Text),
    embedding: Type.Optional(Embedding),
    importance: Type.Optional(Type.Number({ minimum: 0, maximum: 1 })),
  },
  associativeRemove: { ...shared, id: Id },
  associativeRelate: { ...shared, from: Id, to: Id, relation: Variant },
  associativeQuery: {
    ...shared,
    similar_to: Type.Optional(Text),
    embedding: Type.Optional(Embedding),
    variant: Type.Optional(Variant),
    where: Type.Optional(WhereList),
    related_to: Type.Optional(
      Type.Object(
        {
          id: Id,
          depth: Type.Optional(Type.Integer({ minimum: 1, maximum: 5, default: 1 })),
          relation: Type.Optional(Variant),
        },
        closed,
      ),
    ),
    min_similarity: Type.Optional(Type.Number({ minimum: -1, maximum: 1 })),
    top_k: Type.Optional(Limit(10)),
  },
  search: {
    ...shared,
    text: Text,
    mode: Type.Optional(Type.Enum(["auto", "text", "vector", "hybrid"], { default: "auto" })),
    limit: Type.Optional(Limit(10)),
  },
  sync: { ...shared },
  cleanup: { ...shared, retention_days: Type.Integer({ minimum: 0, maximum: 36500 }) },
} satisfies Record<string, TProperties>;

export const memoryResults = {
  workingRead: Type.Object({ revision: Type.Integer(), state: Type.Unknown() }),
  workingSwap: Type.Object({ revision: Type.Integer() }),
  temporalAppend: Type.Object({ id: Type.String() }),
  temporalQuery: Type.Object({
    items: Type.Array(
      Type.Object({
        id: Type.String(),
        variant: Type.String(),
        timestamp: Type.String(),
        data: Type.Unknown(),
      }),
    ),
    total: Type.Integer(),
  }),
  temporalCount: Type.Object({
    count: Type.Integer(),
    groups: Type.Optional(Type.Record(Type.String(), Type.Integer())),
  }),
  associativeAdd: Type.Object({
    id: Type.String(),
    updates: Type.Optional(
      Type.String({
        description:
          'Only for an item with an embedding: the item it is a newer form of. For others the relation "Updates" comes later',
      }),
    ),
  }),
  associativeQuery: Type.Object({
    items: Type.Array(
      Type.Object({
        id: Type.String(),
        variant: Type.String(),
        data: Type.Unknown(),
        text: Type.Optional(Type.String()),
        similarity: Type.Optional(Type.Number()),
        importance: Type.Number(),
        relations: Type.Array(Type.Object({ to: Type.String(), relation: Type.String() })),
        embedded: Type.Boolean({ description: "False: not embedded yet, found by text only" }),
      }),
    ),
  }),
  search: Type.Object({
    items: Type.Array(Type.Object({ id: Type.String(), kind: Type.String(), score: Type.Number() })),
    mode: Type.String(),
  }),
} satisfies Record<string, TObject>;
