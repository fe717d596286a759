/**
 * What `initialize` is answered with. Without imports: the front answers from it before anything is loaded.
 */
export function initializeResult(version: string): object {
  return {
    serverInfo: { name: "lares", version },
    capabilities: {
      textDocumentSync: { openClose: true, change: incrementalSync, save: { includeText: false } },
      workspace: { workspaceFolders: { supported: true, changeNotifications: false } },
      experimental: { lares: { protocol: 1 } },
    },
  };
}

/** TextDocumentSyncKind.Incremental */
const incrementalSync = 2;
