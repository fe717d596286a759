import type { Emitter } from "../../base/emitter.ts";
import { LaresError, messageOf, notFound } from "../../base/errors.ts";
import { newId } from "../../base/ids.ts";
import type { Log } from "../../base/log.ts";
import type { AgentDefinition } from "../../base/vocabulary/agent-definition.ts";
import type { Foreign } from "../../base/vocabulary/foreign.ts";
import type { AgentLimits } from "../../base/vocabulary/permissions.ts";
import type { RequestedNamespace } from "../../decisions/namespaces.ts";
import type { ConfigurationManager } from "../../configuration/configuration-manager.ts";
import { defaultAgentLimits } from "../../documents/limits.ts";
import type { AgentMemory, ReadableMemory } from "../../memory/agent-memory.ts";
import type { DiskTimer } from "../../journal/disk-timer.ts";
import { ImportedMemories } from "../../memory/imported.ts";
import type { MemoryKey } from "../../memory/memory-key.ts";
import type { MemoryPolicy } from "../../memory/policy-records.ts";
import { openMemory, type Memory } from "../../memory/memory.ts";
import { createStore, type StoreOptions } from "../../store/client/store-client.ts";
import type { EmbedderSpec, StoreSettings } from "../../memory-contract/store-settings.ts";
import type { Database } from "../../platform/database/database.ts";
import { stateFolderPath } from "../../platform/files/state-folder.ts";
import type { WorkProgress } from "../../services/ports.ts";
import type { HostMemoryPorts } from "../guest/v1/memory.ts";
import { realPathOf } from "../../platform/files/document-files.ts";
import type { TraceLog } from "../../trace/trace-log.ts";
import type { AgentLink } from "./agent-link.ts";
import type { KernelContext } from "./kernel-context.ts";
import { postForEmbedders } from "../models/embedder-requests.ts";
import type { KernelModels } from "../models/open-models.ts";
import { memorySettings } from "./memory-settings.ts";

interface MemoryParts {
  readonly database: Database;
  /** The settings and the shared memories in force. */
  readonly configuration: Pick<ConfigurationManager, "configuration" | "namespaces">;
  readonly agents: Pick<AgentLink, "find">;
  /** Receives warnings for the user about an agent's memory. */
  readonly traces: Pick<TraceLog, "write">;
  readonly progress: Emitter<WorkProgress>;
  readonly models: Pick<KernelModels, "egress" | "inference" | "issued" | "networkRules">;
  readonly disk: DiskTimer;
}

export interface Memories extends HostMemoryPorts {
  readonly memory: Memory;
  limitBytes(key: MemoryKey): number;
  /** Returns the embedder of the agent's own memory, whether it has one already or not. */
  embedderOf(agent: string): EmbedderSpec;
  /**
   * Returns the key of an agent's own or a shared memory. Throws NotFound if no namespace of this name is in force,
   * PermissionDenied if it is another workspace's.
   */
  keyOf(agent: string, namespace: string | undefined): MemoryKey;
  /** As `ImportedMemories.foreignIn`; null for a memory of this workspace. */
  foreignImported(namespace: string, read: readonly string[] | "plan" | "all"): Foreign | null;
}

const bytesPerMb = 1024 * 1024;
const dayMs = 24 * 60 * 60 * 1000;

/** Opens all memories of a kernel: the agents' own, the shared ones, and those of other workspaces that agents may read. */
export async function openMemories(context: KernelContext, parts: MemoryParts): Promise<Memories> {
  const { stateFolder, userFolder, environment, clock, log, opened } = context;
  const { database, configuration, agents, traces, progress } = parts;
  const warn = (agent: string, message: string): void =>
    traces.write({ level: "warn", agent, message, trace_id: newId(), span_id: newId() });
  const definitionOf = (key: MemoryKey): AgentDefinition | undefined =>
    agents.find(ownerOf(key) ?? "")?.definition;
  const store = opened.use(
    createStore({
      stateFolder,
      clock,
      log,
      notice: noticeTo(log, warn, progress),
      post: postForEmbedders(parts.models),
      embedHere: (model, texts) => parts.models.inference.embed(model, texts),
    }),
  );
  const limitsOf = (key: MemoryKey): Pick<AgentLimits, "max_storage_mb" | "max_vectors"> => {
    const { maxStorageMb, maxVectors } = configuration.configuration.limits;
    // No single agent owns a shared memory, so the workspace's caps are its limits.
    return ownerOf(key) === null
      ? { max_storage_mb: maxStorageMb, max_vectors: maxVectors }
      : (definitionOf(key)?.limits ?? {
          max_storage_mb: maxStorageMb,
          max_vectors: defaultAgentLimits.max_vectors,
        });
  };
  const limitBytes = (key: MemoryKey): number => limitsOf(key).max_storage_mb * bytesPerMb;
  const settingsOf = (key: MemoryKey): StoreSettings =>
    memorySettings(ownerOf(key), limitsOf(key).max_vectors, {
      configuration: configuration.configuration,
      environment,
      userFolder,
    });
  const memory = opened.use(
    await openMemory({
      stateFolder,
      database,
      store,
      clock,
      log,
      disk: parts.disk,
      storeSettings: settingsOf,
      storageLimitBytes: limitBytes,
      retentionDays: (key) => definitionOf(key)?.memoryRetentionDays ?? null,
      prunePolicy: (key) => {
        const prune = definitionOf(key)?.memoryPrune ?? null;
        if (prune === null) return null;
        return { belowImportance: prune.belowImportance, olderThanMs: prune.olderThanDays * dayMs };
      },
      damaged: (key, error) => agents.find(ownerOf(key) ?? "")?.break(error.message),
      cutOff: (key, bytes) =>
        warn(
          ownerOf(key) ?? key,
          `its memory's journal ended in ${bytes} bytes that never reached the disk whole; they were cut off`,
        ),
    }),
  );
  const imported = new ImportedMemories({
    stateFolder,
    store,
    clock,
    settings: () => settingsOf("namespace/imported"),
    otherStateFolder: async (realPath) => {
      // The user accepted a real path; a link that was placed there since leads elsewhere.
      const now = await realPathOf(realPath);
      if (now === realPath) return stateFolderPath([realPath], environment);
      throw new LaresError(
        "PermissionDenied",
        `The workspace that is imported was accepted as ${realPath}, which leads to ${now} now. Accept the documents again to read that one.`,
        { permission: "import_namespaces", path: now },
      );
    },
  });

  const named = (name: string): RequestedNamespace => {
    const found = configuration.namespaces.find((namespace) => namespace.name === name);
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
    const { memoryRetentionDays: retentionDays = null, memoryPrune: prune = null } = definitionOf(key) ?? {};
    const shared = configuration.namespaces.find(({ name }) => key === `namespace/${name}`);
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
    memory,
    wrote,
    limitBytes,
    embedderOf: (agent) => settingsOf(`extension/${agent}`).embedder,
    keyOf,
    readable,
    writable,
    foreignImported: (name, read) =>
      configuration.namespaces.some((namespace) => namespace.name === name && namespace.workspace !== null)
        ? imported.foreignIn(name, read)
        : null,
  };
}

/** Returns the extension that owns the memory; null for a shared one. */
function ownerOf(key: string): string | null {
  return key.startsWith("extension/") ? key.slice("extension/".length) : null;
}

const titles = {
  projections: "preparing memory",
  embeddings: "embedding knowledge",
  index: "building the vector index",
} as const;

/** Turns the store host's notices into log entries, traces and progress. */
function noticeTo(
  log: Log,
  warn: (agent: string, message: string) => void,
  progress: Emitter<WorkProgress>,
): StoreOptions["notice"] {
  const begun = new Set<string>();
  return (notice) => {
    switch (notice.kind) {
      case "rebuilt":
        log.warn(`A memory's ${notice.what} were rebuilt from its journal.`, {
          memory: notice.memory,
          reason: notice.reason,
        });
        warn(
          ownerOf(notice.memory) ?? notice.memory,
          `its memory's ${notice.what} were rebuilt from the journal: ${notice.reason}`,
        );
        return;
      case "progress": {
        const { memory, what, done, total } = notice;
        const work = `memory/${memory}/${what}`;
        if (!begun.has(work)) {
          begun.add(work);
          progress.emit({ work, kind: "begin", title: `Lares: ${titles[what]} (${memory})` });
        }
        if (done < total) {
          const percentage = Math.floor((done / total) * 100);
          progress.emit({ work, kind: "report", message: `${done} of ${total}`, percentage });
          return;
        }
        begun.delete(work);
        progress.emit({ work, kind: "end", message: `${total}` });
        return;
      }
      default:
        log.error(`An unknown notice of the store host: ${messageOf(notice satisfies never)}`);
    }
  };
}
