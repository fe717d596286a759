import type { ChainCheck } from "../base/vocabulary/chain-check.ts";
import type { MemoryFields, MemoryResult } from "../base/vocabulary/memory-calls.ts";
import type { Principal } from "../base/vocabulary/principal.ts";
import type {
  MemoryExport,
  MemoryImport,
  MemoryStats,
  SharedMemory,
} from "../base/vocabulary/memory-reports.ts";

/**
 * The memories of agents; with a `namespace`, those that they share. Every method rejects with NotFound for an
 * unknown agent or namespace.
 */
export interface MemoryService {
  /**
   * Like `stats` and `export`, throws PermissionDenied for a namespace of another workspace. Rejects with the signal's
   * reason when it is aborted.
   */
  verify(agent: string, namespace?: string, signal?: AbortSignal): Promise<ChainCheck>;
  stats(agent: string, namespace?: string): Promise<MemoryStats>;
  /** Lists the shared memories; with an agent, those that it may open. */
  namespaces(agent?: string): Promise<SharedMemory[]>;
  working(agent: string, query: MemoryFields<"workingRead">): Promise<MemoryResult<"workingRead">>;
  /** These methods and an export reject with the signal's reason when it is aborted. */
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
  /**
   * PermissionDenied unless a person asks; Conflict if the memory is not empty; DigestMismatch if the file's head is not
   * the expected one.
   */
  import(
    by: Principal,
    agent: string,
    path: string,
    options: { readonly preview: boolean; readonly head?: string },
  ): Promise<MemoryImport>;
  /**
   * Returns the redact record. When it resolves, the content of the id's records is gone. PermissionDenied unless a person
   * asks.
   */
  forget(by: Principal, agent: string, id: string, reason?: string): Promise<{ readonly seq: number }>;
}
