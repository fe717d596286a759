import { isJsonObject } from "../base/json.ts";
import type { Log } from "../base/log.ts";
import {
  faultCodes,
  isNotification,
  isRequest,
  isResponse,
  type MessageId,
  type NotificationMessage,
  type RequestMessage,
  type ResponseMessage,
  type RpcMessage,
} from "../protocol/messages.ts";
import type { Delivery } from "../protocol/framing/frame-writer.ts";
import { deliveryOf } from "../protocol/v1/deliveries.ts";
import { KernelRequests } from "./kernel-requests.ts";
import { isReplayable, outcomeUnknown } from "./replayable.ts";
import type { Session } from "./session.ts";
import { isFollow, isFollowed, isUnfollow, Subscriptions, unfollowOf } from "./subscriptions.ts";

/** A message, or the bytes of a message that is passed on unchanged. */
export type Outgoing = RpcMessage | Uint8Array;

interface PendingRequest {
  readonly message: RequestMessage;
  readonly body: Uint8Array;
  /** The number of kernels that it was sent to. */
  attempts: number;
  isSent: boolean;
}

/** Maximum number of open requests of a client; further requests fail with Busy. */
const maxPendingRequests = 1000;
/** Maximum number of kernels that a request is sent to: if each of them ended, the request is the likely cause. */
const maxAttempts = 3;
const handshakeId = "lares-front-initialize";
const renewalPrefix = "lares-front-renew-";
const busyCode = -33010;

/**
 * Connects one client to one kernel after another. Remembers, answers, translates or repeats messages so that the
 * client does not notice a change of kernels.
 */
export class Relay {
  readonly #session: Session;
  readonly #toClient: (message: Outgoing, delivery?: Delivery) => void;
  readonly #log: Log;
  readonly #pending = new Map<MessageId, PendingRequest>();
  readonly #subscriptions = new Subscriptions();
  /** The requests that continue a subscription in the current kernel, by the client's id of it. */
  readonly #renewals = new Map<string, string>();
  readonly #kernelRequests = new KernelRequests();
  #toKernel: ((message: Outgoing) => void) | null = null;
  /** True once the kernel has answered `initialize` and received the session's state. */
  #isLive = false;
  #onRequestWaiting: () => void = () => {};

  constructor(session: Session, toClient: (message: Outgoing, delivery?: Delivery) => void, log: Log) {
    this.#session = session;
    this.#toClient = toClient;
    this.#log = log;
  }

  get isLive(): boolean {
    return this.#isLive;
  }

  /** Calls `listener` when a request arrives while no kernel is connected. */
  onRequestWaiting(listener: () => void): void {
    this.#onRequestWaiting = listener;
  }

  fromClient(message: RpcMessage, body: Uint8Array): void {
    if (isRequest(message)) this.#requestFromClient(message, body);
    else if (isResponse(message)) {
      const answer = this.#kernelRequests.answered(message);
      if (answer) this.#toKernel?.(answer);
    } else this.#notificationFromClient(message, body);
  }

  /** Sends the client's `initialize` to a new kernel. */
  kernelJoined(toKernel: (message: Outgoing) => void): void {
    this.#toKernel = toKernel;
    const params = this.#session.initializeParams();
    toKernel({ jsonrpc: "2.0", id: handshakeId, method: "initialize", params });
  }

  /** Handles the loss of the kernel, or its refusal of the session. */
  kernelLost(): void {
    this.#toKernel = null;
    this.#isLive = false;
    this.#session.kernelLost();
    this.#subscriptions.kernelLost();
    for (const message of this.#kernelRequests.kernelLost()) this.#toClient(message);
    for (const [id, request] of this.#pending) {
      if (!request.isSent) continue;
      const { method, params } = request.message;
      if (isReplayable(method, params) && request.attempts < maxAttempts) request.isSent = false;
      else this.#refuse(id, faultCodes.requestFailed, outcomeUnknown(method), { method });
    }
  }

  /** Fails all waiting requests with the reason. */
  failPending(reason: string): void {
    for (const id of this.#pending.keys()) this.#refuse(id, faultCodes.requestFailed, reason, {});
  }

  /** Returns false if the kernel refused the session; the reason is in the log. */
  fromKernel(message: RpcMessage, body: Uint8Array): boolean {
    if (isResponse(message)) return this.#answerFromKernel(message, body);
    if (isRequest(message)) this.#toClient(this.#kernelRequests.outgoing(message));
    else if (isNotification(message)) this.#notificationFromKernel(message, body);
    return true;
  }

  #requestFromClient(message: RequestMessage, body: Uint8Array): void {
    const { id } = message;
    if (this.#pending.has(id)) {
      this.#answer({
        jsonrpc: "2.0",
        id,
        error: {
          code: faultCodes.invalidRequest,
          message: `A request with the id ${JSON.stringify(id)} is still open.`,
        },
      });
      return;
    }
    if (this.#pending.size >= maxPendingRequests) {
      const text = `${maxPendingRequests} requests are open; wait for answers before sending more.`;
      this.#answer({
        jsonrpc: "2.0",
        id,
        error: { code: busyCode, message: text, data: { code: "Busy", limit: maxPendingRequests } },
      });
      return;
    }
    const pending: PendingRequest = { message, body, attempts: 0, isSent: false };
    this.#pending.set(id, pending);
    if (this.#isLive) this.#send(pending);
    else this.#onRequestWaiting();
  }

  #notificationFromClient(message: NotificationMessage, body: Uint8Array): void {
    this.#session.record(message);
    if (message.method === "$/cancelRequest") {
      const id = isJsonObject(message.params) ? message.params["id"] : undefined;
      const pending = typeof id === "string" || typeof id === "number" ? this.#pending.get(id) : undefined;
      if (pending && !pending.isSent)
        this.#refuse(pending.message.id, faultCodes.requestCancelled, "The request was cancelled.", {});
      if (!pending?.isSent) return;
    }
    // Session state that arrives while no kernel is connected is sent to the next kernel with the rest of the
    // session.
    if (this.#isLive) this.#toKernel?.(body);
  }

  #send(pending: PendingRequest): void {
    const { message, body } = pending;
    pending.isSent = true;
    pending.attempts++;
    if (!isUnfollow(message.method)) {
      this.#toKernel?.(body);
      return;
    }
    const clientId = isJsonObject(message.params) ? String(message.params["subscription"]) : "";
    const isRepeated = pending.attempts > 1;
    if (!this.#subscriptions.has(clientId) && !isRepeated) {
      this.#toKernel?.(body);
      return;
    }
    const subscription = this.#subscriptions.unfollowed(clientId);
    if (subscription === null) {
      this.#pending.delete(message.id);
      this.#answer({ jsonrpc: "2.0", id: message.id, result: null });
    } else this.#toKernel?.({ ...message, params: { subscription } });
  }

  #answerFromKernel(message: ResponseMessage, body: Uint8Array): boolean {
    const { id } = message;
    if (id === handshakeId) return this.#handshakeAnswered(message);
    if (typeof id === "string" && id.startsWith(renewalPrefix)) {
      this.#renewalAnswered(id, message);
      return true;
    }
    const pending = id === null ? undefined : this.#pending.get(id);
    if (id === null || !pending) {
      // The request was cancelled meanwhile, or the kernel refused a frame that the front made.
      if (message.error) this.#log.warn(`The kernel answered an unknown request: ${message.error.message}`);
      return true;
    }
    this.#pending.delete(id);
    const { method, params } = pending.message;
    const kernelId = isFollow(method) ? subscriptionIn(message.result) : null;
    if (kernelId !== null) {
      const subscription = this.#subscriptions.followed(method, params, kernelId, message.result);
      this.#answer({ jsonrpc: "2.0", id, result: { ...(message.result as object), subscription } });
      return true;
    }
    if (method === "lares/trust" && !message.error && isJsonObject(params))
      this.#session.trustChanged(params["trusted"] === true);
    this.#toClient(body);
    return true;
  }

  #renewalAnswered(id: string, { result, error }: ResponseMessage): void {
    const clientId = id.slice(renewalPrefix.length);
    const method = this.#renewals.get(clientId);
    this.#renewals.delete(clientId);
    if (error) this.#log.warn(`The next kernel does not continue a subscription: ${error.message}`);
    const subscription = subscriptionIn(result);
    if (subscription === null || method === undefined) return;
    if (this.#subscriptions.renewed(clientId, subscription)) return;
    // The client ended the subscription while it was being renewed.
    this.#toKernel?.({
      jsonrpc: "2.0",
      id: renewalPrefix,
      method: unfollowOf(method),
      params: { subscription },
    });
  }

  #handshakeAnswered({ error }: ResponseMessage): boolean {
    if (error) {
      this.#log.error(`The kernel refused the session: ${error.message}`);
      for (const id of this.#pending.keys())
        this.#refuse(id, error.code, error.message, isJsonObject(error.data) ? error.data : {});
      return false;
    }
    this.#session.acceptedByKernel();
    for (const message of this.#session.replay()) this.#toKernel?.(message);
    this.#renewals.clear();
    for (const { clientId, method, params } of this.#subscriptions.toRenew()) {
      this.#renewals.set(clientId, method);
      this.#toKernel?.({ jsonrpc: "2.0", id: renewalPrefix + clientId, method, params });
    }
    this.#isLive = true;
    for (const pending of this.#pending.values()) this.#send(pending);
    return true;
  }

  #notificationFromKernel(message: NotificationMessage, body: Uint8Array): void {
    const delivery = deliveryOf(message.method, message.params);
    if (isFollowed(message.method)) {
      const params = this.#subscriptions.translate(message.method, message.params);
      if (params !== null) this.#toClient({ ...message, params }, delivery);
    } else if (message.method === "$/cancelRequest") {
      const cancelled = this.#kernelRequests.cancelled(message.params);
      if (cancelled) this.#toClient(cancelled);
    } else {
      if (message.method === "$/progress") this.#kernelRequests.progress(message.params);
      this.#toClient(body, delivery);
    }
  }

  #refuse(id: MessageId, code: number, message: string, data: object): void {
    this.#pending.delete(id);
    this.#answer({ jsonrpc: "2.0", id, error: { code, message, data } });
  }

  #answer(message: ResponseMessage): void {
    this.#toClient(message);
  }
}

function subscriptionIn(result: unknown): string | null {
  const value = isJsonObject(result) ? result["subscription"] : undefined;
  return typeof value === "string" ? value : null;
}
