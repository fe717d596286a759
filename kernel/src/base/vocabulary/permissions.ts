import { Type, type Static } from "typebox";
import { closed } from "./common.ts";

const Names = (description: string) =>
  Type.Array(Type.String({ minLength: 1, maxLength: 256 }), { maxItems: 256, description });

/** What a manifest asks for, and, after grants and denials, what an agent may do. Absent: not asked for. */
export const Permissions = Type.Object(
  {
    read_entries: Type.Optional(
      Type.Union([
        Type.Boolean(),
        Type.Object(
          {
            filter: Type.Optional(
              Type.String({
                maxLength: 1024,
                description: "Glob, matched case-insensitively; on the base name where it has no slash",
              }),
            ),
          },
          closed,
        ),
      ]),
    ),
    write_sidecars: Type.Optional(Type.Object({ kinds: Names("Kinds of sidecar it may write") }, closed)),
    write_tags: Type.Optional(Type.Boolean()),
    write_custom_fields: Type.Optional(
      Type.Object({ namespace: Type.String({ minLength: 1, maxLength: 128 }) }, closed),
    ),
    use_models: Type.Optional(
      Type.Array(
        Type.Object({ category: Type.String(), local_only: Type.Optional(Type.Boolean()) }, closed),
        { maxItems: 64 },
      ),
    ),
    dispatch_jobs: Type.Optional(Type.Boolean()),
    propose_actions: Type.Optional(
      Names('Kinds of effect it may propose, e.g. "file.move"; "file.*" is all of a family'),
    ),
    emit_events: Type.Optional(Names("Names of its own events, without the publisher")),
    call_tools: Type.Optional(Names('"extension.id/tool" or "extension.id/*"')),
    shared_data: Type.Optional(
      Type.Object({ read: Type.Optional(Names("Keys")), write: Type.Optional(Names("Keys")) }, closed),
    ),
  },
  closed,
);
export type Permissions = Static<typeof Permissions>;
export type PermissionName = keyof Permissions;

export const permissionNames = [
  "read_entries",
  "write_sidecars",
  "write_tags",
  "write_custom_fields",
  "use_models",
  "dispatch_jobs",
  "propose_actions",
  "emit_events",
  "call_tools",
  "shared_data",
] as const satisfies PermissionName[];

/** What bounds an agent; the manifest requests, `limits` in lares.yaml caps. */
export interface AgentLimits {
  readonly max_memory_mb: number;
  readonly max_storage_mb: number;
  readonly max_vectors: number;
  readonly max_cpu_ms_per_event: number;
  readonly max_wall_ms_per_event: number;
  readonly max_events_per_second: number;
}

/**
 * An agent's effective authority, as everything that decides receives it: what it asked for and was
 * granted and not denied, and the folders it may see.
 */
export interface Authority {
  readonly extension: string;
  readonly requested: Permissions;
  /** Requested, granted, not denied. */
  readonly effective: Permissions;
  readonly denied: readonly PermissionName[];
  /** Folders of the workspace, "/" separators, no trailing slash; "." is all of it. */
  readonly locations: readonly string[];
  /** Programs and documents of extensions, relative to the workspace: protected paths. */
  readonly protectedPaths: readonly string[];
  /** What nobody reads or changes through the kernel: the state folder, where it lies inside the workspace. */
  readonly forbiddenPaths: readonly string[];
  /** The manifest's `enable_memory`. */
  readonly memory: boolean;
  /** The shared memories it may open, by name. */
  readonly namespaces: Readonly<Record<string, "read" | "read_write">>;
}
