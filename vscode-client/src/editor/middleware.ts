import { commands, workspace, type DocumentSymbol, type SymbolInformation, type TextDocument } from "vscode";
import type { Middleware } from "vscode-languageclient/node";
import { idOfControl, isAgentCommand } from "../commands/agents.ts";
import { inert } from "../model/text.ts";
import { mayBeProgram, programRenames } from "./program-renames.ts";

/**
 * The kernel's own documents. For all other files the kernel is asked only about actions that would change them, and
 * for programs about the names of handlers.
 */
const ownNames = /^(lares|extension)\.(ya?ml|toml)$/;

function isOwn({ uri }: Pick<TextDocument, "uri">): boolean {
  return ownNames.test(uri.path.slice(uri.path.lastIndexOf("/") + 1));
}

/** The Agents view shows the state of agents; lenses above each extension and hook would repeat it. */
const agentLensesSetting = "documents.agentLenses";

function isAboutAgent(command: string | undefined): boolean {
  return command?.startsWith("lares.agent.") ?? false;
}

/**
 * Redirects the kernel's commands to those of this client, which ask, report and check for unsaved changes in the
 * editor's way. Keeps requests about other documents away from the kernel while somebody types.
 */
export const middleware: Middleware = {
  executeCommand: (command, values: unknown[], next) => {
    const [given] = values;
    const own = clientCommandOf(command, given);
    return own === undefined ? next(command, values) : commands.executeCommand(own, given);
  },
  provideCodeLenses: async (document, token, next) => {
    const all = await next(document, token);
    // This client has its own lenses for waiting actions (`changes/lenses.ts`), which know the part that is in this
    // file.
    const lenses = all?.filter(({ command }) => command?.command.startsWith("lares.action.") !== true);
    const showsAgents = workspace.getConfiguration("lares").get(agentLensesSetting, false);
    const shown = showsAgents ? lenses : lenses?.filter(({ command }) => !isAboutAgent(command?.command));
    // The kernel's lenses contain text of agents.
    for (const { command } of shown ?? []) if (command !== undefined) command.title = inert(command.title);
    return shown;
  },
  provideCompletionItem: (document, position, context, token, next) =>
    isOwn(document) ? next(document, position, context, token) : undefined,
  provideHover: (document, position, token, next) =>
    isOwn(document) ? next(document, position, token) : undefined,
  provideDefinition: (document, position, token, next) =>
    isOwn(document) ? next(document, position, token) : undefined,
  provideDocumentSymbols: async (document, token, next) => {
    if (!isOwn(document)) return undefined;
    const symbols = await next(document, token);
    // "Go to Symbol" draws icons in names, and documents choose the names of their agents.
    for (const symbol of symbols ?? []) makeInert(symbol);
    return symbols;
  },
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

function makeInert(symbol: SymbolInformation | DocumentSymbol): void {
  symbol.name = inert(symbol.name);
  if (!("children" in symbol)) return;
  symbol.detail = inert(symbol.detail);
  for (const child of symbol.children) makeInert(child);
}

/** Returns the command of this client that corresponds to a command of the kernel; undefined if there is none. */
export function clientCommandOf(command: string, given: unknown): string | undefined {
  switch (command) {
    case "lares.action.approve":
      return "lares.approve";
    case "lares.action.reject":
      return "lares.reject";
    case "lares.action.undo":
      return "lares.undo";
    case "lares.action.rebase":
      return "lares.rebase";
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
