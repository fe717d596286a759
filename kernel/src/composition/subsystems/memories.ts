import type { ForeignPlaces } from "../../agent-state/foreign-places.ts";
import type { AgentRoster } from "../../agents/lifecycle/roster.ts";
import type { Emitter } from "../../base/emitter.ts";
import { LaresError } from "../../base/errors.ts";
import { newId } from "../../base/ids.ts";
import { memoryPlace, planPlace } from "../../base/vocabulary/foreign.ts";
import type { AgentDefinition } from "../../base/vocabulary/agent-definition.ts";
import type { AgentLimits } from "../../base/vocabulary/permissions.ts";
import type { ConfigurationManager } from "../../configuration/configuration-manager.ts";
import { defaultAgentLimits } from "../../documents/limits.ts";
import type { DiskTimer } from "../../journal/disk-timer.ts";
import { ImportedMemories } from "../../memory/imported.ts";
import { type MemoryKey, ownerOf } from "../../memory/memory-key.ts";
import { openMemory, type Memory } from "../../memory/memory.ts";
import { namedMemories, type NamedMemories } from "../../memory/named-memories.ts";
import { storeNotices } from "../../memory/store-notices.ts";
import { createStore } from "../../store/client/store-client.ts";
import type { EmbedderSpec, StoreSettings } from "../../memory-contract/store-settings.ts";
import type { Database } from "../../platform/database/database.ts";
import { stateFolderPath } from "../../platform/files/state-folder.ts";
import type { WorkProgress } from "../../services/ports.ts";
import { realPathOf } from "../../platform/files/document-files.ts";
import type { TraceLog } from "../../trace/trace-log.ts";
import type { KernelContext } from "./kernel-context.ts";
import { postForEmbedders } from "../../outside/embedder-requests.ts";
import type { KernelModels } from "../../outside/open-models.ts";
import { memorySettings } from "./memory-settings.ts";

/** Returns where guests' calls find the marks of a memory. */
function placeOf(key: MemoryKey): string {
  const agent = ownerOf(key);
  return agent === null ? memoryPlace("", key.slice(key.indexOf("/") + 1)) : memoryPlace(agent);
}

interface MemoryParts {
  readonly database: Database;
  /** The settings and the shared memories in force. */
  readonly configuration: Pick<ConfigurationManager, "configuration" | "namespaces">;
  readonly agents: Pick<AgentRoster, "find">;
  /** Receives warnings for the user about an agent's memory. */
  readonly traces: Pick<TraceLog, "write">;
  readonly progress: Emitter<WorkProgress>;
  readonly places: Pick<ForeignPlaces, "mark">;
  readonly models: Pick<KernelModels, "egress" | "inference" | "issued" | "networkRules">;
  readonly disk: DiskTimer;
}

export interface Memories extends NamedMemories {
  readonly memory: Memory;
  limitBytes(key: MemoryKey): number;
  /** Returns the embedder of the agent's own memory, whether it has one already or not. */
  embedderOf(agent: string): EmbedderSpec;
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
      notice: storeNotices({ log, warn, progress: (news) => progress.emit(news) }),
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
      storeMarks: async (key, marks) => {
        const place = placeOf(key);
        for (const { items, foreign } of marks.shared()) await parts.places.mark(place, items, foreign);
        await parts.places.mark(planPlace(place), "all", marks.of("plan"));
      },
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

  return {
    memory,
    limitBytes,
    embedderOf: (agent) => settingsOf(`extension/${agent}`).embedder,
    ...namedMemories({
      memory,
      imported,
      log,
      namespaces: () => configuration.namespaces,
      limitsOf,
      upkeepOf: (key) => definitionOf(key),
    }),
  };
}
