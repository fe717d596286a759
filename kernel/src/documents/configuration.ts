import type { ApprovalRule } from "../base/vocabulary/approval-rule.ts";
import type { TraceLevel } from "../base/vocabulary/trace.ts";
import type { Embedder, LaresDocument } from "./schema/lares.ts";
import type { EgressDocument, ModelsDocument } from "./schema/models.ts";

/** An entry of `extensions`, its defaults filled in. */
export interface ExtensionConfiguration {
  /** The folder, relative to `from`; exactly one of path and id is there. */
  readonly path?: string;
  readonly id?: string;
  /** The document that named it: paths are relative to its folder. */
  readonly from: { readonly source: Source; readonly file: string };
  readonly enabled: boolean;
  readonly grants: {
    /** Folders of the workspace, canonical; "." is all of it. */
    readonly locations: readonly string[];
    readonly allow: readonly string[];
    readonly deny: readonly string[];
  };
  readonly config: Readonly<Record<string, unknown>>;
}

export interface MemoryConfiguration {
  readonly embedder: Embedder;
  readonly vectors: "auto" | "exact" | "usearch" | "faiss";
}

/** What the kernel runs by: all layers merged, every value there. */
export interface Configuration {
  readonly extensions: readonly ExtensionConfiguration[];
  readonly approvals: {
    readonly autoApproveBelow: number;
    readonly expireAfterMs: number;
    readonly rules: readonly ApprovalRule[];
  };
  readonly limits: {
    readonly activeAgents: number;
    readonly idleUnloadMs: number;
    readonly maxMemoryMb: number;
    readonly maxStorageMb: number;
    readonly maxVectors: number;
    readonly maxCpuMsPerEvent: number;
    readonly maxWallMsPerEvent: number;
    readonly maxEventsPerSecond: number;
  };
  readonly kernel: { readonly lingerMs: number };
  readonly memory: MemoryConfiguration & {
    /** What differs for one extension's memory, by its id. */
    readonly extensions: Readonly<Record<string, Partial<MemoryConfiguration>>>;
  };
  readonly trace: { readonly level: TraceLevel; readonly keepMs: number };
  readonly index: { readonly hidden: boolean; readonly ignore: readonly string[] };
  /** As the person's own document has it: a workspace cannot name a provider, an address or a route. */
  readonly models: ModelsDocument;
  readonly egress: EgressDocument;
  readonly sharedNamespaces: NonNullable<LaresDocument["shared_namespaces"]>;
  readonly importNamespaces: NonNullable<LaresDocument["import_namespaces"]>;
}

/** Where a value may come from, the strongest first. */
export type Source = "environment" | "workspace" | "user" | "defaults";
