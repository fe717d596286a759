import { isJsonObject } from "../base/json.ts";
import type {
  MessageId,
  NotificationMessage,
  RequestMessage,
  ResponseMessage,
  RpcMessage,
} from "../protocol/messages.ts";

/**
 * What a kernel has open at the client: requests, under ids of the front's own so that a late answer never
 * reaches the next kernel, and progress, which is ended for the client when the kernel can no longer do it.
 */
export class KernelRequests {
  readonly #kernelIdOf = new Map<MessageId, MessageId>();
  readonly #progressTokens = new Set<MessageId>();
  #lastNumber = 0;

  /** A kernel's request as the client gets it. */
  outgoing(message: RequestMessage): RequestMessage {
    const id = `kernel-${++this.#lastNumber}`;
    this.#kernelIdOf.set(id, message.id);
    return { ...message, id };
  }

  /** A client's answer as the kernel gets it; null when that kernel is gone. */
  answered(message: ResponseMessage): ResponseMessage | null {
    const id = message.id === null ? undefined : this.#kernelIdOf.get(message.id);
    if (id === undefined || message.id === null) return null;
    this.#kernelIdOf.delete(message.id);
    return { ...message, id };
  }

  /** A kernel's `$/cancelRequest` as the client gets it; null when there is nothing to cancel. */
  cancelled(params: unknown): RpcMessage | null {
    const kernelId = isJsonObject(params) ? params["id"] : undefined;
    for (const [id, known] of this.#kernelIdOf) if (known === kernelId) return cancelRequest(id);
    return null;
  }

  /** Notes `$/progress` that begins or ends. */
  progress(params: unknown): void {
    if (!isJsonObject(params) || !isJsonObject(params["value"])) return;
    const token = params["token"];
    if (typeof token !== "string" && typeof token !== "number") return;
    if (params["value"]["kind"] === "begin") this.#progressTokens.add(token);
    if (params["value"]["kind"] === "end") this.#progressTokens.delete(token);
  }

  /** The kernel is gone: what the client is told so that nothing of it stays on the screen. */
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
