import type { ReadableMemory } from "../memory/agent-memory.ts";
import type { MemoryKey } from "../memory/memory-key.ts";
import type { KnowledgeQuery, TemporalCountQuery, TemporalQuery } from "../memory/queries.ts";
import type { NamespaceWish } from "../decisions/namespaces.ts";
import type { MemoryService } from "../server/ports.ts";
import type { Memories } from "./memories.ts";
import { namespaceGrants } from "./namespaces.ts";

export interface MemoryServicePorts {
  readonly memories: Memories;
  /** The shared memories that count. */
  namespaces(): readonly NamespaceWish[];
  /** The ids of all agents. */
  agents(): readonly string[];
  /** Rejects with NotFound where there is no such agent, once it is known which there are. */
  checkAgent(agent: string): Promise<void>;
}

/** What a person asks of memories, through any client. */
export function createMemoryService({
  memories,
  namespaces,
  agents,
  checkAgent,
}: MemoryServicePorts): MemoryService {
  const { memory } = memories;
  const keyOf = async (agent: string, namespace?: string): Promise<MemoryKey> => {
    await checkAgent(agent);
    return memories.keyOf(agent, namespace);
  };
  const readable = async (agent: string, namespace: string | undefined): Promise<ReadableMemory> => {
    await checkAgent(agent);
    return memories.readable(agent, namespace);
  };
  return {
    verify: async (agent, namespace) => {
      const { head, ...verified } = await memory.verify(await keyOf(agent, namespace));
      return { ...verified, head: verified.records === 0 ? null : head };
    },
    namespaces: async (agent) => {
      if (agent !== undefined) await checkAgent(agent);
      return namespaces().flatMap((shared) => {
        const { name, writable, workspace } = shared;
        const mayOpen = (id: string): boolean => Object.hasOwn(namespaceGrants(id, [shared]), name);
        if (agent !== undefined && !mayOpen(agent)) return [];
        return [
          {
            name,
            agents: agents().filter(mayOpen),
            access: writable ? ("read_write" as const) : ("read" as const),
            ...(workspace === null ? { records: memory.stats(`namespace/${name}`).records } : { workspace }),
          },
        ];
      });
    },
    stats: async (agent, namespace) => {
      const key = await keyOf(agent, namespace);
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
    export: async (agent, path, { overwrite, namespace }) =>
      memory.export(await keyOf(agent, namespace), path, { overwrite }),
    import: async (agent, path, { preview, head }) => {
      const key = await keyOf(agent);
      const described = await (preview ? memory.describe(key, path, head) : memory.import(key, path, head));
      return { ...described, imported: !preview };
    },
    forget: async (agent, id, reason = "") => {
      const opened = await memory.open(await keyOf(agent));
      return await opened.forget(id, reason);
    },
  };
}
