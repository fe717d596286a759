import { Type, type Static } from "typebox";
import { closed } from "./common.ts";

const Names = (description: string) =>
  Type.Array(Type.String({ minLength: 1, maxLength: 256 }), { maxItems: 256, description });

const typeForms = '"extension.id/Type", or "extension.id/*" for all of one';

/** What a manifest requests and, after grants and denials, an agent may do. An absent permission is not requested. */
export const Permissions = Type.Object(
  {
    read_entries: Type.Optional(
      Type.Union(
        [
          Type.Boolean(),
          Type.Object(
            {
              filter: Type.Optional(
                Type.String({
                  maxLength: 1024,
                  description:
                    "Which files: a glob, matched case-insensitively; on the base name where it has no slash",
                  examples: ["*.md", "*.{jpg,jpeg,png}"],
                }),
              ),
            },
            closed,
          ),
        ],
        { description: "Knows of files and reads them: all in its locations, or those of a filter" },
      ),
    ),
    write_sidecars: Type.Optional(
      Type.Object(
        { kinds: Names("Kinds of sidecar it may write") },
        { ...closed, description: "Keeps data of its own beside files, in sidecars of these kinds" },
      ),
    ),
    write_tags: Type.Optional(Type.Boolean({ description: "Puts tags on files and takes them off" })),
    write_custom_fields: Type.Optional(
      Type.Object(
        {
          namespace: Type.String({
            minLength: 1,
            maxLength: 128,
            description: "The namespace its fields are in",
          }),
        },
        { ...closed, description: "Sets fields of files, in a namespace of its own" },
      ),
    ),
    use_models: Type.Optional(
      Type.Array(
        Type.Object(
          {
            category: Type.String({
              description:
                'What kind of model, e.g. face_detection; "embedding" turns texts into vectors, by the embedder that the memory has',
            }),
            local_only: Type.Optional(Type.Boolean({ description: "Only models on this machine" })),
          },
          closed,
        ),
        { maxItems: 64, description: "Uses models of these categories" },
      ),
    ),
    use_credentials: Type.Optional(
      Names(
        "Sends secrets of the user, by these names, to the hosts that they are bound to; never sees them",
      ),
    ),
    dispatch_jobs: Type.Optional(
      Type.Boolean({ description: "Starts jobs: work that takes longer than an event may" }),
    ),
    propose_actions: Type.Optional(
      Names('Proposes changes of these kinds, e.g. "file.move"; "file.*" is all of a family'),
    ),
    emit_events: Type.Optional(
      Names("Tells others of events of its own: their names, without the publisher"),
    ),
    hear_events: Type.Optional(
      Names(
        'Receives events of other extensions: "publisher.id/EventName", or "publisher.id/*" for all of one. Its own events need no permission',
      ),
    ),
    call_tools: Type.Optional(
      Names(
        'Calls tools of other extensions: "extension.id/tool" or "extension.id/*". The kernel\'s own, "files/*", need no permission of this kind',
      ),
    ),
    shared_data: Type.Optional(
      Type.Object(
        {
          read: Type.Optional(Names("Keys it may read")),
          write: Type.Optional(Names("Keys it may write")),
        },
        { ...closed, description: "Exchanges data with other extensions, by these keys" },
      ),
    ),
    shared_types: Type.Optional(
      Type.Object(
        {
          read: Type.Optional(Names(`Types whose values it may read: ${typeForms}`)),
          write: Type.Optional(Names(`Types whose values it may create, change and remove: ${typeForms}`)),
        },
        {
          ...closed,
          description: "Uses values of types of other extensions. Its own types need no permission",
        },
      ),
    ),
    see_agents: Type.Optional(
      Type.Boolean({ description: "Sees which agents there are and whether they work, none of their texts" }),
    ),
    intercept: Type.Optional(
      Names(
        "Reads and changes what you say to these agents, and what they do, before it happens: their ids. Hooks do so with intercept: true",
      ),
    ),
  },
  {
    ...closed,
    description: "What the program asks to do; what of it is granted, lares.yaml says and a person accepts",
  },
);
export type Permissions = Static<typeof Permissions>;
export type PermissionName = keyof Permissions;

export const permissionNames = [
  "read_entries",
  "write_sidecars",
  "write_tags",
  "write_custom_fields",
  "use_models",
  "use_credentials",
  "dispatch_jobs",
  "propose_actions",
  "emit_events",
  "hear_events",
  "call_tools",
  "shared_data",
  "shared_types",
  "see_agents",
  "intercept",
] as const satisfies PermissionName[];

/** The limits of an agent: requested in the manifest, capped by `limits` in lares.yaml. */
export interface AgentLimits {
  readonly max_memory_mb: number;
  readonly max_storage_mb: number;
  readonly max_vectors: number;
  readonly max_cpu_ms_per_event: number;
  readonly max_wall_ms_per_event: number;
  readonly max_events_per_second: number;
}

/**
 * An agent's effective authority: what it requested, was granted and was not denied, and the folders it may see. Every
 * permission check receives one.
 */
export interface Authority {
  readonly extension: string;
  readonly requested: Permissions;
  /** Requested, granted and not denied. */
  readonly effective: Permissions;
  readonly denied: readonly PermissionName[];
  /** Folders of the workspace with "/" separators and no trailing slash; "." is the whole workspace. */
  readonly locations: readonly string[];
  /** Programs and documents of extensions, relative to the workspace: protected paths. */
  readonly protectedPaths: readonly string[];
  /** Paths that are never read or changed through the kernel: the state folder, if it lies inside the workspace. */
  readonly forbiddenPaths: readonly string[];
  /** The manifest's `enable_memory`. */
  readonly memory: boolean;
  /** The shared memories that it may open, by name. */
  readonly namespaces: Readonly<Record<string, "read" | "read_write">>;
  /** The hosts that it may reach: those of the manifest, as a person accepted them. Absent: none. */
  readonly hosts?: readonly string[];
  /** The models that it may run: the names of those that the manifest declares, as a person accepted them. Absent: none. */
  readonly models?: readonly string[];
  /** The agents on whose behalf it acts: it may not do for them what they may not do themselves. */
  readonly onBehalfOf?: readonly Authority[];
}
