import { invalidParams } from "../../base/errors.ts";
import { isJsonObject } from "../../base/json.ts";
import type { CommandName } from "../../protocol/v1/capabilities.ts";
import type { StandardHandlers } from "../session/standard-requests.ts";
import type { Command } from "./command.ts";

/** `workspace/executeCommand`: the commands of lenses and code actions, for any editor. */
export function commandHandlers(commands: Readonly<Record<CommandName, Command>>): StandardHandlers {
  return {
    "workspace/executeCommand": (params, session, signal) => {
      const { command: name, arguments: given } = isJsonObject(params) ? params : {};
      if (typeof name !== "string" || !Object.hasOwn(commands, name))
        throw invalidParams(`There is no command "${String(name).slice(0, 200)}".`);
      return commands[name as CommandName](Array.isArray(given) ? given[0] : undefined, session, signal);
    },
  };
}
