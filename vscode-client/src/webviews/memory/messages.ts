import { maxRelations, maxVariantLength } from "../../../../kernel/src/base/vocabulary/bounds.ts";
import * as v from "valibot";
import {
  commonPushes,
  commonRequests,
  Count,
  focusPushes,
  focusRequests,
  Id,
  Nothing,
  Text,
} from "../shared/common-state.ts";

/** Events on one page of the timeline. */
export const pageSize = 50;
/** Items of knowledge that one query returns. */
export const maxItems = 200;
/** Items in a graph of relations, including the one in the centre. */
export const maxGraphItems = 60;
/** Shared memories that one agent may open: as many as two documents can name. */
export const maxShared = 256;
/** Bars of the histogram; for longer periods, a bar stands for several days. */
export const maxBars = 60;
/** Characters, as JSON, of one event's or item's data; longer data is cut and marked as such. */
export const maxDataCharacters = 100_000;

const Fraction = v.pipe(v.number(), v.minValue(0), v.maxValue(1));
const Similarity = v.pipe(v.number(), v.minValue(-1.01), v.maxValue(1.01));
const Hash = Text(128);
const Variant = Text(maxVariantLength);

/** The owner of a memory: an agent, or a namespace that it may read. */
const Whose = { agent: Id, namespace: v.optional(Text(128)) };

/** Data as remembered; `cut`: it is longer than a view shows, and this is the beginning of its JSON. */
const Data = { data: v.unknown(), cut: v.optional(v.boolean()) };

const TimelineFilter = {
  ...Whose,
  variant: v.optional(Variant),
  text: v.optional(Text(1_000)),
};

export const TimelineEvent = v.object({ id: Id, variant: Variant, timestamp: Text(40), ...Data });
export type TimelineEvent = v.InferOutput<typeof TimelineEvent>;

export const Item = v.object({
  id: Id,
  variant: Variant,
  ...Data,
  text: v.optional(Text(8_192)),
  similarity: v.optional(Similarity),
  importance: Fraction,
  relations: v.pipe(v.array(v.object({ to: Id, relation: Variant })), v.maxLength(maxRelations)),
  embedded: v.boolean(),
});
export type Item = v.InferOutput<typeof Item>;

const Groups = v.record(Variant, Count);

export const Projections = v.object({
  projected: Count,
  events: Count,
  oldest: v.optional(Text(40)),
  newest: v.optional(Text(40)),
  items: Count,
  relations: Count,
  engine: Text(64),
  dimensions: Count,
  vectors: Count,
  hot: Count,
  warm: Count,
  cold: Count,
  pending: Count,
  failed: Count,
  embedder: Text(256),
  rebuilding: v.optional(v.object({ what: Text(32), fraction: Fraction })),
  bytes: Count,
});
export type Projections = v.InferOutput<typeof Projections>;

export const Witness = v.object({
  records: Count,
  head: Hash,
  sizeBytes: Count,
  limitBytes: Count,
  projections: v.optional(Projections),
});
export type Witness = v.InferOutput<typeof Witness>;

export const Verdict = v.object({
  ok: v.boolean(),
  records: Count,
  head: v.optional(Hash),
  firstBad: v.optional(v.object({ seq: v.number(), reason: Text(2_000) })),
});
export type Verdict = v.InferOutput<typeof Verdict>;

/** A memory that several agents may open. */
export const Shared = v.object({
  name: Text(128),
  writable: v.boolean(),
  /** The path of the workspace that owns it; it can only be read here. */
  workspace: v.optional(Text(4_096)),
});
export type Shared = v.InferOutput<typeof Shared>;

export const memoryContract = {
  requests: {
    ...commonRequests,
    ...focusRequests,
    /** The shared memories that this agent may open. */
    shared: {
      params: v.object({ agent: Id }),
      result: v.object({ shared: v.pipe(v.array(Shared), v.maxLength(maxShared)) }),
    },
    /** From now on, `changed` is about this memory. */
    watch: { params: v.object(Whose), result: Nothing },
    timeline: {
      params: v.object({
        ...TimelineFilter,
        since: v.optional(Text(40)),
        until: v.optional(Text(40)),
        offset: Count,
      }),
      result: v.object({ items: v.pipe(v.array(TimelineEvent), v.maxLength(pageSize)), total: Count }),
    },
    /** Event counts by UTC day and by variant; not filtered by time, so that other times can be selected. */
    histogram: { params: v.object(TimelineFilter), result: v.object({ days: Groups, variants: Groups }) },
    /** With an empty `search`, the newest items. */
    knowledge: {
      params: v.object({
        ...Whose,
        variant: v.optional(Variant),
        search: Text(1_000),
        by: v.picklist(["meaning", "words"]),
      }),
      result: v.object({ items: v.pipe(v.array(Item), v.maxLength(maxItems)) }),
    },
    /** Items related to an item by at most two steps. */
    related: {
      params: v.object({ ...Whose, id: Id }),
      result: v.object({ items: v.pipe(v.array(Item), v.maxLength(maxGraphItems)) }),
    },
    working: {
      params: v.object(Whose),
      result: v.object({ revision: Count, state: v.unknown(), cut: v.optional(v.boolean()) }),
    },
    witness: { params: v.object(Whose), result: Witness },
    verify: { params: v.object(Whose), result: Verdict },
    /** The editor asks for a destination, or a file; `done` is false if the person cancelled. */
    exportMemory: { params: v.object(Whose), result: v.object({ done: v.boolean() }) },
    importMemory: { params: v.object({ agent: Id }), result: v.object({ done: v.boolean() }) },
    /** The editor asks for confirmation. */
    forget: {
      params: v.object({ agent: Id, id: Id, what: Text(200) }),
      result: v.object({ done: v.boolean() }),
    },
  },
  pushes: {
    ...commonPushes,
    ...focusPushes,
    /** The watched memory has changed, or may have. Sent at most once in `minChangeMs`. */
    changed: Nothing,
  },
};
export type MemoryContract = typeof memoryContract;
