import type { ReadableMemory } from "../memory/agent-memory.ts";
import type { MemoryKey } from "../memory/memory-key.ts";
import type { KnowledgeQuery, TemporalCountQuery, TemporalQuery } from "../memory/queries.ts";
import type { MemoryService } from "../server/ports.ts";
import type { Memories } from "./memories.ts";

export interface MemoryServicePorts {
  readonly memories: Memories;
  /** Throws NotFound where there is no such agent. */
  checkAgent(agent: string): void;
}

/** What a person asks of memories, through any client. */
export function createMemoryService({ memories, checkAgent }: MemoryServicePorts): MemoryService {
  const { memory } = memories;
  const keyOf = (agent: string): MemoryKey => {
    checkAgent(agent);
    return `extension/${agent}`;
  };
  const readable = (agent: string, namespace: string | undefined): Promise<ReadableMemory> => {
    checkAgent(agent);
    return memories.readable(agent, namespace);
  };
  return {
    verify: async (agent) => memory.verify(keyOf(agent)),
    stats: async (agent) => {
      const key = keyOf(agent);
      const { records, sizeBytes, head } = memory.stats(key);
      const projections = records === 0 ? null : await (await memory.open(key)).storeStats();
      return { records, sizeBytes, head, limitBytes: memories.limitBytes(key), projections };
    },
    working: async (agent, { namespace }) => (await readable(agent, namespace)).read(),
    temporal: async (agent, { namespace, ...query }) => {
      const { items, total } = await (await readable(agent, namespace)).queryEvents(query as TemporalQuery);
      return { items: [...items], total };
    },
    associative: async (agent, { namespace, ...query }) => {
      const { items } = await (await readable(agent, namespace)).queryKnowledge(query as KnowledgeQuery);
      return { items: items.map((item) => ({ ...item, relations: [...item.relations] })) };
    },
    search: async (agent, { namespace, ...query }) => {
      const { items, mode } = await (await readable(agent, namespace)).search(query);
      return { items: [...items], mode };
    },
    count: async (agent, { namespace, ...query }) =>
      (await readable(agent, namespace)).countEvents(query as TemporalCountQuery),
    export: async (agent, path, options) => memory.export(keyOf(agent), path, options),
    import: async (agent, path, { preview, head }) => {
      const key = keyOf(agent);
      const described = await (preview ? memory.describe(key, path, head) : memory.import(key, path, head));
      return { ...described, imported: !preview };
    },
    forget: async (agent, id, reason = "") => {
      const opened = await memory.open(keyOf(agent));
      return await opened.forget(id, reason);
    },
  };
}
