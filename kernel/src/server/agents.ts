import type { Handlers } from "./handlers.ts";

/** `lares/agents/*`: the list of agents, and a person's commands to them. */
export const agentHandlers = {
  "lares/agents/list": async (_params, { client }) => client.open.agents.list(),
  "lares/agents/control": async ({ id, command, hook }, { client }) =>
    client.services.agents.control(client.principal, id, command, hook),
} satisfies Partial<Handlers>;
