import { LaresError, messageOf, notFound } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import type { AgentDefinition } from "../base/vocabulary/agent-definition.ts";
import type { Foreign } from "../base/vocabulary/foreign.ts";
import type { AgentLimits } from "../base/vocabulary/permissions.ts";
import type { AgentMemory, ReadableMemory } from "./agent-memory.ts";
import type { ImportedMemories } from "./imported.ts";
import type { Memory } from "./memory.ts";
import type { MemoryKey } from "./memory-key.ts";
import type { MemoryPolicy } from "./policy-records.ts";

/** A shared memory that is in force. */
interface NamedMemory {
  readonly name: string;
  /** Null for one of this workspace. */
  readonly workspace: string | null;
  /** The folder of the other workspace, as a person accepted it. */
  readonly realPath: string | null;
  /** Null: every agent may open it. */
  readonly extensions: readonly string[] | null;
  readonly writable: boolean;
}

interface NamedMemoryPorts {
  readonly memory: Memory;
  readonly imported: ImportedMemories;
  readonly log: Log;
  namespaces(): readonly NamedMemory[];
  limitsOf(key: MemoryKey): Pick<AgentLimits, "max_storage_mb" | "max_vectors">;
  /** Returns undefined for a shared memory, which no agent owns. */
  upkeepOf(key: MemoryKey): Pick<AgentDefinition, "memoryRetentionDays" | "memoryPrune"> | undefined;
}

/** The memories that an agent means: its own one by undefined, a shared one by its name. NotFound if none is in force. */
export interface NamedMemories {
  /** PermissionDenied if it is another workspace's. */
  keyOf(agent: string, namespace: string | undefined): MemoryKey;
  /** Possibly of another workspace. */
  readable(agent: string, namespace: string | undefined): Promise<ReadableMemory>;
  writable(agent: string, namespace: string | undefined): Promise<AgentMemory>;
  /** A durable record was written to a memory: the policy that holds for it is appended to the same journal. */
  wrote(memory: AgentMemory): void;
  /** As `ImportedMemories.foreignIn`; null for a memory of this workspace. */
  foreignImported(namespace: string, read: readonly string[] | "plan" | "all"): Foreign | null;
}

export function namedMemories(ports: NamedMemoryPorts): NamedMemories {
  const { memory, imported, log, namespaces, limitsOf, upkeepOf } = ports;
  const named = (name: string): NamedMemory => {
    const found = namespaces().find((namespace) => namespace.name === name);
    if (found === undefined) throw notFound("memory namespace", name);
    return found;
  };
  const keyOf = (agent: string, namespace: string | undefined): MemoryKey => {
    if (namespace === undefined) return `extension/${agent}`;
    const { workspace } = named(namespace);
    if (workspace === null) return `namespace/${namespace}`;
    throw new LaresError(
      "PermissionDenied",
      `${namespace} is a memory of the workspace ${workspace}; it is only read here.`,
      { permission: "import_namespaces", extension: agent },
    );
  };
  const writable = async (agent: string, namespace: string | undefined): Promise<AgentMemory> =>
    memory.open(keyOf(agent, namespace));
  const readable = async (agent: string, namespace: string | undefined): Promise<ReadableMemory> => {
    const found = namespace === undefined ? undefined : named(namespace);
    if (found === undefined || found.workspace === null) return writable(agent, namespace);
    if (found.realPath === null) throw notFound("memory namespace", found.name);
    return imported.open(found.name, found.realPath);
  };
  const policyOf = (key: MemoryKey): MemoryPolicy => {
    const limits = limitsOf(key);
    const { memoryRetentionDays: retentionDays = null, memoryPrune: prune = null } = upkeepOf(key) ?? {};
    const shared = namespaces().find(({ name }) => key === `namespace/${name}`);
    return {
      max_storage_mb: limits.max_storage_mb,
      max_vectors: limits.max_vectors,
      ...(retentionDays === null ? {} : { retention_days: retentionDays }),
      ...(prune === null
        ? {}
        : { prune: { below_importance: prune.belowImportance, older_than_days: prune.olderThanDays } }),
      ...(shared === undefined
        ? {}
        : { sharing: { extensions: shared.extensions, read_write: shared.writable } }),
    };
  };
  const recorded = new WeakMap<AgentMemory, string>();
  const wrote = (written: AgentMemory): void => {
    const policy = policyOf(written.store.key as MemoryKey);
    const text = JSON.stringify(policy);
    if (recorded.get(written) === text) return;
    recorded.set(written, text);
    written
      .recordPolicy(policy)
      .catch((error: unknown) =>
        log.warn(`What holds for a memory could not be written into its journal: ${messageOf(error)}`),
      );
  };
  return {
    keyOf,
    readable,
    writable,
    wrote,
    foreignImported: (name, read) =>
      namespaces().some((namespace) => namespace.name === name && namespace.workspace !== null)
        ? imported.foreignIn(name, read)
        : null,
  };
}
