import type { Caller } from "../../../agents/ports.ts";
import type { Agent } from "../../../base/vocabulary/agent.ts";
import type { agentCalls } from "../../../protocol/guest/v1/agents.ts";
import type { GuestServices } from "../../../protocol/guest/v1/calls.ts";

export interface AgentPorts {
  /** Returns the agents as clients see them. */
  listAgents(): readonly Agent[];
}

/** The guest ABI's `agents/*`. */
export function agentServices({
  listAgents,
}: AgentPorts): Pick<GuestServices<Caller>, keyof typeof agentCalls> {
  return {
    "agents/list": async () => ({
      agents: listAgents()
        .map((agent) => ({
          id: agent.id,
          state: agent.state,
          since: agent.since,
          ...(agent.disabled === undefined ? {} : { disabled: agent.disabled }),
          ...(agent.awaiting === undefined ? {} : { awaiting: agent.awaiting }),
          ...(agent.last_failure === undefined ? {} : { failing: true as const }),
          suspended_schedules: agent.hooks.filter(({ suspended }) => suspended !== undefined).length,
          events_failed: agent.metrics.events_failed,
          jobs_failed: agent.metrics.jobs_failed,
        }))
        .toSorted((one, other) => (one.id < other.id ? -1 : 1)),
    }),
  };
}
