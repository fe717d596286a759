import {
  faultCodes,
  isNotification,
  isRequest,
  type RequestMessage,
  type ResponseMessage,
  type RpcMessage,
} from "../protocol/messages.ts";

interface GatePorts {
  /** Answers at once; nothing slow may stand behind it. */
  answer(message: ResponseMessage): void;
  /** What `initialize` is answered with. */
  readonly initializeResult: (params: unknown) => object;
  /** `initialize` was answered; called once, before anything is passed on. */
  initialized(params: unknown): void;
  /** Everything else of a session that is open. */
  pass(message: RpcMessage, body: Uint8Array): void;
  /** The client said `exit`. `code`: 0 when it had said `shutdown` before. */
  exit(code: 0 | 1): void;
}

/** The life of a session as the LSP orders it: initialize, …, shutdown, exit. */
export class ClientGate {
  readonly #ports: GatePorts;
  #state: "new" | "open" | "shutdown" = "new";

  constructor(ports: GatePorts) {
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
      refuse(faultCodes.invalidRequest, `${method} came after shutdown; only exit may follow.`);
    else if (this.#state === "new") {
      if (method !== "initialize") {
        refuse(
          faultCodes.serverNotInitialized,
          `${method} came before initialize, which must be the first request.`,
        );
        return;
      }
      this.#state = "open";
      this.#ports.answer({ jsonrpc: "2.0", id, result: this.#ports.initializeResult(message.params) });
      this.#ports.initialized(message.params);
    } else if (method === "initialize")
      refuse(faultCodes.invalidRequest, "initialize came a second time; a session has one.");
    else if (method === "shutdown") {
      this.#state = "shutdown";
      this.#ports.answer({ jsonrpc: "2.0", id, result: null });
    } else this.#ports.pass(message, body);
  }
}
