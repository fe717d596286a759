import type { CancellationToken, LogOutputChannel } from "vscode";
import {
  CloseAction,
  ErrorAction,
  LanguageClient,
  type LanguageClientOptions,
  type Middleware,
  ResponseError,
  type StaticFeature,
} from "vscode-languageclient/node";
import type { EditorModels } from "../editor/language-models.ts";
import type { GenerateParams } from "../protocol.ts";
import type { Streams } from "./kernel-process.ts";
import { withoutSecrets } from "./unlogged.ts";

/** What a language client is created from. */
export interface ClientParts {
  streams(): Promise<Streams>;
  /** `initializationOptions.lares`, read at the start. */
  sessionOptions(): object;
  readonly middleware: Middleware;
  /** What answers the kernel's `lares/models/generate`. */
  readonly models: EditorModels;
  readonly log: LogOutputChannel;
  /** Called when the process closed its side. */
  closed(): Promise<void>;
}

/**
 * Returns VS Code's own LSP client on the pipes of a process. It is by far the largest part of this extension, and
 * nothing else needs it, so `extension.ts` loads it while the process starts.
 */
export function languageClient({ streams, ...parts }: ClientParts): LanguageClient {
  const client = new QuietClient("lares", "Lares", streams, optionsOf(parts));
  if (parts.models.isOffered) offerModels(client, parts.models);
  return client;
}

/** The number of the protocol's ModelError. */
const modelErrorCode = -33_016;

function offerModels(client: LanguageClient, models: EditorModels): void {
  const offered: StaticFeature = {
    fillClientCapabilities: (capabilities) => {
      capabilities.experimental = {
        ...(capabilities.experimental as object | undefined),
        lares: { languageModels: true },
      };
    },
    initialize: () => undefined,
    getState: () => ({ kind: "static" }),
    clear: () => undefined,
  };
  client.registerFeature(offered);
  client.onRequest("lares/models/offered", () => models.list());
  client.onRequest("lares/models/generate", async (params: GenerateParams, token: CancellationToken) => {
    try {
      const say = (value: object): void =>
        void client.sendNotification("$/progress", { token: params.partialResultToken, value });
      return await models.generate(params, say, token);
    } catch (error) {
      // By its field: this file is bundled apart, with classes of its own.
      const { class: failure, message } = error as { readonly class?: unknown; readonly message?: unknown };
      if (typeof failure !== "string") throw error;
      throw new ResponseError(modelErrorCode, String(message), { code: "ModelError", class: failure });
    }
  });
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
}: Omit<ClientParts, "streams" | "models">): LanguageClientOptions {
  return {
    // Every file: the kernel must know which files have unsaved changes, so that it does not write beneath an open
    // editor.
    documentSelector: [{ scheme: "file" }],
    diagnosticCollectionName: "lares",
    outputChannel: log,
    traceOutputChannel: withoutSecrets(log),
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
