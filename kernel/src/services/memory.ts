import type { MemoryFields, MemoryResult } from "../base/vocabulary/memory-calls.ts";
import type {
  MemoryCheck,
  MemoryExport,
  MemoryImport,
  MemoryStats,
  SharedMemory,
} from "../base/vocabulary/memory-reports.ts";

/**
 * The memories of agents, and with a `namespace` those that they share. Every method rejects with NotFound for an agent
 * or a namespace that is not here.
 */
export interface MemoryService {
  /** PermissionDenied, as for `stats` and `export`, where the namespace is another workspace's. */
  verify(agent: string, namespace?: string): Promise<MemoryCheck>;
  stats(agent: string, namespace?: string): Promise<MemoryStats>;
  /** The shared memories; those that one agent may open, where it is named. */
  namespaces(agent?: string): Promise<SharedMemory[]>;
  /** Working memory as it stands. */
  working(agent: string, query: MemoryFields<"workingRead">): Promise<MemoryResult<"workingRead">>;
  /** These, and an export, end with the signal's reason when that is aborted. */
  temporal(
    agent: string,
    query: MemoryFields<"temporalQuery">,
    signal?: AbortSignal,
  ): Promise<MemoryResult<"temporalQuery">>;
  associative(
    agent: string,
    query: MemoryFields<"associativeQuery">,
    signal?: AbortSignal,
  ): Promise<MemoryResult<"associativeQuery">>;
  search(agent: string, query: MemoryFields<"search">, signal?: AbortSignal): Promise<MemoryResult<"search">>;
  count(
    agent: string,
    query: MemoryFields<"temporalCount">,
    signal?: AbortSignal,
  ): Promise<MemoryResult<"temporalCount">>;
  export(
    agent: string,
    path: string,
    options: { readonly overwrite: boolean; readonly namespace?: string; readonly signal?: AbortSignal },
  ): Promise<MemoryExport>;
  /** Conflict where the memory is not empty; DigestMismatch where the file's head is not the one that was expected. */
  import(
    agent: string,
    path: string,
    options: { readonly preview: boolean; readonly head?: string },
  ): Promise<MemoryImport>;
  /** The record that says so; what the id's records said is gone when it resolves. */
  forget(agent: string, id: string, reason?: string): Promise<{ readonly seq: number }>;
}
