import type { Handlers } from "./handlers.ts";
import type { KernelServices } from "./ports.ts";

/** `lares/agents/*`: which agents there are, and a person's commands to them. */
export function agentHandlers({ agents }: KernelServices): Handlers {
  return {
    "lares/agents/list": async () => agents.list(),
    "lares/agents/control": ({ id, command }) => agents.control(id, command),
  };
}
