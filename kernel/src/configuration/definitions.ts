import type { AgentDefinition, HookDefinition } from "../base/vocabulary/agent-definition.ts";
import type { Clock } from "../base/clock.ts";
import type { Hash } from "../base/vocabulary/common.ts";
import type { Authority } from "../base/vocabulary/permissions.ts";
import type { RequestedPermissions } from "../decisions/requested-permissions.ts";
import type { Configuration } from "../documents/configuration.ts";
import { effectiveLimits } from "../documents/limits.ts";
import type { ResolvedHook, ResolvedManifest } from "../documents/resolved-manifest.ts";
import { compileSchedule } from "../events/cron.ts";
import { compileFilter } from "../events/filter.ts";
import { effectivePermissions } from "../policy/permissions.ts";
import { behaviourOf, fromBehaviour } from "./behaviours.ts";
import { digestOfBundle } from "./bundle-digest.ts";
import { commandsOf, mindOf, promptOf, textsOf, type Texts } from "./mind-definition.ts";
import { sourcesOf } from "./mind-sources.ts";
import { noProgram } from "./programs.ts";
import { sha256 } from "../platform/files/hash.ts";
import { manifestProblems, programProblems } from "./broken-extensions.ts";
import type { DefinitionContext } from "./definition-context.ts";
import type { CatalogEntry, CatalogSnapshot } from "./catalog-snapshot.ts";
import { namespaceGrants } from "./namespaces.ts";

/** Returns the agents that the documents name, with the parts of them that are in force. */
export function definitionsOf(
  snapshot: Pick<CatalogSnapshot, "entries" | "configuration">,
  inForce: RequestedPermissions,
  context: DefinitionContext,
): AgentDefinition[] {
  return snapshot.entries
    .filter(({ id, configuration }) => !configuration.enabled || inForce.extensions[id] !== undefined)
    .map((entry) => definitionOf(entry, inForce, snapshot.configuration, context));
}

function definitionOf(
  entry: CatalogEntry,
  inForce: RequestedPermissions,
  configuration: Configuration,
  context: DefinitionContext,
): AgentDefinition {
  const { extension } = entry;
  const written = extension.checked.value;
  if (written === null) throw new Error(`${extension.manifest.file} was not resolved.`);
  const accepted = inForce.extensions[entry.id];
  // From the behaviour in force, not from the current documents.
  const behaviour = accepted?.behaviour ?? behaviourOf(written, entry.configuration).behaviour;
  const { manifest, config } = fromBehaviour(behaviour);
  const fault = faultOf(entry, written);
  const texts = textsOf(entry.program.program?.mind);
  const mind = mindOf(manifest.mind, entry);
  const authority: Authority = {
    extension: written.id,
    requested: written.permissions,
    effective: accepted?.permissions ?? {},
    denied: effectivePermissions(
      // A person who denies use_models denies the extension's own models too, for which it needs no permission.
      manifest.models.length === 0 ? written.permissions : { use_models: [], ...written.permissions },
      entry.configuration.grants,
    ).denied,
    locations: accepted?.locations ?? [],
    protectedPaths: context.protectedPaths,
    forbiddenPaths: context.forbiddenPaths,
    memory: manifest.agent.enableMemory,
    namespaces: namespaceGrants(written.id, context.namespaces),
    // In force with the rest of the accepted behaviour.
    hosts: accepted === undefined ? [] : (manifest.resources.allowed_hosts ?? []),
    models: accepted === undefined ? [] : manifest.models.map(({ name }) => name),
  };
  return {
    id: written.id,
    name: accepted?.name ?? written.name,
    version: manifest.version ?? written.version,
    enabled: entry.configuration.enabled,
    activation: manifest.agent.activation,
    hooks: manifest.hooks.map((hook) =>
      hookOf(hook, context.clock, texts, configuration.device.capabilities),
    ),
    tools: manifest.tools.map((tool) => ({ ...tool, description: tool.description ?? "" })),
    ...(manifest.events === undefined ? {} : { events: manifest.events }),
    authority,
    limits: effectiveLimits(manifest, configuration),
    config,
    concurrency: manifest.agent.concurrency ?? 2,
    memory: manifest.agent.enableMemory,
    memoryRetentionDays: manifest.agent.memoryRetentionDays ?? null,
    memoryPrune: manifest.agent.memoryPrune ?? null,
    traceLevel: manifest.agent.traceLevel ?? configuration.trace.level,
    ...(manifest.commands === undefined ? {} : { commands: commandsOf(manifest.commands, texts) }),
    ...(manifest.actions === undefined ? {} : { actions: manifest.actions }),
    ...(manifest.types === undefined ? {} : { types: manifest.types }),
    ...(accepted === undefined || manifest.models.length === 0 ? {} : { models: manifest.models }),
    ...(mind === null || manifest.mind === undefined
      ? {}
      : { mind: { ...mind, sources: sourcesOf(manifest.mind, entry, context.workspacePaths) } }),
    body: written.main === null ? "kernel" : "guest",
    bundleDigest: bundleDigestOf(entry, written),
    ...(fault === null ? {} : { fault }),
    ...problemsOf(entry),
  };
}

function bundleDigestOf({ extension, program }: CatalogEntry, { main, mind }: ResolvedManifest): Hash | null {
  if (main !== null) return program.program?.digest ?? null;
  // Texts that cannot be read, or not all of them.
  if (mind !== undefined && program.program === null) return null;
  const texts = program.program?.mind?.texts ?? [];
  const files = texts.map(({ path, text }) => ({ path, hash: sha256(text) }));
  return digestOfBundle(extension.manifest.text, files);
}

function problemsOf({ extension, program }: CatalogEntry): Pick<AgentDefinition, "problems"> {
  const problems = extension.checked.usable
    ? programProblems(extension.folder, program)
    : manifestProblems(extension.manifest.file, extension.checked);
  return problems === null ? {} : { problems };
}

function faultOf({ extension, program }: CatalogEntry, manifest: ResolvedManifest): string | null {
  if (!extension.checked.usable) {
    const first = extension.checked.diagnostics.find(({ severity }) => severity === "error");
    const { line = 0, character = 0 } = first?.range.start ?? {};
    return `${extension.manifest.file}:${line + 1}:${character + 1}: ${first?.message ?? "The manifest has errors."}`;
  }
  if (manifest.main !== null) return program.fault ?? null;
  if (manifest.mind !== undefined && program.program === null) return program.fault;
  // Without a program there is nothing that a hook, a tool or a command could call.
  const { hooks, tools, commands = [], actions = [] } = manifest;
  const isCalled =
    hooks.some((hook) => hook.kind === "event" || hook.prompt === undefined) ||
    tools.length > 0 ||
    actions.length > 0 ||
    commands.some(({ prompt }) => prompt === undefined);
  return isCalled ? noProgram : null;
}

/**
 * Returns a hook with its filter or schedule compiled. `texts`: the prompts that were read, by path. `capabilities`: those
 * of this device; a schedule that needs another one is not timed here.
 */
export function hookOf(
  hook: ResolvedHook,
  clock: Clock,
  texts: Texts = new Map(),
  capabilities: readonly string[] = [],
): HookDefinition {
  if (hook.kind === "schedule") {
    const schedule = compileSchedule(hook.schedule, hook.timezone, clock.now(), hook.activeHours);
    const bound = {
      handler: hook.handler,
      schedule: hook.schedule,
      ...(hook.prompt === undefined ? {} : { prompt: promptOf(hook, hook.prompt, texts) }),
      accepts: () => ({ passed: false }),
    };
    const needed = hook.onDeviceWithCapability;
    if (needed !== undefined && !capabilities.includes(needed))
      return { ...bound, missingCapability: needed };
    // An unreadable schedule has already put the agent into Error.
    if (!schedule.ok) return bound;
    return {
      ...bound,
      nextRun: () => schedule.nextRuns(clock.now(), 1)[0] ?? null,
      timing: {
        timezone: hook.timezone ?? "UTC",
        catchUp: hook.catchUp,
        overlap: hook.overlap ?? "skip",
        jitterMs: hook.jitterMs ?? 0,
        isActive: schedule.isActive,
        next: (afterMs) => {
          const [next] = schedule.nextRuns(afterMs, 1);
          return next === undefined ? null : Date.parse(next);
        },
        between: (afterMs, throughMs, count) => schedule.runsBetween(afterMs, throughMs, count),
      },
    };
  }
  const { on, filter: source, interceptOrder: order } = hook;
  const bound = { handler: hook.handler, on, ...(order === undefined ? {} : { intercept: { order } }) };
  if (source === undefined) return { ...bound, accepts: () => ({ passed: true }) };
  const filter = compileFilter(source, on);
  return {
    ...bound,
    filter: source,
    accepts: (event, inGrantedScope) => {
      // A filter that does not compile has already put the agent into Error; until then no event passes it.
      if (!filter.ok) return { passed: false };
      const { matches, reason } = filter.explain(event, { inGrantedScope });
      return reason === undefined ? { passed: matches } : { passed: matches, error: reason };
    },
  };
}
