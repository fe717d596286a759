import type { JsonValue } from "../../../../kernel/src/base/json.ts";
import type {
  KnowledgeAddition,
  KnowledgeChange,
  KnowledgeQuery,
  SearchHit,
  SearchPage,
  SearchQuery,
  TemporalCountQuery,
  TemporalQuery,
} from "../../../../kernel/src/memory-contract/queries.ts";
import { searchedWords } from "../../../../kernel/src/store/projection/words.ts";
import { LaresError } from "../errors.ts";
import type { HistoryItem } from "../types/memory.ts";
import { MockHistory } from "./mock-history.ts";
import { MockKnowledge } from "./mock-knowledge.ts";
import { shareOfWords, textOf } from "./mock-words.ts";

/** As the kernel combines its rankings: the sum of weight / (10 + rank). */
const rankOffset = 10;
const dayMs = 24 * 60 * 60 * 1000;

interface MockMemoryOptions {
  readonly now: () => number;
  readonly plan: unknown;
  /** Receives the events. */
  readonly history: HistoryItem[];
}

/** One memory with all `memory/*` calls of the ABI. */
export class MockMemory {
  readonly calls: Readonly<Record<string, (params: never) => unknown>>;
  readonly #history: MockHistory;
  readonly #knowledge = new MockKnowledge();
  readonly #now: () => number;
  #working: { revision: number; state: unknown };
  #lastId = 0;

  constructor({ now, plan, history }: MockMemoryOptions) {
    this.#now = now;
    this.#history = new MockHistory(history, now);
    this.#working = { revision: 0, state: plan ?? null };
    const knowledge = this.#knowledge;
    this.calls = {
      "memory/working/read": () => ({ ...this.#working }),
      "memory/working/swap": (params: { revision: number; state: unknown }) => this.#swap(params),
      "memory/temporal/append": (event: { variant: string; data: JsonValue; timestamp?: string }) =>
        this.#history.append(event, this.#id()),
      "memory/temporal/query": (query: TemporalQuery) => this.#history.query(query),
      "memory/temporal/count": (query: TemporalCountQuery) => this.#history.count(query),
      "memory/associative/add": (item: KnowledgeAddition) => knowledge.add(item, this.#id()),
      "memory/associative/update": (change: KnowledgeChange) => knowledge.update(change),
      "memory/associative/remove": ({ id }: { id: string }) => knowledge.remove(id),
      "memory/associative/relate": ({ from, to, relation }: Record<"from" | "to" | "relation", string>) =>
        knowledge.relate(from, to, relation),
      "memory/associative/query": (query: KnowledgeQuery) => knowledge.query(query),
      "memory/search": (query: SearchQuery) => this.#search(query),
      "memory/sync": () => ({}),
      "memory/cleanup": ({ retention_days: days }: { retention_days: number }) =>
        this.#history.forgetBefore(this.#now() - days * dayMs),
    };
  }

  #id(): string {
    return `item-${++this.#lastId}`;
  }

  #swap({ revision, state }: { revision: number; state: unknown }): { revision: number } {
    if (revision !== this.#working.revision)
      throw new LaresError("Conflict", "Another write came first.", { revision: this.#working.revision });
    this.#working = { revision: revision + 1, state: state ?? null };
    return { revision: this.#working.revision };
  }

  #search({ text, mode = "auto", limit = 10 }: SearchQuery): SearchPage {
    const done = mode === "auto" ? "hybrid" : mode;
    if (text.trim() === "") return { items: [], mode: done };
    const similar = this.#knowledge
      .query({ similar_to: text, top_k: 1000 })
      .items.map((item): SearchHit => ({ kind: "associative", score: item.similarity ?? 0, ...item }));
    if (done === "vector") return { items: similar.slice(0, limit), mode: done };
    const lists = [...this.#worded(text), ...(done === "hybrid" ? [similar] : [])];
    const hits = new Map<string, SearchHit>();
    for (const list of lists)
      list.forEach((hit, index) => {
        const score = (hits.get(hit.id)?.score ?? 0) + 1 / (rankOffset + index + 1);
        hits.set(hit.id, { ...hit, score });
      });
    const items = [...hits.values()].toSorted((a, b) => b.score - a.score).slice(0, limit);
    return { items, mode: done };
  }

  /** Returns the events and items that contain any of the words, those with most of them first. */
  #worded(text: string): SearchHit[][] {
    const searched = searchedWords(text);
    const best = (hits: readonly { hit: SearchHit; words: string }[]): SearchHit[] =>
      hits
        .map(({ hit, words }) => ({ ...hit, score: shareOfWords(words, searched) }))
        .filter(({ score }) => score > 0)
        .toSorted((a, b) => b.score - a.score);
    const events = this.#history.query({ limit: this.#history.items.length }).items;
    return [
      best(
        events.map((event) => ({ hit: { kind: "temporal", score: 0, ...event }, words: textOf(event.data) })),
      ),
      best(
        this.#knowledge.all().map(({ item, words }) => ({
          hit: { kind: "associative", score: 0, ...item },
          words,
        })),
      ),
    ];
  }
}
