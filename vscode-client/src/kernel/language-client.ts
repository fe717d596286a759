import type { LogOutputChannel } from "vscode";
import {
  CloseAction,
  ErrorAction,
  LanguageClient,
  type LanguageClientOptions,
  type Middleware,
} from "vscode-languageclient/node";
import type { Streams } from "./kernel-process.ts";

/** What a language client is created from. */
export interface ClientParts {
  streams(): Promise<Streams>;
  /** `initializationOptions.lares`, read at the start. */
  sessionOptions(): object;
  readonly middleware: Middleware;
  readonly log: LogOutputChannel;
  /** Called when the process closed its side. */
  closed(): Promise<void>;
}

/**
 * Returns VS Code's own LSP client on the pipes of a process. It is by far the largest part of this extension, and
 * nothing else needs it, so `extension.ts` loads it while the process starts.
 */
export function languageClient({ streams, ...parts }: ClientParts): LanguageClient {
  return new QuietClient("lares", "Lares", streams, optionsOf(parts));
}

/** The library's notifications go to the log instead; the views show what a person needs. */
class QuietClient extends LanguageClient {
  override error(message: string, data?: unknown): void {
    super.error(message, data, false);
  }

  override warn(message: string, data?: unknown): void {
    super.warn(message, data, false);
  }
}

function optionsOf({
  log,
  middleware,
  sessionOptions,
  closed,
}: Omit<ClientParts, "streams">): LanguageClientOptions {
  return {
    // Every file: the kernel must know which files have unsaved changes, so that it does not write beneath an open
    // editor.
    documentSelector: [{ scheme: "file" }],
    diagnosticCollectionName: "lares",
    outputChannel: log,
    initializationOptions: () => ({ lares: sessionOptions() }),
    initializationFailedHandler: () => false,
    errorHandler: {
      // A broken pipe is followed by the end of the process.
      error: () => ({ action: ErrorAction.Continue, handled: true }),
      closed: async () => {
        await closed();
        return { action: CloseAction.DoNotRestart, handled: true, message: "The connection is closed." };
      },
    },
    middleware,
    markdown: { isTrusted: false, supportHtml: false },
  };
}
