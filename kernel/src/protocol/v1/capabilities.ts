/** The answer to `initialize`. Without imports: the front answers from it before anything is loaded. */
export function initializeResult(version: string, params: unknown): object {
  return {
    serverInfo: { name: "lares", version },
    capabilities: {
      positionEncoding: positionEncodingOf(params),
      textDocumentSync: { openClose: true, change: incrementalSync, save: { includeText: false } },
      workspace: { workspaceFolders: { supported: true, changeNotifications: false } },
      // Characters after which completions are useful: for a field, a value, a word of a filter, the next folder
      // of a path.
      completionProvider: { triggerCharacters: [".", ":", "=", " ", '"', "'", "[", "/"] },
      hoverProvider: true,
      inlayHintProvider: true,
      codeLensProvider: { resolveProvider: false },
      codeActionProvider: { codeActionKinds: ["quickfix", approvalActionKind, chatActionKind] },
      documentSymbolProvider: true,
      definitionProvider: true,
      renameProvider: { prepareProvider: true },
      executeCommandProvider: { commands: commandNames },
      experimental: { lares: { protocol: 1 } },
    },
  };
}

/**
 * Returns the position encoding for a client with these params of `initialize`: the first supported one in its
 * list, else UTF-16. Used by both front and kernel.
 */
export function positionEncodingOf(params: unknown): "utf-8" | "utf-16" {
  const { capabilities } = (params ?? {}) as { capabilities?: { general?: { positionEncodings?: unknown } } };
  const wanted: unknown = capabilities?.general?.positionEncodings;
  const names: readonly unknown[] = Array.isArray(wanted) ? wanted : [];
  return names.find((name) => name === "utf-8" || name === "utf-16") ?? "utf-16";
}

/** The commands of `workspace/executeCommand`; their arguments are in `commands.ts`. */
const commandNames = [
  "lares.agent.control",
  "lares.agent.traces",
  "lares.action.approve",
  "lares.action.reject",
  "lares.action.undo",
  "lares.action.rebase",
  "lares.action.show",
  "lares.chat.send",
  "lares.chat.stop",
  "lares.chat.write",
  "lares.chat.begin",
] as const;
export type CommandName = (typeof commandNames)[number];

/** The CodeActionKind for answers to a proposed change. */
export const approvalActionKind = "lares.action";

/** The CodeActionKind for messages and answers of a chat file. */
export const chatActionKind = "lares.chat";

/** TextDocumentSyncKind.Incremental */
const incrementalSync = 2;
