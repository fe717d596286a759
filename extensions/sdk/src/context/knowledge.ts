import type { Embedding, Knowledge, KnowledgeQuery, When } from "../types/memory.ts";
import { nearby, numbersOf, timeOf, withCondition } from "./conditions.ts";
import type { CallParams, Kernel } from "./kernel.ts";

type Question = CallParams<"memory/associative/query">;

export function makeKnowledge<Shape>(kernel: Kernel, shared: { namespace?: string }): Knowledge<Shape> {
  const record: Knowledge<Shape>["record"] = (variant, data, options = {}) =>
    kernel.call("memory/associative/add", { ...shared, variant, data, ...sendable(options) });
  return {
    add: async (variant, data, options) => (await record(variant, data, options)).id,
    record,
    update: async (id, change) =>
      void (await kernel.call("memory/associative/update", { ...shared, id, ...sendable(change) })),
    remove: async (id) => void (await kernel.call("memory/associative/remove", { ...shared, id })),
    relate: async (from, to, relation) =>
      void (await kernel.call("memory/associative/relate", { ...shared, from, to, relation })),
    query: () => makeQuery<Shape, Shape>(kernel, { ...shared }),
  };
}

function sendable(options: { readonly embedding?: Embedding; readonly timestamp?: When }): object {
  const { embedding, timestamp } = options;
  return {
    ...options,
    ...(embedding === undefined ? {} : { embedding: numbersOf(embedding) }),
    ...(timestamp === undefined ? {} : { timestamp: timeOf(timestamp) }),
  };
}

function makeQuery<Data, Shape>(kernel: Kernel, question: Question): KnowledgeQuery<Data, Shape> {
  const asking = <Found = Data>(more: Question): KnowledgeQuery<Found, Shape> =>
    makeQuery<Found, Shape>(kernel, { ...question, ...more });
  return {
    similarTo: (text) => asking({ similar_to: text }),
    similarToEmbedding: (embedding) => asking({ embedding: numbersOf(embedding) }),
    variant: (variant) => asking({ variant }),
    where: (field, op, value) => asking(withCondition(question, { field, op, value })),
    whereField: (field, value) => asking(withCondition(question, { field, op: "eq", value })),
    near: (field, position, km) => asking(withCondition(question, nearby(field, position, km))),
    relatedTo: (id, depth = 1, relation) =>
      asking({ related_to: relation === undefined ? { id, depth } : { id, depth, relation } }),
    minSimilarity: (similarity) => asking({ min_similarity: similarity }),
    topK: (count) => asking({ top_k: count }),
    collect: async (options) => {
      const { items } = await kernel.call("memory/associative/query", question, options);
      return items.map((item) => ({ ...item, data: item.data as Data }));
    },
  };
}
