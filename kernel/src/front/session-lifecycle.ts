import {
  faultCodes,
  isNotification,
  isRequest,
  type RequestMessage,
  type ResponseMessage,
  type RpcMessage,
} from "../protocol/messages.ts";

interface LifecyclePorts {
  /** Must return quickly: the client is waiting. */
  answer(message: ResponseMessage): void;
  /** Returns the result of `initialize`. */
  readonly initializeResult: (params: unknown) => object;
  /** Called once after `initialize` was answered, before the first call of `pass`. */
  initialized(params: unknown): void;
  /** Receives every other message of an open session. */
  pass(message: RpcMessage, body: Uint8Array): void;
  /** Called for `exit`, with code 0 if the client sent `shutdown` before. */
  exit(code: 0 | 1): void;
}

/** Enforces the order of an LSP session: initialize, …, shutdown, exit. */
export class SessionLifecycle {
  readonly #ports: LifecyclePorts;
  #state: "new" | "open" | "shutdown" = "new";

  constructor(ports: LifecyclePorts) {
    this.#ports = ports;
  }

  message(message: RpcMessage, body: Uint8Array): void {
    if (isRequest(message)) this.#request(message, body);
    else if (isNotification(message) && message.method === "exit")
      this.#ports.exit(this.#state === "shutdown" ? 0 : 1);
    else if (this.#state !== "new") this.#ports.pass(message, body);
  }

  #request(message: RequestMessage, body: Uint8Array): void {
    const { id, method } = message;
    const refuse = (code: number, text: string): void =>
      this.#ports.answer({ jsonrpc: "2.0", id, error: { code, message: text } });
    if (this.#state === "shutdown")
      refuse(faultCodes.invalidRequest, `${method} was sent after shutdown. Send only exit.`);
    else if (this.#state === "new") {
      if (method !== "initialize") {
        refuse(
          faultCodes.serverNotInitialized,
          `${method} was sent before initialize. Send initialize first.`,
        );
        return;
      }
      this.#state = "open";
      this.#ports.answer({ jsonrpc: "2.0", id, result: this.#ports.initializeResult(message.params) });
      this.#ports.initialized(message.params);
    } else if (method === "initialize")
      refuse(faultCodes.invalidRequest, "initialize was sent twice. Start a new session instead.");
    else if (method === "shutdown") {
      this.#state = "shutdown";
      this.#ports.answer({ jsonrpc: "2.0", id, result: null });
    } else this.#ports.pass(message, body);
  }
}
