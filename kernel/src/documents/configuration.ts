import type { ApprovalRule } from "../base/vocabulary/approval-rule.ts";
import type { NotificationRule } from "../base/vocabulary/notification-rule.ts";
import type { TraceLevel } from "../base/vocabulary/trace.ts";
import type { Embedder, ExtensionEntry, LaresDocument } from "./schema/lares.ts";
import type { EgressDocument } from "./schema/egress.ts";
import type { ModelsDocument } from "./schema/models.ts";

/** An entry of `extensions` with its defaults filled in. */
export interface ExtensionConfiguration {
  /** The folder, relative to `from`. Exactly one of path and id is set. */
  readonly path?: string;
  readonly id?: string;
  /** The document that contains the entry. Paths are relative to its folder. */
  readonly from: { readonly source: Source; readonly file: string };
  readonly enabled: boolean;
  readonly grants: {
    /** Canonical folders of the workspace; "." is the whole workspace. */
    readonly locations: readonly string[];
    readonly allow: readonly string[];
    readonly deny: readonly string[];
  };
  readonly config: Readonly<Record<string, unknown>>;
  /** Models that the extension gets besides its manifest's, or in place of them; absent if there are none. */
  readonly models?: NonNullable<ExtensionEntry["models"]>;
}

export interface MemoryConfiguration {
  readonly embedder: Embedder;
  readonly vectors: "auto" | "exact" | "usearch" | "faiss";
}

/** The kernel's effective configuration: all layers merged, every value present. */
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
    /** Overrides for single extensions' memory, by extension id. */
    readonly extensions: Readonly<Record<string, Partial<MemoryConfiguration>>>;
  };
  readonly trace: { readonly level: TraceLevel; readonly keepMs: number };
  /** Rules for the channels of notifications; those of the workspace only take channels away. */
  readonly notifications: {
    readonly person: readonly NotificationRule[];
    readonly workspace: readonly NotificationRule[];
  };
  readonly index: { readonly hidden: boolean; readonly ignore: readonly string[] };
  readonly conversations: {
    /** Globs, relative to the workspace: files whose contents others wrote. */
    readonly untrusted: readonly string[];
    /** Processes of all conversations that run at once. */
    readonly atOnce: number;
    /** Processes of one conversation that run at once. */
    readonly processes: number;
    /** How long conversations keep running after the last trusted client left. */
    readonly unattendedMs: number;
  };
  /** This and the next two come only from the user's own document: a workspace cannot name a provider or an address. */
  readonly models: ModelsDocument;
  readonly egress: EgressDocument;
  readonly device: { readonly capabilities: readonly string[] };
  readonly sharedNamespaces: NonNullable<LaresDocument["shared_namespaces"]>;
  readonly importNamespaces: NonNullable<LaresDocument["import_namespaces"]>;
}

/** The layers a value may come from, strongest first. */
export type Source = "environment" | "workspace" | "user" | "defaults";
