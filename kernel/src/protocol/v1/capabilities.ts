/**
 * What `initialize` is answered with. Without imports: the front answers from it before anything is loaded.
 */
export function initializeResult(version: string, params: unknown): object {
  return {
    serverInfo: { name: "lares", version },
    capabilities: {
      positionEncoding: positionEncodingOf(params),
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

/**
 * Returns the encoding of positions for a client with these params of `initialize`: the first that it names of those that
 * Lares has, else UTF-16. Front and kernel ask this alike.
 */
export function positionEncodingOf(params: unknown): "utf-8" | "utf-16" {
  const { capabilities } = (params ?? {}) as { capabilities?: { general?: { positionEncodings?: unknown } } };
  const wanted: unknown = capabilities?.general?.positionEncodings;
  const names: readonly unknown[] = Array.isArray(wanted) ? wanted : [];
  return names.find((name) => name === "utf-8" || name === "utf-16") ?? "utf-16";
}

/** What `workspace/executeCommand` knows; their arguments are in `commands.ts`. */
const commandNames = [
  "lares.agent.control",
  "lares.agent.traces",
  "lares.action.approve",
  "lares.action.reject",
  "lares.action.undo",
  "lares.action.rebase",
  "lares.action.show",
] as const;
export type CommandName = (typeof commandNames)[number];

/** CodeActionKind of what is done about a proposed change. */
export const approvalActionKind = "lares.action";

/** TextDocumentSyncKind.Incremental */
const incrementalSync = 2;
