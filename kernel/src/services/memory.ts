import type { Static, TProperties, TObject } from "typebox";
import type { memoryFields, memoryResults } from "../base/vocabulary/memory-calls.ts";
import type {
  MemoryCheck,
  MemoryExport,
  MemoryImport,
  MemoryStats,
  SharedMemory,
} from "../base/vocabulary/memory-reports.ts";

type Fields<Name extends keyof typeof memoryFields> = (typeof memoryFields)[Name] extends infer Properties
  ? Properties extends TProperties
    ? Static<TObject<Properties>>
    : never
  : never;
type Result<Name extends keyof typeof memoryResults> = Static<(typeof memoryResults)[Name]>;

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
  working(agent: string, query: Fields<"workingRead">): Promise<Result<"workingRead">>;
  /** These, and an export, end with the signal's reason when that is aborted. */
  temporal(
    agent: string,
    query: Fields<"temporalQuery">,
    signal?: AbortSignal,
  ): Promise<Result<"temporalQuery">>;
  associative(
    agent: string,
    query: Fields<"associativeQuery">,
    signal?: AbortSignal,
  ): Promise<Result<"associativeQuery">>;
  search(agent: string, query: Fields<"search">, signal?: AbortSignal): Promise<Result<"search">>;
  count(
    agent: string,
    query: Fields<"temporalCount">,
    signal?: AbortSignal,
  ): Promise<Result<"temporalCount">>;
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
