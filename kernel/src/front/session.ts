import { isJsonObject } from "../base/json.ts";
import type { NotificationMessage } from "../protocol/messages.ts";
import { positionEncodingOf } from "../protocol/v1/capabilities.ts";
import { OpenDocuments } from "./open-documents.ts";

/** Notifications of which only the last one is replayed. */
const latestOnly: ReadonlySet<string> = new Set(["workspace/didChangeConfiguration", "$/setTrace"]);

/** The state of a client's session that the next kernel has to receive. */
export class Session {
  readonly #initializeParams: Readonly<Record<string, unknown>>;
  readonly #documents: OpenDocuments;
  readonly #latest = new Map<string, NotificationMessage>();
  #isInitialized = false;
  /** The trust value to send: the client's own, until a kernel has accepted it. */
  #trusted: boolean | undefined;

  constructor(initializeParams: unknown) {
    this.#initializeParams = isJsonObject(initializeParams) ? initializeParams : {};
    this.#documents = new OpenDocuments(positionEncodingOf(this.#initializeParams));
    const trusted = this.#laresOptions()["trusted"];
    this.#trusted = typeof trusted === "boolean" ? trusted : undefined;
  }

  /** Records a notification of the client. */
  record(message: NotificationMessage): void {
    if (message.method === "initialized") this.#isInitialized = true;
    else if (latestOnly.has(message.method)) this.#latest.set(message.method, message);
    else if (message.method.startsWith("textDocument/did"))
      this.#documents.record(message.method, message.params);
  }

  /**
   * Called once a kernel has answered `initialize`; it has then stored what the person accepted. Sending `trusted:
   * true` to the next kernel would accept later documents, which nobody has seen.
   */
  acceptedByKernel(): void {
    if (this.#trusted === true) this.#trusted = undefined;
  }

  /**
   * Called once `lares/trust` was answered. The kernel stores an acceptance; a refusal applies to this connection
   * only.
   */
  trustChanged(trusted: boolean): void {
    this.#trusted = trusted ? undefined : false;
  }

  /** Returns the params of `initialize` for a kernel. */
  initializeParams(): Record<string, unknown> {
    const { trusted: _trusted, ...lares } = this.#laresOptions();
    const options = this.#initializeParams["initializationOptions"];
    return {
      ...this.#initializeParams,
      // The front watches the client's process; the kernel also serves other clients.
      processId: null,
      initializationOptions: {
        ...(isJsonObject(options) ? options : {}),
        lares: this.#trusted === undefined ? lares : { ...lares, trusted: this.#trusted },
      },
    };
  }

  /** Called when a kernel that had received the session has ended. */
  kernelLost(): void {
    this.#documents.kernelLost();
  }

  /** Returns the notifications that follow `initialize`, in order. */
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
