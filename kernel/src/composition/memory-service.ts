import type { ForgettingReport } from "../base/vocabulary/forgetting.ts";
import { checkPerson } from "../base/vocabulary/principal.ts";
import type { StillSaid } from "../base/vocabulary/still-said.ts";
import type { AgentMemory, ReadableMemory } from "../memory/agent-memory.ts";
import type { MemoryKey } from "../memory/memory-key.ts";
import { maxIdLength } from "../memory-contract/records.ts";
import type { RequestedNamespace } from "../decisions/namespaces.ts";
import type { MemoryService } from "../services/memory.ts";
import type { Memories } from "./subsystems/memories.ts";
import { namespaceGrants } from "../configuration/namespaces.ts";

interface MemoryServicePorts {
  readonly memories: Memories;
  /** The shared memories in force. */
  namespaces(): readonly RequestedNamespace[];
  /** Removes copies of a mind's memory elsewhere, and the memory itself by `remove`. */
  forgetCopies<Result>(
    memory: { readonly agent: string; readonly id: string; readonly text: string },
    remove: () => Promise<Result>,
  ): Promise<{ readonly result: Result; readonly report: ForgettingReport }>;
  /** The ids of all agents. */
  agents(): readonly string[];
  /** A memory was forgotten or corrected: what was made of it goes, too. Returns where else its text stands. */
  forgotten(agent: string, memory: { readonly id: string; readonly text: string }): Promise<StillSaid>;
  /** Rejects with NotFound if there is no such agent, once the agents are known. */
  checkAgent(agent: string): Promise<void>;
}

/** Answers clients' requests about memories. */
export function createMemoryService({
  memories,
  namespaces,
  forgetCopies,
  agents,
  checkAgent,
  forgotten,
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
    verify: async (agent, namespace, signal) => {
      const { head, ...verified } = await memory.verify(await keyOf(agent, namespace), signal);
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
    temporal: async (agent, { namespace, ...query }, signal) =>
      (await readable(agent, namespace)).queryEvents(query, signal),
    associative: async (agent, { namespace, ...query }, signal) =>
      (await readable(agent, namespace)).queryKnowledge(query, signal),
    search: async (agent, { namespace, ...query }, signal) =>
      (await readable(agent, namespace)).search(query, signal),
    count: async (agent, { namespace, ...query }, signal) =>
      (await readable(agent, namespace)).countEvents(query, signal),
    export: async (agent, path, { namespace, ...options }) =>
      memory.export(await keyOf(agent, namespace), path, options),
    import: async (by, agent, path, { preview, head }) => {
      checkPerson(by, "import a memory");
      const key = await keyOf(agent);
      const described = await (preview ? memory.describe(key, path, head) : memory.import(key, path, head));
      return { ...described, imported: !preview };
    },
    correct: async (by, agent, id, text) => {
      checkPerson(by, "correct a memory");
      const opened = await memory.open(await keyOf(agent));
      const before = await textOf(opened, id);
      const corrected = await opened.correctKnowledge(id, text.trim());
      await opened.sync();
      return { ...corrected, ...(before === null ? {} : await forgotten(agent, { id, text: before })) };
    },
    forget: async (by, agent, id, { reason = "", copies = false } = {}) => {
      checkPerson(by, "make a memory forget");
      const opened = await memory.open(await keyOf(agent));
      const before = await textOf(opened, id);
      const remove = (): Promise<{ readonly seq: number }> => opened.forget(id, reason);
      if (before === null) return await remove();
      if (!copies) {
        const { seq } = await remove();
        return { seq, ...(await forgotten(agent, { id, text: before })) };
      }
      const { result, report } = await forgetCopies({ agent, id, text: before }, remove);
      return {
        seq: result.seq,
        ...(await forgotten(agent, { id, text: before })),
        removed: report.removed.map((each) => ({ ...each })),
        remains: report.remains.map((each) => ({ ...each })),
      };
    },
  };
}

/** Returns the text of an item of knowledge; null for anything else. */
async function textOf({ writtenKnowledge }: AgentMemory, id: string): Promise<string | null> {
  return id.length > maxIdLength ? null : ((await writtenKnowledge(id))?.text ?? null);
}
