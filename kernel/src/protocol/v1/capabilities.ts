/**
 * What `initialize` is answered with. Without imports: the front answers from it before anything is loaded.
 */
export function initializeResult(version: string): object {
  return {
    serverInfo: { name: "lares", version },
    capabilities: {
      textDocumentSync: { openClose: true, change: incrementalSync, save: { includeText: false } },
      workspace: { workspaceFolders: { supported: true, changeNotifications: false } },
      // What follows these is worth a look: a field, a value, a word of a filter, the next folder of a path.
      completionProvider: { triggerCharacters: [".", ":", "=", " ", '"', "'", "[", "/"] },
      hoverProvider: true,
      inlayHintProvider: true,
      codeLensProvider: { resolveProvider: false },
      codeActionProvider: { codeActionKinds: ["quickfix", approvalActionKind] },
      documentSymbolProvider: true,
      definitionProvider: true,
      renameProvider: { prepareProvider: true },
      executeCommandProvider: { commands: commandNames },
      experimental: { lares: { protocol: 1 } },
    },
  };
}

/** What `workspace/executeCommand` knows; their arguments are in `commands.ts`. */
export const commandNames = [
  "lares.agent.control",
  "lares.agent.traces",
  "lares.action.approve",
  "lares.action.reject",
  "lares.action.undo",
  "lares.action.show",
] as const;
export type CommandName = (typeof commandNames)[number];

/** CodeActionKind of what is done about a proposed change. */
export const approvalActionKind = "lares.action";

/** TextDocumentSyncKind.Incremental */
const incrementalSync = 2;
