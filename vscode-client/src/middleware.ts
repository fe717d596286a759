import { commands, workspace, type TextDocument } from "vscode";
import type { Middleware } from "vscode-languageclient/node";
import { withoutIcons } from "../../kernel/src/base/plain-text.ts";
import { idOfControl, isAgentCommand } from "./commands/agents.ts";
import { mayBeProgram, programRenames } from "./program-renames.ts";

/**
 * Documents of the kernel's own. For all other files it is asked only about actions that would change them, and for
 * programs about the names of handlers.
 */
const ownNames = /^(lares|extension)\.(ya?ml|toml)$/;

function isOwn({ uri }: Pick<TextDocument, "uri">): boolean {
  return ownNames.test(uri.path.slice(uri.path.lastIndexOf("/") + 1));
}

/** The Agents view shows how agents are; above each extension and each hook it would be said again. */
const agentLensesSetting = "documents.agentLenses";

function isAboutAgent(command: string | undefined): boolean {
  return command?.startsWith("lares.agent.") ?? false;
}

/**
 * The kernel's commands are this client's own, which ask, tell and look for unsaved changes in the editor's way;
 * and what is no document of the kernel's is none of its business while somebody types.
 */
export const middleware: Middleware = {
  executeCommand: (command, values: unknown[], next) => {
    const [given] = values;
    const own = clientCommandOf(command, given);
    return own === undefined ? next(command, values) : commands.executeCommand(own, given);
  },
  provideCodeLenses: async (document, token, next) => {
    const all = await next(document, token);
    // Waiting actions have lenses of this client's own (`changes/lenses.ts`), which know the part that is in this file.
    const lenses = all?.filter(({ command }) => command?.command.startsWith("lares.action.") !== true);
    const showsAgents = workspace.getConfiguration("lares").get(agentLensesSetting, false);
    const shown = showsAgents ? lenses : lenses?.filter(({ command }) => !isAboutAgent(command?.command));
    // The kernel's lenses carry what agents say.
    for (const { command } of shown ?? [])
      if (command !== undefined) command.title = withoutIcons(command.title);
    return shown;
  },
  provideCompletionItem: (document, position, context, token, next) =>
    isOwn(document) ? next(document, position, context, token) : undefined,
  provideHover: (document, position, token, next) =>
    isOwn(document) ? next(document, position, token) : undefined,
  provideDefinition: (document, position, token, next) =>
    isOwn(document) ? next(document, position, token) : undefined,
  provideDocumentSymbols: (document, token, next) => (isOwn(document) ? next(document, token) : undefined),
  prepareRename: (document, position, token, next) => {
    if (isOwn(document)) return next(document, position, token);
    return mayBeProgram(document) ? programRenames.prepareRename(document, position, token, next) : undefined;
  },
  provideRenameEdits: (document, position, newName, token, next) => {
    if (isOwn(document)) return next(document, position, newName, token);
    return mayBeProgram(document)
      ? programRenames.provideRenameEdits(document, position, newName, token, next)
      : undefined;
  },
  provideInlayHints: (document, range, token, next) =>
    isOwn(document) ? next(document, range, token) : undefined,
};

/** Which command of this client does what a command of the kernel does; undefined where none does. */
export function clientCommandOf(command: string, given: unknown): string | undefined {
  switch (command) {
    case "lares.action.approve":
      return "lares.approve";
    case "lares.action.reject":
      return "lares.reject";
    case "lares.action.undo":
      return "lares.undo";
    case "lares.action.show":
      return "lares.showChanges";
    case "lares.agent.traces":
      return "lares.agentShowTraces";
    case "lares.agent.control": {
      const wish = typeof given === "object" && given !== null && "command" in given ? given.command : null;
      return isAgentCommand(wish) ? idOfControl(wish) : undefined;
    }
    default:
      return undefined;
  }
}
