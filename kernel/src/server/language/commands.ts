import { invalidParams } from "../../base/errors.ts";
import { isJsonObject } from "../../base/json.ts";
import type { CommandName } from "../../protocol/v1/capabilities.ts";
import type { StandardHandlers } from "../session/standard-requests.ts";
import { actionCommands } from "./action-commands.ts";
import { agentCommands } from "./agent-commands.ts";
import type { Command } from "./command.ts";
import type { ShownChanges } from "./shown-changes.ts";

/** `workspace/executeCommand`: the commands of lenses and code actions, for any editor. */
export function commandHandlers(shown: ShownChanges): StandardHandlers {
  const commands: Record<CommandName, Command> = {
    ...agentCommands,
    ...actionCommands(shown),
  };
  return {
    "workspace/executeCommand": (params, session, signal) => {
      const { command: name, arguments: given } = isJsonObject(params) ? params : {};
      if (typeof name !== "string" || !Object.hasOwn(commands, name))
        throw invalidParams(`There is no command "${String(name).slice(0, 200)}".`);
      return commands[name as CommandName](Array.isArray(given) ? given[0] : undefined, session, signal);
    },
  };
}
