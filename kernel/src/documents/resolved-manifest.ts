import type { Permissions } from "../base/vocabulary/permissions.ts";
import type { TraceLevel } from "../base/vocabulary/trace.ts";
import type { Manifest, ManifestResources } from "./schema/manifest.ts";

/** The program files that are looked for, in this order, if a manifest names none. */
export const defaultPrograms = ["agent.wasm", "agent.ts", "agent.js"] as const;

export type ResolvedHook =
  | { readonly kind: "event"; readonly on: string; readonly filter?: string; readonly handler: string }
  | {
      readonly kind: "schedule";
      readonly schedule: string;
      readonly timezone?: string;
      readonly catchUp: "skip" | "once" | "all";
      readonly handler: string;
    };

interface ResolvedTool {
  readonly name: string;
  readonly description: string;
  readonly handler: string;
  /** JSON Schema. */
  readonly parameters: Record<string, unknown>;
}

/** A manifest with its defaults filled in. */
export interface ResolvedManifest {
  readonly id: string;
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly author?: string;
  readonly license?: string;
  /** The program, relative to the manifest's folder; null if there is no program. */
  readonly main: string | null;
  readonly permissions: Permissions;
  /** The limits as requested; see `effectiveLimits`. */
  readonly resources: ManifestResources;
  readonly agent: {
    readonly enableMemory: boolean;
    readonly memoryRetentionDays?: number;
    readonly memoryPrune?: { readonly belowImportance: number; readonly olderThanDays: number };
    /** If absent, the configuration's value applies. */
    readonly traceLevel?: TraceLevel;
    readonly activation: "on_event" | "eager";
  };
  readonly hooks: readonly ResolvedHook[];
  readonly tools: readonly ResolvedTool[];
  readonly models: NonNullable<Manifest["extension"]["models"]>;
}
