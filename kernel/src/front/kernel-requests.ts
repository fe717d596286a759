import { isJsonObject } from "../base/json.ts";
import type {
  MessageId,
  NotificationMessage,
  RequestMessage,
  ResponseMessage,
  RpcMessage,
} from "../protocol/messages.ts";

/**
 * Tracks a kernel's open requests to the client and its open progress. Requests get ids of the front, so that a late
 * answer cannot reach the next kernel; progress is ended for the client when the kernel is lost.
 */
export class KernelRequests {
  readonly #kernelIdOf = new Map<MessageId, MessageId>();
  readonly #progressTokens = new Set<MessageId>();
  #lastNumber = 0;

  /** Returns a kernel's request in the form that the client gets. */
  outgoing(message: RequestMessage): RequestMessage {
    const id = `kernel-${++this.#lastNumber}`;
    this.#kernelIdOf.set(id, message.id);
    return { ...message, id };
  }

  /** Returns a client's answer in the form that the kernel gets; null if that kernel is gone. */
  answered(message: ResponseMessage): ResponseMessage | null {
    const id = message.id === null ? undefined : this.#kernelIdOf.get(message.id);
    if (id === undefined || message.id === null) return null;
    this.#kernelIdOf.delete(message.id);
    return { ...message, id };
  }

  /** Returns a kernel's `$/cancelRequest` in the form that the client gets; null if there is nothing to cancel. */
  cancelled(params: unknown): RpcMessage | null {
    const kernelId = isJsonObject(params) ? params["id"] : undefined;
    for (const [id, known] of this.#kernelIdOf) if (known === kernelId) return cancelRequest(id);
    return null;
  }

  /** Records a `$/progress` that begins or ends. */
  progress(params: unknown): void {
    if (!isJsonObject(params) || !isJsonObject(params["value"])) return;
    const token = params["token"];
    if (typeof token !== "string" && typeof token !== "number") return;
    if (params["value"]["kind"] === "begin") this.#progressTokens.add(token);
    if (params["value"]["kind"] === "end") this.#progressTokens.delete(token);
  }

  /** Returns the messages that cancel the lost kernel's questions and end its progress at the client. */
  kernelLost(): NotificationMessage[] {
    const cancelled = [...this.#kernelIdOf.keys()].map(cancelRequest);
    const ended = [...this.#progressTokens].map((token): NotificationMessage => ({
      jsonrpc: "2.0",
      method: "$/progress",
      params: { token, value: { kind: "end" } },
    }));
    this.#kernelIdOf.clear();
    this.#progressTokens.clear();
    return [...cancelled, ...ended];
  }
}

function cancelRequest(id: MessageId): NotificationMessage {
  return { jsonrpc: "2.0", method: "$/cancelRequest", params: { id } };
}
