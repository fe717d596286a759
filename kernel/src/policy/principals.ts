import { maxChainAgents, type Actor } from "../base/vocabulary/principal.ts";

/**
 * Returns the agent whose authority bounds what the actor may do and cause. Null for a person and for the kernel itself,
 * whom no agent's permissions bound: what either asks of an agent is bounded by that agent's own.
 */
export function boundingAgent(actor: Actor): string | null {
  switch (actor.kind) {
    case "person":
    case "kernel":
      return null;
    case "agent":
      return actor.id;
    // Neither has more than the agent that it belongs to.
    case "process":
    case "schedule":
      return actor.agent;
  }
}

/** Returns the agents whose calls led to what `agent` did, the outermost first. */
export function callersOf(agent: string, onBehalfOf: readonly Actor[]): string[] {
  return boundingAgents(agent, onBehalfOf)
    .slice(0, maxChainAgents - 1)
    .toReversed();
}

/** Returns the agents whose authority bounds what `agent` does on behalf of these, besides its own; each once. */
export function boundingAgents(agent: string | null, onBehalfOf: readonly Actor[]): string[] {
  // Asked for each request of each guest, and the list is short.
  const bounding: string[] = [];
  for (const actor of onBehalfOf) {
    const other = boundingAgent(actor);
    if (other !== null && other !== agent && !bounding.includes(other)) bounding.push(other);
  }
  return bounding;
}
