import type { Handlers } from "./handlers.ts";

/** `lares/commands/*`: what agents offer a person by a name. */
export const agentCommandHandlers = {
  "lares/commands/list": async (_params, { client }) => client.services.commands.list(),
  "lares/commands/run": async ({ agent, name, arguments: args }, { client }, signal) =>
    client.services.commands.run(client.principal, agent, name, args, signal),
} satisfies Partial<Handlers>;
