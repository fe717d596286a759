import type { Clock } from "../base/clock.ts";
import { Emitter } from "../base/emitter.ts";
import { LaresError, messageOf, notFound } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import type { AgentLimits } from "../base/vocabulary/permissions.ts";
import type { NamespaceWish } from "../decisions/namespaces.ts";
import type { Configuration } from "../documents/configuration.ts";
import { defaultAgentLimits } from "../documents/limits.ts";
import type { AgentMemory, ReadableMemory } from "../memory/agent-memory.ts";
import { ImportedMemories } from "../memory/imported.ts";
import type { MemoryKey } from "../memory/memory-key.ts";
import type { MemoryPolicy } from "../memory/policy-records.ts";
import { openMemory, type Memory } from "../memory/memory.ts";
import { createStore, type StoreOptions } from "../memory/store/keeper.ts";
import type { StoreSettings } from "../memory/store/port.ts";
import type { Database } from "../platform/database.ts";
import { stateFolderPath } from "../platform/state-folder.ts";
import type { WorkProgress } from "../server/ports.ts";
import type { HostMemoryPorts } from "./host-memory.ts";
import { realPathOf } from "./workspace-paths.ts";
import { memorySettings } from "./memory-settings.ts";

export interface MemoriesOptions {
  readonly stateFolder: string;
  readonly userFolder: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Log;
  configuration(): Configuration;
  /** The shared memories that count. */
  namespaces(): readonly NamespaceWish[];
  /** What the agent's own document and manifest say; undefined where there is no such agent. */
  agent(id: string):
    | {
        readonly limits: AgentLimits;
        readonly retentionDays: number | null;
        readonly prune: { readonly belowImportance: number; readonly olderThanDays: number } | null;
      }
    | undefined;
  /** Something a person should hear of in the agent's trace. */
  warn(agent: string, message: string): void;
}

export interface Memories extends AsyncDisposable, HostMemoryPorts {
  readonly memory: Memory;
  readonly progress: Emitter<WorkProgress>;
  limitBytes(key: MemoryKey): number;
  /**
   * Which memory an agent's own or a shared one is. NotFound where no namespace of this name counts, PermissionDenied
   * where it is another workspace's.
   */
  keyOf(agent: string, namespace: string | undefined): MemoryKey;
}

const bytesPerMb = 1024 * 1024;
const dayMs = 24 * 60 * 60 * 1000;

/** All memories of a kernel: the agents' own, those they share, and those of other workspaces that they may read. */
export async function openMemories(options: MemoriesOptions): Promise<Memories> {
  const { stateFolder, database, clock, log } = options;
  const opened = new AsyncDisposableStack();
  const progress = new Emitter<WorkProgress>();
  const store = opened.use(createStore({ stateFolder, clock, log, notice: noticeTo(options, progress) }));
  const limitsOf = (key: MemoryKey): Pick<AgentLimits, "max_storage_mb" | "max_vectors"> => {
    const { maxStorageMb, maxVectors } = options.configuration().limits;
    // A shared memory is nobody's in particular: the workspace's caps are its limits.
    return ownerOf(key) === null
      ? { max_storage_mb: maxStorageMb, max_vectors: maxVectors }
      : (options.agent(ownerOf(key) ?? "")?.limits ?? {
          max_storage_mb: maxStorageMb,
          max_vectors: defaultAgentLimits.max_vectors,
        });
  };
  const limitBytes = (key: MemoryKey): number => limitsOf(key).max_storage_mb * bytesPerMb;
  const settingsOf = (key: MemoryKey): StoreSettings =>
    memorySettings(ownerOf(key), limitsOf(key).max_vectors, {
      configuration: options.configuration(),
      environment: options.environment,
      userFolder: options.userFolder,
    });
  const memory = opened.use(
    await openMemory({
      stateFolder,
      database,
      store,
      clock,
      log,
      storeSettings: settingsOf,
      storageLimitBytes: limitBytes,
      retentionDays: (key) => options.agent(ownerOf(key) ?? "")?.retentionDays ?? null,
      prunePolicy: (key) => {
        const prune = options.agent(ownerOf(key) ?? "")?.prune ?? null;
        if (prune === null) return null;
        return { belowImportance: prune.belowImportance, olderThanMs: prune.olderThanDays * dayMs };
      },
      cutOff: (key, bytes) =>
        options.warn(
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
      // What was accepted is a place: a link that has been put there leads to another.
      const now = await realPathOf(realPath);
      if (now === realPath) return stateFolderPath([realPath], options.environment);
      throw new LaresError(
        "PermissionDenied",
        `The workspace that is imported was accepted as ${realPath}, which leads to ${now} now. Accept the documents again to read that one.`,
        { permission: "import_namespaces", path: now },
      );
    },
  });

  const named = (name: string): NamespaceWish => {
    const found = options.namespaces().find((namespace) => namespace.name === name);
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
  const policyOf = (key: string): MemoryPolicy => {
    const limits = limitsOf(key as MemoryKey);
    const { retentionDays = null, prune = null } = options.agent(ownerOf(key) ?? "") ?? {};
    const shared = options.namespaces().find(({ name }) => key === `namespace/${name}`);
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
    const policy = policyOf(written.store.key);
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
    progress,
    wrote,
    limitBytes,
    keyOf,
    readable,
    writable,
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

/** The extension whose own memory it is; null for a shared one. */
function ownerOf(key: string): string | null {
  return key.startsWith("extension/") ? key.slice("extension/".length) : null;
}

const titles = {
  projections: "preparing what is remembered",
  embeddings: "embedding what is known",
  index: "building the vector index",
} as const;

/** What the store host tells, as log, trace and progress. */
function noticeTo(
  { log, warn }: Pick<MemoriesOptions, "log" | "warn">,
  progress: Emitter<WorkProgress>,
): StoreOptions["notice"] {
  const begun = new Set<string>();
  return (notice) => {
    switch (notice.kind) {
      case "mended":
        log.warn(`A memory's ${notice.what} were made again from its journal.`, {
          memory: notice.memory,
          reason: notice.reason,
        });
        warn(
          ownerOf(notice.memory) ?? notice.memory,
          `its memory's ${notice.what} were made again from the journal: ${notice.reason}`,
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
