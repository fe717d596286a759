import { isJsonObject } from "../base/json.ts";
import type { NotificationMessage } from "../protocol/messages.ts";
import { positionEncodingOf } from "../protocol/v1/capabilities.ts";
import { OpenDocuments } from "./open-documents.ts";

/** Notifications of which only the last one counts. */
const latestOnly: ReadonlySet<string> = new Set(["workspace/didChangeConfiguration", "$/setTrace"]);

/** What a client has said so far, as far as the next kernel must be told it again. */
export class Session {
  readonly #initializeParams: Readonly<Record<string, unknown>>;
  readonly #documents: OpenDocuments;
  readonly #latest = new Map<string, NotificationMessage>();
  #isInitialized = false;
  /** What to say about trust: as the client did at first, until a kernel has taken that in. */
  #trusted: boolean | undefined;

  constructor(initializeParams: unknown) {
    this.#initializeParams = isJsonObject(initializeParams) ? initializeParams : {};
    this.#documents = new OpenDocuments(positionEncodingOf(this.#initializeParams));
    const trusted = this.#laresOptions()["trusted"];
    this.#trusted = typeof trusted === "boolean" ? trusted : undefined;
  }

  /** Takes in a notification of the client's. */
  hear(message: NotificationMessage): void {
    if (message.method === "initialized") this.#isInitialized = true;
    else if (latestOnly.has(message.method)) this.#latest.set(message.method, message);
    else if (message.method.startsWith("textDocument/did"))
      this.#documents.hear(message.method, message.params);
  }

  /**
   * A kernel has answered `initialize`, so what a person accepted by it is written down. Saying `trusted: true`
   * to the next kernel would accept the documents as they are then, which nobody has seen.
   */
  acceptedByKernel(): void {
    if (this.#trusted === true) this.#trusted = undefined;
  }

  /** `lares/trust` was answered. An acceptance is remembered by the kernel; a refusal is this connection's. */
  trustChanged(trusted: boolean): void {
    this.#trusted = trusted ? undefined : false;
  }

  /** Params of `initialize` for a kernel. */
  initializeParams(): Record<string, unknown> {
    const { trusted: _trusted, ...lares } = this.#laresOptions();
    const options = this.#initializeParams["initializationOptions"];
    return {
      ...this.#initializeParams,
      // The front watches the client's process; the kernel serves others, too.
      processId: null,
      initializationOptions: {
        ...(isJsonObject(options) ? options : {}),
        lares: this.#trusted === undefined ? lares : { ...lares, trusted: this.#trusted },
      },
    };
  }

  /** What follows `initialize`, in order. */
  replay(): NotificationMessage[] {
    const initialized: NotificationMessage[] = this.#isInitialized
      ? [{ jsonrpc: "2.0", method: "initialized", params: {} }]
      : [];
    return [...initialized, ...this.#latest.values(), ...this.#documents.replay()];
  }

  #laresOptions(): Record<string, unknown> {
    const options = this.#initializeParams["initializationOptions"];
    return isJsonObject(options) && isJsonObject(options["lares"]) ? options["lares"] : {};
  }
}
