import type { Agent, AgentFailure, AgentMetrics, AgentState } from "../base/vocabulary/agent.ts";
import { permissionNames, type Authority } from "../base/vocabulary/permissions.ts";
import type { AgentDefinition, HookDefinition, ScheduleSuspension } from "./ports.ts";

/** An agent as clients see it. */
export function describeAgent(
  definition: AgentDefinition,
  now: {
    state: AgentState;
    reason: string | null;
    isEnabled: boolean;
    since: string;
    metrics: AgentMetrics;
    lastFailure?: AgentFailure | undefined;
    suspension?(hook: HookDefinition): ScheduleSuspension | null;
  },
): Agent {
  return {
    id: definition.id,
    name: definition.name,
    version: definition.version,
    state: now.state,
    ...(now.reason === null ? {} : { error: now.reason }),
    ...(now.isEnabled ? {} : { disabled: true }),
    ...(definition.awaiting === undefined ? {} : { awaiting: definition.awaiting }),
    ...(now.lastFailure === undefined ? {} : { last_failure: now.lastFailure }),
    ...(definition.problems === undefined ? {} : { problems: definition.problems.count }),
    ...(definition.problems === undefined ? {} : { first_problem: { ...definition.problems.first } }),
    since: now.since,
    hooks: definition.hooks.map((hook) => describeHook(hook, now.suspension?.(hook) ?? null)),
    tools: definition.tools.map((tool) => tool.name),
    ...(definition.mind === undefined ? {} : { mind: true as const }),
    permissions: permissionList(definition.authority),
    locations: [...definition.authority.locations],
    metrics: now.metrics,
  };
}

/** How an agent is, as other agents may see it: no text of its own, and nothing that takes time to work out. */
export interface AgentHealth extends Pick<Agent, "id" | "state" | "since" | "disabled" | "awaiting"> {
  /** Its last handler, job or tool failed, and none has succeeded since. */
  readonly failing?: true;
  readonly suspended_schedules: number;
  /** Counts since the kernel started. */
  readonly events_failed: number;
  readonly jobs_failed: number;
}

export function healthOf(
  { id, hooks, awaiting }: AgentDefinition,
  now: {
    readonly state: AgentState;
    readonly since: string;
    readonly isEnabled: boolean;
    readonly isFailing: boolean;
    readonly failed: { readonly events: number; readonly jobs: number };
    suspension(hook: HookDefinition): ScheduleSuspension | null;
  },
): AgentHealth {
  return {
    id,
    state: now.state,
    since: now.since,
    ...(now.isEnabled ? {} : { disabled: true }),
    ...(awaiting === undefined ? {} : { awaiting }),
    ...(now.isFailing ? { failing: true } : {}),
    suspended_schedules: hooks.filter((hook) => now.suspension(hook) !== null).length,
    events_failed: now.failed.events,
    jobs_failed: now.failed.jobs,
  };
}

function describeHook(hook: HookDefinition, suspended: ScheduleSuspension | null): Agent["hooks"][number] {
  const nextRun = suspended === null ? (hook.nextRun?.() ?? null) : null;
  return {
    handler: hook.handler,
    ...(hook.on === undefined ? {} : { on: hook.on }),
    ...(hook.filter === undefined ? {} : { filter: hook.filter }),
    ...(hook.schedule === undefined ? {} : { schedule: hook.schedule }),
    ...(nextRun === null ? {} : { nextRun }),
    ...(hook.missingCapability === undefined ? {} : { missing_capability: hook.missingCapability }),
    ...(suspended === null ? {} : { suspended: { ...suspended } }),
  };
}

/** The names of its permissions, as clients and guests see them. */
function permissionList(authority: Authority): string[] {
  return permissionNames.filter((name) => {
    const value = authority.effective[name];
    return value !== undefined && value !== false;
  });
}

/**
 * Returns the consequences of a changed definition. If the new program cannot be prepared, the loaded one
 * continues to run (`keep`): it was accepted.
 */
export function followUp(
  before: AgentDefinition,
  after: AgentDefinition,
  isLoaded: boolean,
): "break" | "keep" | "reload" | "tell" | "nothing" {
  if (after.fault !== undefined) return isLoaded && after.problems?.isUnusable !== true ? "keep" : "break";
  if (needsNewGuest(before, after)) return "reload";
  return hasSameAuthority(before, after) ? "nothing" : "tell";
}

/** True if the running guest cannot apply the change. */
function needsNewGuest(before: AgentDefinition, after: AgentDefinition): boolean {
  return (
    before.fault !== after.fault || JSON.stringify(programOf(before)) !== JSON.stringify(programOf(after))
  );
}

function programOf({
  body,
  bundleDigest,
  version,
  config,
  limits,
  memory,
  types = [],
}: AgentDefinition): unknown[] {
  return [body, bundleDigest, version, config, limits, memory, types];
}

function hasSameAuthority(before: AgentDefinition, after: AgentDefinition): boolean {
  const authorityOf = ({ authority, models = [] }: AgentDefinition): unknown[] => [
    authority.effective,
    authority.denied,
    authority.locations,
    models,
  ];
  return JSON.stringify(authorityOf(before)) === JSON.stringify(authorityOf(after));
}
