import type { AgentDefinition, HookDefinition } from "../base/vocabulary/agent-definition.ts";
import type { LaresEvent } from "../base/vocabulary/event.ts";
import type { Foreign } from "../base/vocabulary/foreign.ts";
import type { InterceptedEvent } from "../base/vocabulary/mind-events.ts";
import type { ProcessPrincipal } from "../base/vocabulary/principal.ts";
import { mayIntercept } from "../policy/hearing.ts";

/** An agent that may have hooks with `intercept: true`. */
export interface InterceptingAgent {
  readonly definition: AgentDefinition;
  /**
   * Rejects if the handler throws, or if the agent cannot be asked or does not answer in time. Before that, `hear`
   * receives the texts that nobody vouches for and that the agent has read.
   */
  intercept(
    handler: string,
    event: LaresEvent,
    principal: ProcessPrincipal,
    hear: (foreign: Foreign) => void,
  ): Promise<unknown>;
  trace(level: "info" | "warn", message: string, fields?: Record<string, unknown>): void;
}

/** A hook that is asked. */
export interface Interceptor {
  readonly agent: InterceptingAgent;
  readonly hook: HookDefinition;
}

const none: ReadonlyMap<string, readonly HookDefinition[]> = new Map();
/** A changed definition is another object. */
const hooksOf = new WeakMap<AgentDefinition, ReadonlyMap<string, readonly HookDefinition[]>>();

/**
 * Returns the hooks that are asked about an event of a mind, lower orders first, then by their agents' ids and in the
 * order of the manifest. Null if there are none, which costs a lookup for each agent and no memory.
 */
export function interceptorsOf(
  agents: Iterable<InterceptingAgent>,
  event: InterceptedEvent,
  mind: string,
): readonly Interceptor[] | null {
  let found: Interceptor[] | null = null;
  for (const agent of agents) {
    const hooks = interceptingHooks(agent.definition).get(event);
    if (hooks === undefined || !mayIntercept(agent.definition.authority, mind)) continue;
    found ??= [];
    for (const hook of hooks) found.push({ agent, hook });
  }
  return found === null ? null : found.toSorted(byOrder);
}

function interceptingHooks(definition: AgentDefinition): ReadonlyMap<string, readonly HookDefinition[]> {
  const known = hooksOf.get(definition);
  if (known !== undefined) return known;
  const intercepting = definition.hooks.filter(
    ({ intercept, on }) => intercept !== undefined && on !== undefined,
  );
  const hooks = intercepting.length === 0 ? none : Map.groupBy(intercepting, ({ on = "" }) => on);
  hooksOf.set(definition, hooks);
  return hooks;
}

function byOrder(one: Interceptor, other: Interceptor): number {
  const order = (one.hook.intercept?.order ?? 0) - (other.hook.intercept?.order ?? 0);
  if (order !== 0) return order;
  const [first, second] = [one.agent.definition.id, other.agent.definition.id];
  return first < second ? -1 : first > second ? 1 : 0;
}
