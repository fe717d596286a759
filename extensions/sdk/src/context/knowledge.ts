import type { Knowledge, KnowledgeItem, KnowledgeQuery, Operator } from "../types/memory.ts";
import type { Kernel } from "./kernel.ts";

interface Where {
  readonly field: string;
  readonly op: Operator | "near";
  readonly value: unknown;
  readonly km?: number;
}

type Question = Readonly<Record<string, unknown>> & { readonly where?: readonly Where[] };

export function makeKnowledge<Shape>(kernel: Kernel, shared: { namespace?: string }): Knowledge<Shape> {
  return {
    add: async (variant, data, options = {}) => {
      const { id } = await kernel.call<{ id: string }>("memory/associative/add", {
        ...shared,
        variant,
        data,
        ...options,
      });
      return id;
    },
    update: async (id, change) =>
      void (await kernel.call("memory/associative/update", { ...shared, id, ...change })),
    remove: async (id) => void (await kernel.call("memory/associative/remove", { ...shared, id })),
    relate: async (from, to, relation) =>
      void (await kernel.call("memory/associative/relate", { ...shared, from, to, relation })),
    query: () => makeQuery<Shape>(kernel, { ...shared }),
  };
}

function makeQuery<Data>(kernel: Kernel, question: Question): KnowledgeQuery<Data> {
  const and = (more: Question): KnowledgeQuery<Data> => makeQuery(kernel, { ...question, ...more });
  const where = (condition: Where): KnowledgeQuery<Data> =>
    and({ where: [...(question.where ?? []), condition] });
  return {
    similarTo: (text) => and({ similar_to: text }),
    similarToEmbedding: (embedding) => and({ embedding }),
    variant: (variant) => and({ variant }),
    where: (field, op, value) => where({ field, op, value }),
    whereField: (field, value) => where({ field, op: "eq", value }),
    near: (field, position, km) => where({ field, op: "near", value: position, km }),
    relatedTo: (id, depth = 1) => and({ related_to: { id, depth } }),
    minSimilarity: (similarity) => and({ min_similarity: similarity }),
    topK: (count) => and({ top_k: count }),
    collect: async () =>
      (await kernel.call<{ items: KnowledgeItem<Data>[] }>("memory/associative/query", question)).items,
  };
}
