import { invalidParams, notFound } from "../../../../kernel/src/base/errors.ts";
import type {
  KnowledgeAddition,
  KnowledgeChange,
  KnowledgeItem,
  KnowledgeQuery,
  Relation,
} from "../../../../kernel/src/memory-contract/queries.ts";
import { matches } from "../../../../kernel/src/store/projection/testing/where-reference.ts";
import { checkedConditions } from "../../../../kernel/src/memory-contract/conditions.ts";
import { cosine, directionOf, textOf } from "./mock-words.ts";

interface Stored extends KnowledgeAddition {
  readonly id: string;
  readonly relations: readonly Relation[];
}

/** As in the kernel: an added item that is more similar than this is a newer form of the existing one. */
const updatesSimilarity = 0.9;

/** Associative memory as a plain list; importance does not fade. */
export class MockKnowledge {
  readonly #stored = new Map<string, Stored>();

  add(addition: KnowledgeAddition, id: string): { id: string; updates?: string } {
    const { relations = [] } = addition;
    for (const { to } of relations) this.#existing(to);
    this.#checkTexts(addition);
    const vector = addition.embedding ?? directionOf(wordsOf(addition));
    const [nearest] = this.#similar(vector, addition.embedding !== undefined).filter(
      ({ item, similarity }) => item.variant === addition.variant && similarity > updatesSimilarity,
    );
    const updates = nearest?.item.id;
    const isNews =
      updates !== undefined &&
      !relations.some(({ to, relation }) => to === updates && relation === "Updates");
    this.#stored.set(id, {
      ...addition,
      id,
      relations: isNews ? [...relations, { to: updates, relation: "Updates" }] : relations,
    });
    return updates === undefined || addition.embedding === undefined ? { id } : { id, updates };
  }

  update({ id, ...change }: KnowledgeChange): void {
    if (Object.keys(change).length === 0)
      throw invalidParams("Nothing is to be changed: give a variant, data, text, embedding or importance.");
    this.#checkTexts(change);
    this.#stored.set(id, { ...this.#existing(id), ...change });
  }

  remove(id: string): void {
    this.#existing(id);
    this.#stored.delete(id);
  }

  relate(from: string, to: string, relation: string): void {
    const item = this.#existing(from);
    this.#existing(to);
    const isKnown = item.relations.some((one) => one.to === to && one.relation === relation);
    if (!isKnown) this.#stored.set(from, { ...item, relations: [...item.relations, { to, relation }] });
  }

  query(query: KnowledgeQuery): { items: KnowledgeItem[] } {
    const { similar_to: similarTo, embedding, variant, where = [], related_to: related } = query;
    const { min_similarity: least = -1, top_k: count = 10 } = query;
    if (similarTo !== undefined && embedding !== undefined)
      throw invalidParams("similar_to and embedding cannot be combined. Use one of them.");
    checkedConditions(where);
    const reached = related === undefined ? null : this.related(related);
    const isAsked = (item: Stored): boolean =>
      (variant === undefined || item.variant === variant) &&
      (reached === null || reached.has(item.id)) &&
      matches(item.data, where);
    if (similarTo === undefined && embedding === undefined) {
      const items = this.#newestFirst()
        .filter(isAsked)
        .map((item) => itemOf(item));
      return { items: items.toSorted((a, b) => b.importance - a.importance).slice(0, count) };
    }
    if (similarTo !== undefined && similarTo.trim() === "") return { items: [] };
    const found = this.#similar(embedding ?? directionOf(similarTo ?? ""), embedding !== undefined)
      .filter(({ item, similarity }) => isAsked(item) && similarity >= least)
      .slice(0, count);
    return { items: found.map(({ item, similarity }) => itemOf(item, similarity)) };
  }

  /** Returns the ids within this many relations in either direction, without the item itself. */
  related({ id, depth = 1, relation }: NonNullable<KnowledgeQuery["related_to"]>): Set<string> {
    const edges = [...this.#stored.values()].flatMap((item) =>
      item.relations
        .filter((one) => relation === undefined || one.relation === relation)
        .flatMap(({ to }) => [[item.id, to] as const, [to, item.id] as const]),
    );
    let reached = new Set(this.#stored.has(id) ? [id] : []);
    for (let step = 0; step < depth; step++) {
      const next = edges.filter(([from, to]) => reached.has(from) && this.#stored.has(to));
      reached = new Set([...reached, ...next.map(([, to]) => to)]);
    }
    reached.delete(id);
    return reached;
  }

  all(): { readonly item: KnowledgeItem; readonly words: string }[] {
    return this.#newestFirst().map((item) => ({ item: itemOf(item), words: wordsOf(item) }));
  }

  #newestFirst(): Stored[] {
    return [...this.#stored.values()].toReversed();
  }

  /** Sorts by similarity. Embeddings from agents are compared only with each other. */
  #similar(vector: readonly number[], isGiven: boolean): { item: Stored; similarity: number }[] {
    return this.#newestFirst()
      .flatMap((item) => {
        const own = isGiven ? item.embedding : directionOf(wordsOf(item));
        if (own === undefined) return [];
        if (own.length !== vector.length)
          throw invalidParams(
            `The embeddings in this memory have ${own.length} dimensions; this one has ${vector.length}.`,
            { expected: own.length, got: vector.length },
          );
        return [{ item, similarity: cosine(vector, own) }];
      })
      .toSorted((a, b) => b.similarity - a.similarity);
  }

  #existing(id: string): Stored {
    const item = this.#stored.get(id);
    if (item === undefined) throw notFound("item", id);
    return item;
  }

  #checkTexts({ text, embedding }: Partial<KnowledgeAddition>): void {
    if (text !== undefined && text.trim() === "")
      throw invalidParams("The text is empty. Leave it out: the words in the data are then searched.");
    if (embedding?.every((value) => value === 0) === true)
      throw invalidParams("All numbers of the embedding are 0: it has no direction.");
  }
}

const wordsOf = ({ text, data }: KnowledgeAddition): string => text ?? textOf(data);

function itemOf(item: Stored, similarity?: number): KnowledgeItem {
  const { id, variant, data, text, importance = 0.5, relations } = item;
  return {
    id,
    variant,
    data,
    ...(text === undefined ? {} : { text }),
    ...(similarity === undefined ? {} : { similarity }),
    importance,
    relations,
    embedded: true,
  };
}
