import { LaresError } from "../base/errors.ts";
import type { Range } from "./text/diagnostics.ts";
import { durationMs } from "./schema/durations.ts";
import type { Configuration, ExtensionConfiguration, Source } from "./configuration.ts";
import { readEnvironment, type EnvironmentFault } from "./environment.ts";
import { canonicalLocation, userOnlySettings } from "./lares.ts";
import type { ExtensionEntry, LaresDocument } from "./schema/lares.ts";
import { pointerTo, valueAt, type ParsedDocument } from "./text/source.ts";

/** A document that passed its checks. */
export interface Layer {
  readonly file: string;
  readonly value: LaresDocument;
  readonly document: ParsedDocument;
}

export interface Origin {
  readonly source: Source;
  /** The document or the environment variable. */
  readonly file?: string;
  readonly range?: Range;
}

export interface ResolvedConfiguration {
  readonly value: Configuration;
  /** The origin of each setting, by JSON pointer in the merged document (`/limits/active_agents`, `/extensions/0`). */
  readonly origins: ReadonlyMap<string, Origin>;
  /** The merged document as written, which `--explain` shows beside the origins. */
  readonly merged: LaresDocument;
  readonly environmentFaults: readonly EnvironmentFault[];
}

interface Layers {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly workspace: Layer | null;
  readonly user: Layer | null;
  readonly defaults: Layer;
}

/**
 * Merges the layers setting by setting: environment > workspace > user > defaults. Lists are joined, so that a
 * workspace cannot drop a user's rules: approval rules and namespaces are concatenated, and two entries for one
 * extension become the workspace's entry with the denials of both.
 */
export async function resolveConfiguration(layers: Layers): Promise<ResolvedConfiguration> {
  const { settings, faults } = await readEnvironment(layers.environment);
  const origins = new Map<string, Origin>();
  const merged: Record<string, unknown> = {};
  const documents = [
    { source: "defaults", layer: layers.defaults },
    { source: "user", layer: layers.user },
    { source: "workspace", layer: layers.workspace },
  ] as const;
  const extensions: { entry: ExtensionEntry; from: ExtensionConfiguration["from"] }[] = [];
  const lists = new Map<string, { item: unknown; origin: Origin }[]>();
  for (const { source, layer } of documents) {
    if (layer === null) continue;
    const ignored = source === "workspace" ? userOnlySettings(layer.value) : [];
    const originOf = (pointer: string): Origin => ({
      source,
      file: layer.file,
      range: layer.document.locate(pointer),
    });
    for (const pointer of settingsOf(layer.value)) {
      if (ignored.some((other) => pointer === other || pointer.startsWith(`${other}/`))) continue;
      assign(merged, pointer, valueAt(layer.value, pointer));
      origins.set(pointer, originOf(pointer));
    }
    for (const pointer of listPointers) {
      const items = (valueAt(layer.value, pointer) as readonly unknown[] | undefined) ?? [];
      const joined = lists.get(pointer) ?? [];
      lists.set(pointer, joined);
      // The stronger layer comes first, because readers look for it.
      joined.unshift(...items.map((item, index) => ({ item, origin: originOf(pointerTo(pointer, index)) })));
    }
    for (const [index, entry] of (layer.value.extensions ?? []).entries()) {
      mergeExtension(extensions, entry, { source, file: layer.file });
      origins.set(`extension ${nameOf(entry)}`, originOf(pointerTo("/extensions", index)));
    }
  }
  for (const [pointer, joined] of lists) {
    assign(
      merged,
      pointer,
      joined.map(({ item }) => item),
    );
    joined.forEach(({ origin }, index) => origins.set(pointerTo(pointer, index), origin));
  }
  for (const { pointer, value, variable } of settings) {
    assign(merged, pointer, value);
    origins.set(pointer, { source: "environment", file: variable });
  }
  extensions.forEach(({ entry }, index) => {
    const key = `extension ${nameOf(entry)}`;
    const origin = origins.get(key);
    origins.delete(key);
    if (origin !== undefined) origins.set(pointerTo("/extensions", index), origin);
  });
  const document = { ...merged, extensions: extensions.map(({ entry }) => entry) } as LaresDocument;
  return {
    value: configurationOf(document, extensions, layers),
    origins,
    merged: document,
    environmentFaults: faults,
  };
}

const listPointers = [
  "/approvals/rules",
  "/notifications/rules",
  "/index/ignore",
  "/conversations/untrusted",
  "/shared_namespaces",
  "/import_namespaces",
];
const sections = [
  "approvals",
  "limits",
  "kernel",
  "memory",
  "trace",
  "notifications",
  "index",
  "conversations",
  "models",
  "egress",
  "device",
] as const;

/** Returns the pointers of all settings in a document. */
function settingsOf(value: LaresDocument): string[] {
  return sections
    .flatMap((section) => Object.keys(value[section] ?? {}).map((key) => pointerTo("", section, key)))
    .filter((pointer) => !listPointers.includes(pointer));
}

function assign(target: Record<string, unknown>, pointer: string, value: unknown): void {
  const [section = "", key] = pointer.slice(1).split("/");
  if (key === undefined) target[section] = value;
  else target[section] = { ...(target[section] as object | undefined), [key]: value };
}

function nameOf(entry: ExtensionEntry): string {
  return entry.id ?? entry.path ?? "";
}

function mergeExtension(
  merged: { entry: ExtensionEntry; from: ExtensionConfiguration["from"] }[],
  entry: ExtensionEntry,
  from: ExtensionConfiguration["from"],
): void {
  const weaker = merged.findIndex((other) => nameOf(other.entry) === nameOf(entry));
  const denied = weaker < 0 ? [] : (merged[weaker]?.entry.grants?.deny ?? []);
  if (weaker >= 0) merged.splice(weaker, 1);
  const deny = [...new Set([...(entry.grants?.deny ?? []), ...denied])];
  merged.push({ entry: deny.length === 0 ? entry : { ...entry, grants: { ...entry.grants, deny } }, from });
}

function configurationOf(
  merged: LaresDocument,
  extensions: readonly { entry: ExtensionEntry; from: ExtensionConfiguration["from"] }[],
  { user, workspace }: Pick<Layers, "user" | "workspace">,
): Configuration {
  const { approvals, limits, kernel, memory, trace, index, conversations } = merged;
  return {
    extensions: extensions.map(({ entry, from }) => extensionOf(entry, from)),
    approvals: {
      autoApproveBelow: given(approvals?.auto_approve_below, "approvals.auto_approve_below"),
      expireAfterMs: durationMs(given(approvals?.expire_after, "approvals.expire_after")),
      rules: approvals?.rules ?? [],
    },
    limits: {
      activeAgents: given(limits?.active_agents, "limits.active_agents"),
      idleUnloadMs: durationMs(given(limits?.idle_unload, "limits.idle_unload")),
      maxMemoryMb: given(limits?.max_memory_mb, "limits.max_memory_mb"),
      maxStorageMb: given(limits?.max_storage_mb, "limits.max_storage_mb"),
      maxVectors: given(limits?.max_vectors, "limits.max_vectors"),
      maxCpuMsPerEvent: given(limits?.max_cpu_ms_per_event, "limits.max_cpu_ms_per_event"),
      maxWallMsPerEvent: given(limits?.max_wall_ms_per_event, "limits.max_wall_ms_per_event"),
      maxEventsPerSecond: given(limits?.max_events_per_second, "limits.max_events_per_second"),
    },
    kernel: { lingerMs: durationMs(given(kernel?.linger, "kernel.linger")) },
    memory: {
      embedder: given(memory?.embedder, "memory.embedder"),
      vectors: given(memory?.vectors, "memory.vectors"),
      extensions: memory?.extensions ?? {},
    },
    trace: {
      level: given(trace?.level, "trace.level"),
      keepMs: durationMs(given(trace?.keep, "trace.keep")),
    },
    notifications: {
      person: user?.value.notifications?.rules ?? [],
      workspace: workspace?.value.notifications?.rules ?? [],
    },
    index: { hidden: given(index?.hidden, "index.hidden"), ignore: index?.ignore ?? [] },
    conversations: {
      untrusted: conversations?.untrusted ?? [],
      atOnce: given(conversations?.at_once, "conversations.at_once"),
      processes: given(conversations?.processes, "conversations.processes"),
      unattendedMs: durationMs(given(conversations?.unattended, "conversations.unattended")),
    },
    models: merged.models ?? {},
    egress: merged.egress ?? {},
    device: { capabilities: merged.device?.capabilities ?? [] },
    sharedNamespaces: merged.shared_namespaces ?? [],
    importNamespaces: merged.import_namespaces ?? [],
  };
}

function extensionOf(entry: ExtensionEntry, from: ExtensionConfiguration["from"]): ExtensionConfiguration {
  const { locations = ["."], allow = ["*"], deny = [] } = entry.grants ?? {};
  return {
    ...(entry.path === undefined ? {} : { path: entry.path }),
    ...(entry.id === undefined ? {} : { id: entry.id }),
    from,
    enabled: entry.enabled ?? true,
    grants: {
      locations: locations.map(canonicalLocation).filter((location) => location !== null),
      allow,
      deny,
    },
    config: entry.config ?? {},
    ...(entry.models === undefined ? {} : { models: entry.models }),
  };
}

/** Every setting has a default, so a missing value is a bug in the defaults. */
function given<Value>(value: Value | undefined, name: string): Value {
  if (value === undefined) throw new LaresError("InternalError", `The defaults lack ${name}.`);
  return value;
}
