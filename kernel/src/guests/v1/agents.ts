import type { AgentHealth } from "../../agents/describe.ts";
import type { Caller } from "../../agents/ports.ts";
import type { agentCalls } from "../../protocol/guest/v1/agents.ts";
import type { GuestServices } from "../../protocol/guest/v1/calls.ts";

export interface AgentPorts {
  healthOfAgents(): readonly AgentHealth[];
}

/** The guest ABI's `agents/*`. */
export function agentServices({
  healthOfAgents,
}: AgentPorts): Pick<GuestServices<Caller>, keyof typeof agentCalls> {
  return {
    "agents/list": async () => ({
      agents: healthOfAgents().toSorted((one, other) => (one.id < other.id ? -1 : 1)),
    }),
  };
}
