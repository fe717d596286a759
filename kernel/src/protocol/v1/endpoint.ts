import {
  createMessageConnection,
  ResponseError,
  type CancellationToken,
  type MessageConnection,
} from "vscode-jsonrpc/node";
import { Emitter } from "../../base/emitter.ts";
import { isLaresError, LaresError, messageOf } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import { fromWireError, toWireError } from "../errors.ts";
import type { FrameWriter } from "../framing/frame-writer.ts";
import { clientFrameLimits, type FrameLimits, type QueueLimits } from "../framing/limits.ts";
import { createGuardedReader } from "../framing/message-reader.ts";
import { createGuardedWriter } from "../framing/message-writer.ts";
import type { ByteSink, ByteSource } from "../framing/streams.ts";
import { faultCodes } from "../messages.ts";
import { deliveryOf } from "./deliveries.ts";
import type { NotificationParamsOf, ServerNotification } from "./notifications.ts";
import {
  clientRequests,
  isClientRequest,
  type ClientRequest,
  type ParamsOf,
  type ResultOf,
} from "./requests.ts";

type RequestHandler = (params: unknown, signal: AbortSignal) => unknown;
type Answer<Value> = Value | Promise<Value>;

/** A JSON-RPC connection to one peer: the kernel's side of a session, or the command line's. */
export interface Endpoint extends Disposable {
  /** Answers one of the kernel's own requests. Params are validated before; a thrown error becomes a wire error. */
  onRequest<Method extends ClientRequest>(
    method: Method,
    handler: (params: ParamsOf<Method>, signal: AbortSignal) => Answer<ResultOf<Method>>,
  ): void;
  /** Answers a standard LSP request such as `initialize` or `textDocument/codeAction`. Params are not validated. */
  onStandardRequest(method: string, handler: RequestHandler): void;
  onNotification(method: string, handler: (params: unknown) => void): void;
  /** Runs before each request's handler; an error that it throws is the answer. */
  beforeRequest(check: (method: string) => void): void;
  /** Never throws; does nothing if the peer is gone. */
  notify<Method extends ServerNotification>(method: Method, params: NotificationParamsOf<Method>): void;
  notifyStandard(method: string, params: unknown): void;
  /**
   * Undefined: the request has no params. Rejects with a LaresError: the peer's own, or Busy if the connection
   * closes first.
   */
  request(method: string, params: unknown, signal?: AbortSignal): Promise<unknown>;
  /**
   * Emits the number of droppable notifications that were discarded because the peer did not read, once it reads
   * again.
   */
  readonly dropped: Emitter<number>;
  /** Resolves once the connection is closed in both directions. */
  readonly closed: Promise<void>;
  /** Starts reading. Register handlers before. */
  listen(): void;
  /** Sends queued messages, then closes. */
  end(): void;
}

export interface EndpointOptions {
  readonly source: ByteSource;
  readonly sink: ByteSink;
  readonly log: Log;
  readonly frameLimits?: FrameLimits;
  readonly queueLimits?: QueueLimits;
  readonly maxOpenRequests?: number;
}

/** Maximum number of a peer's open requests; further ones are answered with Busy. */
const maxOpenRequests = 1000;

/** Time that a peer has to read the remaining messages after its stream ended or became unreadable. */
const farewellMs = 1_000;

export function createEndpoint(options: EndpointOptions): Endpoint {
  return new JsonRpcEndpoint(options);
}

class JsonRpcEndpoint implements Endpoint {
  readonly dropped = new Emitter<number>();
  readonly closed: Promise<void>;
  readonly #connection: MessageConnection;
  readonly #options: EndpointOptions;
  readonly #end: () => void;
  readonly #requests = new Map<string, RequestHandler>();
  readonly #notifications = new Map<string, (params: unknown) => void>();
  #openRequests = 0;
  /** Callbacks of our own unanswered requests, called when the connection closes. */
  readonly #unanswered = new Set<() => void>();
  #isClosed = false;
  #check: (method: string) => void = () => {};

  constructor(options: EndpointOptions) {
    this.#options = options;
    const { source, sink, log } = options;
    const writer = createGuardedWriter(sink, {
      log,
      ...(options.queueLimits && { limits: options.queueLimits }),
      deliveryOf,
      dropped: (frames) => this.dropped.emit(frames),
    });
    const reader = createGuardedReader(source, {
      log,
      limits: options.frameLimits ?? clientFrameLimits,
      refused: ({ code, message, id }) => {
        writer.frames.write(JSON.stringify({ jsonrpc: "2.0", id, error: { code, message } }));
      },
    });
    this.#end = () => writer.frames.end();
    this.#connection = createMessageConnection(reader, writer, {
      error: (message) => log.warn(message),
      warn: (message) => log.warn(message),
      info: (message) => log.debug(message),
      log: (message) => log.debug(message),
    });
    const closed = Promise.withResolvers<void>();
    this.closed = closed.promise;
    const close = (): void => {
      this.#isClosed = true;
      for (const disconnect of this.#unanswered) disconnect();
      this.#unanswered.clear();
      closed.resolve();
    };
    this.#connection.onClose(() => {
      close();
      this.#hangUp(writer.frames);
    });
    this.#connection.onDispose(close);
    this.#connection.onRequest((method, params: unknown, token) => this.#handle(method, params, token));
    this.#connection.onNotification((method, params: unknown) => this.#hear(method, params));
    // The connection handles this notification itself.
    this.#connection.onUnhandledProgress((params) => this.#hear("$/progress", params));
  }

  onRequest<Method extends ClientRequest>(
    method: Method,
    handler: (params: ParamsOf<Method>, signal: AbortSignal) => Answer<ResultOf<Method>>,
  ): void {
    this.#requests.set(method, (params, signal) => handler(params as ParamsOf<Method>, signal));
  }

  onStandardRequest(method: string, handler: RequestHandler): void {
    this.#requests.set(method, handler);
  }

  onNotification(method: string, handler: (params: unknown) => void): void {
    this.#notifications.set(method, handler);
  }

  beforeRequest(check: (method: string) => void): void {
    this.#check = check;
  }

  notify<Method extends ServerNotification>(method: Method, params: NotificationParamsOf<Method>): void {
    this.notifyStandard(method, params);
  }

  notifyStandard(method: string, params: unknown): void {
    if (this.#isClosed) return;
    this.#connection.sendNotification(method, params).catch((error: unknown) => {
      if (!this.#isClosed)
        this.#options.log.warn(`A notification was not sent: ${messageOf(error)}`, { method });
    });
  }

  async request(method: string, params: unknown, signal?: AbortSignal): Promise<unknown> {
    if (this.#isClosed) throw disconnected(method);
    signal?.throwIfAborted();
    // Absent params must not be passed: undefined would be sent as a param.
    const passed = [...(params === undefined ? [] : [params]), ...(signal ? [tokenOf(signal)] : [])];
    const answer = this.#connection.sendRequest<unknown>(method, ...passed);
    // Not by awaiting `closed`, which would retain each request and its answer as long as the connection lasts.
    const lost = Promise.withResolvers<never>();
    const disconnect = (): void => lost.reject(disconnected(method));
    this.#unanswered.add(disconnect);
    try {
      return await Promise.race([answer, lost.promise]);
    } catch (error) {
      if (error instanceof ResponseError) throw fromWireError(error.toJson());
      throw isLaresError(error) ? error : disconnected(method, error);
    } finally {
      this.#unanswered.delete(disconnect);
    }
  }

  listen(): void {
    this.#connection.listen();
  }

  end(): void {
    this.#end();
    this.#connection.dispose();
  }

  [Symbol.dispose](): void {
    this.#connection.dispose();
    this.#options.sink.destroy();
  }

  /** Stops reading, sends queued messages and closes, even if the peer keeps its own side open. */
  #hangUp(frames: FrameWriter): void {
    const { sink } = this.#options;
    setTimeout(() => sink.destroy(), farewellMs).unref();
    frames.end(() => sink.destroy());
  }

  async #handle(method: string, params: unknown, token: CancellationToken): Promise<unknown> {
    const aborter = new AbortController();
    const cancelled = token.onCancellationRequested(() => aborter.abort());
    // A token that was cancelled before it arrived here emits no event.
    if (token.isCancellationRequested) aborter.abort();
    this.#openRequests++;
    try {
      return (await this.#answer(method, params, aborter.signal)) ?? null;
    } catch (error) {
      throw responseErrorOf(error, aborter.signal, method, this.#options.log);
    } finally {
      this.#openRequests--;
      cancelled.dispose();
    }
  }

  #hear(method: string, params: unknown): void {
    try {
      this.#notifications.get(method)?.(params);
    } catch (error) {
      this.#options.log.warn(`A notification could not be handled: ${messageOf(error)}`, { method });
    }
  }

  async #answer(method: string, params: unknown, signal: AbortSignal): Promise<unknown> {
    const limit = this.#options.maxOpenRequests ?? maxOpenRequests;
    if (this.#openRequests > limit)
      throw new LaresError(
        "Busy",
        `More than ${limit} requests are open on this connection; wait for answers.`,
        { limit },
      );
    const handler = this.#requests.get(method);
    if (!handler) throw new LaresError("MethodNotFound", `There is no request "${method.slice(0, 200)}".`);
    this.#check(method);
    signal.throwIfAborted();
    if (!isClientRequest(method)) return handler(params, signal);
    // Loaded at the first request that needs it, because the validator loads slowest. Importing it again takes a while, too.
    const { checkParams } = (validator ??= await import("../validate.ts"));
    const given = params ?? {};
    checkParams(method, clientRequests[method].params, given);
    // Cancelled during the load: a handler that only listens would not notice.
    signal.throwIfAborted();
    return handler(given, signal);
  }
}

let validator: typeof import("../validate.ts") | null = null;

function responseErrorOf(
  error: unknown,
  signal: AbortSignal,
  method: string,
  log: Log,
): ResponseError<unknown> {
  if (signal.aborted && !isLaresError(error))
    return new ResponseError(faultCodes.requestCancelled, "The request was cancelled.");
  if (!isLaresError(error))
    log.error(`${method} failed: ${messageOf(error)}`, {
      stack: error instanceof Error ? error.stack : undefined,
    });
  const { code, message, data } = toWireError(error);
  return new ResponseError(code, message, data);
}

function disconnected(method: string, cause?: unknown): LaresError {
  return new LaresError("Busy", `${method} was not answered: the connection closed.`, { method }, { cause });
}

function tokenOf(signal: AbortSignal): CancellationToken {
  return {
    isCancellationRequested: signal.aborted,
    onCancellationRequested(listener) {
      const run = (): void => void listener(undefined);
      signal.addEventListener("abort", run, { once: true });
      return { dispose: () => signal.removeEventListener("abort", run) };
    },
  };
}
