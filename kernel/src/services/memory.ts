import type { ChainCheck } from "../base/vocabulary/chain-check.ts";
import type { RedactedConversation } from "../base/vocabulary/conversation-requests.ts";
import type { MemoryFields, MemoryResult } from "../base/vocabulary/memory-calls.ts";
import type { StillSaid } from "../base/vocabulary/still-said.ts";
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
   * Replaces the text of what a mind remembers by a person's. Returns the id that it has from then on, the redact record of
   * the old one, and where else the old text stands. PermissionDenied unless a person asks.
   */
  correct(
    by: Principal,
    agent: string,
    id: string,
    text: string,
  ): Promise<{ readonly id: string; readonly seq: number } & StillSaid>;
  /**
   * Returns the redact record, and where else the text of a mind's memory stands; with `copies`, which copies were removed
   * elsewhere and which stay. When it resolves, the content of the id's records is gone. PermissionDenied unless a person
   * asks.
   */
  forget(
    by: Principal,
    agent: string,
    id: string,
    options?: { readonly reason?: string; readonly copies?: boolean },
  ): Promise<
    { readonly seq: number } & StillSaid & Partial<Pick<RedactedConversation, "removed" | "remains">>
  >;
}
