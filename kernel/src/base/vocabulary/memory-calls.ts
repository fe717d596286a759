import { maxDimensions, maxRelations, maxRetentionDays, maxVariantLength } from "./bounds.ts";
import { Type, type Static, type TObject, type TProperties } from "typebox";
import type { DeepReadonly } from "../deep-readonly.ts";
import { closed, Json } from "./common.ts";

/** Fields that the client's memory requests and the guest's memory calls share. */

const Text = (description: string) => Type.String({ minLength: 1, maxLength: 8192, description });
const Variant = (description: string) =>
  Type.String({ minLength: 1, maxLength: maxVariantLength, description });
const Id = (description: string) => Type.String({ minLength: 1, maxLength: 128, description });
const FieldPath = (description: string) =>
  Type.String({
    minLength: 1,
    maxLength: 256,
    description: `${description}; parts are joined with dots: "a.b.c"`,
  });
const When = (description: string) =>
  Type.String({
    minLength: 1,
    maxLength: 40,
    description: `${description}: a time in ISO 8601, or an age such as "7d"`,
  });
const Limit = (value: number) =>
  Type.Integer({ minimum: 1, maximum: 1000, default: value, description: "How many to answer at most" });
const Data = Json("Any JSON");
const Importance = Type.Number({
  minimum: 0,
  maximum: 1,
  description: "How much the item matters. It fades with time, and grows with use and relations",
});

const Embedding = Type.Array(Type.Number(), {
  minItems: 1,
  maxItems: maxDimensions,
  description: "A vector of the agent's own, with as many numbers as all of this memory",
});

export const Where = Type.Object(
  {
    field: FieldPath("The field of `data`"),
    op: Type.Enum(["eq", "ne", "in", "gt", "gte", "lt", "lte", "contains", "near"], {
      description:
        "How the field compares with `value`. `in`: it is one of a list; `contains`: a text or list that contains it; `near`: a place `[latitude, longitude]` within `km`",
    }),
    value: Json("What the field is compared with"),
    km: Type.Optional(
      Type.Number({ exclusiveMinimum: 0, description: "For `near`: the radius, kilometres" }),
    ),
  },
  { ...closed, description: "A condition on a field of `data`" },
);
const WhereList = Type.Array(Where, {
  maxItems: 32,
  description: "Conditions on fields of `data`, all of which hold",
});

/** Every memory call may name a shared memory it was granted. */
const shared = {
  namespace: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 128,
      description: "The name of a shared memory; default the agent's own memory",
    }),
  ),
};

const Timestamp = Type.String({
  maxLength: 40,
  description: "When it was said or happened, ISO 8601; default now",
});

/** Where something stands among the others of its kind: the ranking of a search also looks at what is next to a hit. */
const place = {
  source: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 256,
      description:
        "What it is a part of, such as a conversation or a file. A search treats parts of one source as neighbours; without a source, what was added within half an hour",
    }),
  ),
  position: Type.Optional(Type.Number({ description: "Its place in the source; default by time" })),
};

const temporalFilter = {
  variant: Type.Optional(Variant("Only events of this variant")),
  since: Type.Optional(When("Only events from then on")),
  until: Type.Optional(When("Only events up to then")),
  text: Type.Optional(
    Type.Object(
      {
        field: Type.Optional(FieldPath("The field of `data` to look in; default all text of the event")),
        match: Text("The words to look for"),
      },
      { ...closed, description: "Only events whose text has these words" },
    ),
  ),
  where: Type.Optional(WhereList),
};

export const memoryFields = {
  workingRead: { ...shared },
  workingSwap: {
    ...shared,
    revision: Type.Integer({
      minimum: 0,
      description: "The revision that was read; 0 where nothing was written",
    }),
    state: Json("The whole new state, any JSON"),
  },
  temporalAppend: {
    ...shared,
    variant: Variant("What kind of event it is, in the agent's words"),
    data: Data,
    timestamp: Type.Optional(Timestamp),
    ...place,
  },
  temporalQuery: {
    ...shared,
    ...temporalFilter,
    order: Type.Optional(
      Type.Union([Type.Literal("asc"), Type.Literal("desc")], {
        default: "desc",
        description: "Oldest or newest first: by timestamp, then by order of appending",
      }),
    ),
    limit: Type.Optional(Limit(100)),
    offset: Type.Optional(
      Type.Integer({ minimum: 0, default: 0, description: "How many events to leave out first" }),
    ),
  },
  temporalCount: {
    ...shared,
    ...temporalFilter,
    group_by: Type.Optional(
      Type.Union([Type.Literal("variant"), Type.Literal("hour"), Type.Literal("day")], {
        description: "Counts for each variant, hour or day (UTC) too",
      }),
    ),
  },
  associativeAdd: {
    ...shared,
    variant: Variant("What kind of item it is, in the agent's words"),
    data: Data,
    text: Type.Optional(Text("What the item says, for searches; default the text in `data`")),
    embedding: Type.Optional(Embedding),
    importance: Type.Optional(Importance),
    relations: Type.Optional(
      Type.Array(
        Type.Object(
          {
            to: Id("The id of the other item"),
            relation: Variant("What the other item is to this one, in the agent's words"),
          },
          closed,
        ),
        { maxItems: maxRelations, description: "Relations from this item to others" },
      ),
    ),
    timestamp: Type.Optional(Timestamp),
    ...place,
  },
  associativeUpdate: {
    ...shared,
    id: Id("The item's id"),
    variant: Type.Optional(Variant("Its new variant")),
    data: Type.Optional(Json("Its new data")),
    text: Type.Optional(Text("What it says now")),
    embedding: Type.Optional(Embedding),
    importance: Type.Optional(Importance),
  },
  associativeRemove: { ...shared, id: Id("The item's id") },
  associativeRelate: {
    ...shared,
    from: Id("The id of the item that the relation begins at"),
    to: Id("The id of the other item"),
    relation: Variant("What the other item is to the first one, in the agent's words"),
  },
  associativeQuery: {
    ...shared,
    similar_to: Type.Optional(Text("A text; the most similar items come first")),
    embedding: Type.Optional(
      Type.Array(Type.Number(), {
        minItems: 1,
        maxItems: maxDimensions,
        description: "A vector instead of `similar_to`; the most similar items come first",
      }),
    ),
    variant: Type.Optional(Variant("Only items of this variant")),
    where: Type.Optional(WhereList),
    related_to: Type.Optional(
      Type.Object(
        {
          id: Id("The item to begin at"),
          depth: Type.Optional(
            Type.Integer({
              minimum: 1,
              maximum: 5,
              default: 1,
              description: "Over how many relations at most",
            }),
          ),
          relation: Type.Optional(Variant("Only over relations of this name")),
        },
        { ...closed, description: "Only items that relations lead to" },
      ),
    ),
    min_similarity: Type.Optional(
      Type.Number({
        minimum: -1,
        maximum: 1,
        description: "Only items that are at least this similar: the cosine",
      }),
    ),
    top_k: Type.Optional(Limit(10)),
  },
  search: {
    ...shared,
    text: Text("What to look for, in words"),
    mode: Type.Optional(
      Type.Enum(["auto", "text", "vector", "hybrid"], {
        default: "auto",
        description:
          "By words, by similarity, or by both; `auto` is `hybrid` where an embedder answers, else `text`",
      }),
    ),
    limit: Type.Optional(Limit(10)),
  },
  sync: { ...shared },
  cleanup: {
    ...shared,
    retention_days: Type.Integer({
      minimum: 0,
      maximum: maxRetentionDays,
      description: "Events older than this many days are removed",
    }),
  },
} satisfies Record<string, TProperties>;

const EventId = Type.String({ description: "The event's id" });
const ItemId = Type.String({ description: "The item's id" });
const VariantOf = Type.String({ description: "Its variant" });

export const memoryResults = {
  workingRead: Type.Object({
    revision: Type.Integer({ description: "How often it was written; a swap names it" }),
    state: Json("The state; null where nothing was written"),
  }),
  workingSwap: Type.Object({ revision: Type.Integer({ description: "The new revision" }) }),
  temporalAppend: Type.Object({ id: EventId }),
  temporalQuery: Type.Object({
    items: Type.Array(
      Type.Object({
        id: EventId,
        variant: VariantOf,
        timestamp: Type.String({ description: "When it happened, UTC, ISO 8601" }),
        data: Json("Its data"),
      }),
      { description: "The events" },
    ),
    total: Type.Integer({ description: "How many match, beyond `limit` too" }),
  }),
  temporalCount: Type.Object({
    count: Type.Integer({ description: "How many match" }),
    groups: Type.Optional(
      Type.Record(Type.String(), Type.Integer(), {
        description: "With `group_by`: how many for each variant, or for each hour or day by its beginning",
      }),
    ),
  }),
  associativeAdd: Type.Object({
    id: ItemId,
    updates: Type.Optional(
      Type.String({
        description:
          'Only for an item with an `embedding`: the id of the item that it is a newer form of. For other items the kernel adds the relation "Updates" after the answer',
      }),
    ),
  }),
  associativeQuery: Type.Object({
    items: Type.Array(
      Type.Object({
        id: ItemId,
        variant: VariantOf,
        data: Json("Its data"),
        text: Type.Optional(Type.String({ description: "What it says" })),
        similarity: Type.Optional(
          Type.Number({ description: "How similar it is to what was asked for: the cosine, -1 to 1" }),
        ),
        importance: Type.Number({ description: "How much it matters now, 0 to 1" }),
        relations: Type.Array(
          Type.Object({
            to: Type.String({ description: "The id of the other item" }),
            relation: Type.String({ description: "What the other item is to this one" }),
          }),
          { description: "Its relations to other items" },
        ),
        embedded: Type.Boolean({ description: "False: it has no vector yet and is found by text only" }),
      }),
      { description: "The items; the most similar first where a similarity was asked for" },
    ),
  }),
  search: Type.Object({
    items: Type.Array(
      Type.Object({
        id: Type.String({ description: "The id of the event or item" }),
        kind: Type.String({ description: "`temporal` for an event, `associative` for an item" }),
        score: Type.Number({ description: "How well it fits; comparable within one answer" }),
      }),
      { description: "The hits, best first. Each has further fields: those of its event or item" },
    ),
    mode: Type.String({ description: "What was searched by: text, vector or hybrid" }),
  }),
  cleanup: Type.Object({
    events: Type.Integer({ description: "How many events were removed" }),
    workingStates: Type.Integer({ description: "How many superseded states of working memory were removed" }),
  }),
} satisfies Record<string, TObject>;

/** What a call takes, by its name in `memoryFields`. */
export type MemoryFields<Name extends keyof typeof memoryFields> = DeepReadonly<
  Static<TObject<(typeof memoryFields)[Name]>>
>;
/** What a call answers, by its name in `memoryResults`. */
export type MemoryResult<Name extends keyof typeof memoryResults> = DeepReadonly<
  Static<(typeof memoryResults)[Name]>
>;
