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
  const authority: Authority = {
    extension: written.id,
    requested: written.permissions,
    effective: accepted?.permissions ?? {},
    denied: effectivePermissions(written.permissions, entry.configuration.grants).denied,
    locations: accepted?.locations ?? [],
    protectedPaths: context.protectedPaths,
    forbiddenPaths: context.forbiddenPaths,
    memory: manifest.agent.enableMemory,
    namespaces: namespaceGrants(written.id, context.namespaces),
    // In force with the rest of the accepted behaviour.
    hosts: accepted === undefined ? [] : (manifest.resources.allowed_hosts ?? []),
  };
  return {
    id: written.id,
    name: accepted?.name ?? written.name,
    version: manifest.version ?? written.version,
    enabled: entry.configuration.enabled,
    activation: manifest.agent.activation,
    hooks: manifest.hooks.map((hook) => hookOf(hook, context.clock)),
    tools: manifest.tools.map((tool) => ({ ...tool, description: tool.description ?? "" })),
    authority,
    limits: effectiveLimits(manifest, configuration),
    config,
    memory: manifest.agent.enableMemory,
    memoryRetentionDays: manifest.agent.memoryRetentionDays ?? null,
    memoryPrune: manifest.agent.memoryPrune ?? null,
    traceLevel: manifest.agent.traceLevel ?? configuration.trace.level,
    body: written.main === null ? "kernel" : "guest",
    bundleDigest: bundleDigestOf(entry, written),
    ...(fault === null ? {} : { fault }),
    ...problemsOf(entry),
  };
}

function bundleDigestOf({ extension, program }: CatalogEntry, { main }: ResolvedManifest): Hash | null {
  if (main !== null) return program.program?.digest ?? null;
  // No field of a manifest names files that belong to an agent without a program yet.
  return digestOfBundle(extension.manifest.text, []);
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
  if (program.program !== null) return null;
  // A manifest without a program is fine as long as it has no hooks and tools.
  return manifest.main === null && manifest.hooks.length === 0 && manifest.tools.length === 0
    ? null
    : program.fault;
}

/** Returns a hook with its filter or schedule compiled. */
export function hookOf(hook: ResolvedHook, clock: Clock): HookDefinition {
  if (hook.kind === "schedule") {
    const schedule = compileSchedule(hook.schedule, hook.timezone, clock.now());
    const bound = { handler: hook.handler, schedule: hook.schedule, accepts: () => ({ passed: false }) };
    // An unreadable schedule has already put the agent into Error.
    if (!schedule.ok) return bound;
    return {
      ...bound,
      nextRun: () => schedule.nextRuns(clock.now(), 1)[0] ?? null,
      timing: {
        timezone: hook.timezone ?? "UTC",
        catchUp: hook.catchUp,
        next: (afterMs) => {
          const [next] = schedule.nextRuns(afterMs, 1);
          return next === undefined ? null : Date.parse(next);
        },
        between: (afterMs, throughMs, count) => schedule.runsBetween(afterMs, throughMs, count),
      },
    };
  }
  const { handler, on, filter: source } = hook;
  if (source === undefined) return { handler, on, accepts: () => ({ passed: true }) };
  const filter = compileFilter(source, on);
  return {
    handler,
    on,
    filter: source,
    accepts: (event, inGrantedScope) => {
      // A filter that does not compile has already put the agent into Error; until then no event passes it.
      if (!filter.ok) return { passed: false };
      const { matches, reason } = filter.explain(event, { inGrantedScope });
      return reason === undefined ? { passed: matches } : { passed: matches, error: reason };
    },
  };
}
