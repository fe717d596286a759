import { defaultInterceptOrder } from "../base/vocabulary/mind-events.ts";
import type { NamedAction } from "../base/vocabulary/named-action.ts";
import type { SharedTypeDefinition } from "../base/vocabulary/shared-type.ts";
import { plainPath } from "./plain-path.ts";
import type { DeclaredEvent, ResolvedHook, ResolvedManifest, ResolvedMind } from "./resolved-manifest.ts";
import { durationMs } from "./schema/durations.ts";
import type { ActionDeclaration } from "./schema/actions.ts";
import type { EventDeclaration } from "./schema/events.ts";
import type { Manifest } from "./schema/manifest.ts";
import type { Mind, MindWorker } from "./schema/mind.ts";
import type { SharedType } from "./schema/shared-types.ts";

type Extension = Manifest["extension"];

/** Returns a manifest that its schema accepts with the defaults filled in. `main`: the program that was named or found. */
export function resolveManifest({ extension }: Manifest, main: string | null): ResolvedManifest {
  const { agent = {} } = extension;
  return {
    id: extension.id,
    name: extension.name,
    version: extension.version,
    description: extension.description ?? "",
    ...(extension.author === undefined ? {} : { author: extension.author }),
    ...(extension.license === undefined ? {} : { license: extension.license }),
    main,
    permissions: extension.permissions ?? {},
    resources: extension.resources ?? {},
    agent: {
      enableMemory: agent.enable_memory ?? true,
      ...(agent.memory_retention_days === undefined
        ? {}
        : { memoryRetentionDays: agent.memory_retention_days }),
      ...(agent.memory_prune === undefined
        ? {}
        : {
            memoryPrune: {
              belowImportance: agent.memory_prune.below_importance,
              olderThanDays: agent.memory_prune.older_than_days,
            },
          }),
      ...(agent.trace_level === undefined ? {} : { traceLevel: agent.trace_level }),
      activation: agent.activation ?? "on_event",
      ...(agent.concurrency === undefined ? {} : { concurrency: agent.concurrency }),
    },
    hooks: (extension.hooks ?? []).flatMap(resolveHook),
    tools: (extension.tools ?? []).map((tool) => ({
      ...tool,
      parameters: tool.parameters ?? { type: "object" },
    })),
    models: extension.models ?? [],
    ...(extension.commands === undefined ? {} : { commands: extension.commands.map(resolveCommand) }),
    ...(extension.events === undefined ? {} : { events: extension.events.map(resolveEvent) }),
    ...(extension.actions === undefined ? {} : { actions: extension.actions.map(resolveAction) }),
    ...(extension.types === undefined ? {} : { types: extension.types.map(resolveType) }),
    ...(extension.mind === undefined ? {} : { mind: resolveMind(extension.mind) }),
  };
}

/** Returns an empty value for a hook that is not bound to exactly one event or time and one thing to do, which is reported. */
function resolveHook(hook: NonNullable<Extension["hooks"]>[number]): ResolvedHook[] {
  const { on, filter, schedule, timezone, catch_up: catchUp = "skip", handler, prompt } = hook;
  if (on !== undefined && schedule === undefined && handler !== undefined) {
    return [
      {
        kind: "event",
        on,
        handler,
        ...(filter === undefined ? {} : { filter }),
        ...(hook.intercept === true ? { interceptOrder: hook.order ?? defaultInterceptOrder } : {}),
      },
    ];
  }
  if (schedule === undefined || on !== undefined) return [];
  const timing = {
    kind: "schedule" as const,
    schedule,
    catchUp,
    ...(timezone === undefined ? {} : { timezone }),
    ...(hook.active_hours === undefined ? {} : { activeHours: hook.active_hours }),
    ...(hook.overlap === "queue" ? { overlap: hook.overlap } : {}),
    ...(hook.jitter === undefined ? {} : { jitterMs: durationMs(hook.jitter) }),
    ...(hook.on_device_with_capability === undefined
      ? {}
      : { onDeviceWithCapability: hook.on_device_with_capability }),
  };
  if (handler !== undefined && prompt === undefined) return [{ ...timing, handler }];
  if (prompt === undefined || handler !== undefined) return [];
  const file = plainPath(prompt);
  return [{ ...timing, handler: file, prompt: file, target: hook.target ?? "notify" }];
}

function resolveEvent({ name, version = 1, schema }: EventDeclaration): DeclaredEvent {
  return { name, version, schema };
}

function resolveCommand({
  description = "",
  prompt,
  ...command
}: NonNullable<Extension["commands"]>[number]): NonNullable<ResolvedManifest["commands"]>[number] {
  return { ...command, description, ...(prompt === undefined ? {} : { prompt: plainPath(prompt) }) };
}

function resolveAction({ description = "", parameters, ...action }: ActionDeclaration): NamedAction {
  return { ...action, description, parameters: parameters ?? { type: "object" } };
}

function resolveType({ name, version = 1, key, schema }: SharedType): SharedTypeDefinition {
  return { name, version, key, schema };
}

function resolveMind(mind: Mind): ResolvedMind {
  const { channel, branches, compaction, cortex } = mind;
  const prompts = Object.entries(mind.prompts ?? {}).map(([kind, file]) => [kind, plainPath(file)]);
  return {
    identity: (mind.identity ?? []).map(plainPath),
    prompts: Object.fromEntries(prompts) as ResolvedMind["prompts"],
    skills: mind.skills ?? [],
    tools: mind.tools ?? [],
    directTools: mind.direct_tools ?? [],
    blocks: (mind.blocks ?? []).map(({ name, description, limit, read_only, scope, namespace }) => ({
      name,
      description,
      limitCharacters: limit ?? 4000,
      isReadOnly: read_only ?? false,
      scope: scope ?? "mind",
      ...(namespace === undefined ? {} : { namespace }),
    })),
    channel: { maxTurns: channel?.max_turns ?? 5 },
    branches: { atOnce: branches?.at_once ?? 4, maxTurns: branches?.max_turns ?? 10 },
    workers: Object.entries(mind.workers ?? {}).map(([name, worker]) => resolveWorker(name, worker, mind)),
    compaction: {
      background: compaction?.background ?? 0.8,
      aggressive: compaction?.aggressive ?? 0.85,
      emergency: compaction?.emergency ?? 0.95,
    },
    cortex: { everyMs: durationMs(cortex?.every ?? "1h"), bulletinTokens: cortex?.bulletin_tokens ?? 700 },
  };
}

function resolveWorker(
  name: string,
  worker: MindWorker,
  { tools = [] }: Mind,
): ResolvedMind["workers"][number] {
  return {
    name,
    description: worker.description,
    ...(worker.prompt === undefined ? {} : { prompt: plainPath(worker.prompt) }),
    tools: worker.tools ?? tools,
    maxTurns: worker.max_turns ?? 50,
    isInteractive: worker.interactive ?? false,
    atOnce: worker.at_once ?? 4,
  };
}
