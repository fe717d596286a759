import type { MindBlock } from "../base/vocabulary/mind.ts";
import type { ProcessKind } from "../base/vocabulary/principal.ts";
import type { NamedAction } from "../base/vocabulary/named-action.ts";
import type { Permissions } from "../base/vocabulary/permissions.ts";
import type { SharedTypeDefinition } from "../base/vocabulary/shared-type.ts";
import type { TraceLevel } from "../base/vocabulary/trace.ts";
import type { Manifest, ManifestResources } from "./schema/manifest.ts";

/** The program files that are looked for, in this order, if a manifest names none. */
export const defaultPrograms = ["agent.wasm", "agent.ts", "agent.js"] as const;

export type ResolvedHook =
  | {
      readonly kind: "event";
      readonly on: string;
      readonly filter?: string;
      readonly handler: string;
      /** Present if it is asked before the event takes effect; lower numbers are asked first. */
      readonly interceptOrder?: number;
    }
  | {
      readonly kind: "schedule";
      readonly schedule: string;
      readonly timezone?: string;
      readonly catchUp: "skip" | "once" | "all";
      /** Written like 08:00-20:00. */
      readonly activeHours?: string;
      /** Absent: "skip". */
      readonly overlap?: "queue";
      readonly jitterMs?: number;
      readonly onDeviceWithCapability?: string;
      /** The function; with `prompt`, the same as that. */
      readonly handler: string;
      /** The file whose text starts a conversation. */
      readonly prompt?: string;
      readonly target?: "notify";
    };

/** An event that an extension emits. */
export interface DeclaredEvent {
  /** Without the publisher. */
  readonly name: string;
  readonly version: number;
  /** JSON Schema of its fields. */
  readonly schema: Record<string, unknown>;
}

interface ResolvedCommand {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /** Exactly one of the function and the file is present. */
  readonly handler?: string;
  readonly prompt?: string;
  readonly parameters?: Record<string, unknown>;
}

/** `extension.mind` with its defaults filled in. Files are named, relative to the manifest's folder, and not read. */
export interface ResolvedMind {
  readonly identity: readonly string[];
  /** Without those for which Lares' own apply. */
  readonly prompts: Readonly<Partial<Record<ProcessKind, string>>>;
  /** Folders, or globs for them. */
  readonly skills: readonly string[];
  readonly tools: readonly string[];
  readonly directTools: readonly string[];
  readonly blocks: readonly MindBlock[];
  readonly channel: { readonly maxTurns: number };
  readonly branches: { readonly atOnce: number; readonly maxTurns: number };
  readonly workers: readonly {
    readonly name: string;
    readonly description: string;
    /** If absent, that of all workers. */
    readonly prompt?: string;
    readonly tools: readonly string[];
    readonly maxTurns: number;
    readonly isInteractive: boolean;
    readonly atOnce: number;
  }[];
  readonly compaction: {
    readonly background: number;
    readonly aggressive: number;
    readonly emergency: number;
  };
  readonly cortex: { readonly everyMs: number; readonly bulletinTokens: number };
}

/** A skill of a mind, as it was read. */
export interface SkillFile {
  /** Its SKILL.md, relative to the manifest's folder. */
  readonly path: string;
  readonly name: string;
  readonly description: string;
  /** The text after the front matter. */
  readonly text: string;
}

/** The files that a mind is made of besides the manifest, as they were read. */
export interface MindFiles {
  /** All of them, SKILL.md of skills included, each once, by path; with a byte order mark if they have one. */
  readonly texts: readonly { readonly path: string; readonly text: string }[];
  readonly skills: readonly SkillFile[];
}

type ResolvedModel = NonNullable<Manifest["extension"]["models"]>[number] & {
  /** Whose `lares.yaml` names it; absent if the manifest does. */
  readonly named_in?: "workspace" | "user";
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
    /** Tasks of a job that run at once; absent: 2. */
    readonly concurrency?: number;
  };
  readonly hooks: readonly ResolvedHook[];
  readonly tools: readonly ResolvedTool[];
  readonly models: readonly ResolvedModel[];
  /** Absent if there are none, as in the manifests that were accepted before there were any. */
  readonly commands?: readonly ResolvedCommand[];
  /** Absent if none are declared: then it may emit any that its permission lists. */
  readonly events?: readonly DeclaredEvent[];
  /** Absent if there are none. */
  readonly actions?: readonly NamedAction[];
  /** Absent if there are none. */
  readonly types?: readonly SharedTypeDefinition[];
  readonly mind?: ResolvedMind;
}
