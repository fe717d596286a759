import type { Clock } from "../../base/clock.ts";
import { Fifo } from "../../base/fifo.ts";
import { CreditWindow } from "../../platform/children/credit.ts";
import { placeName, targetOf } from "../../policy/egress.ts";
import { egressBounds as bounds } from "../bounds.ts";
import type { EgressFailure, EgressHead } from "../messages.ts";
import { type EgressAnswer, EgressError, type EgressRequest, type EgressTrace } from "./answer.ts";

/** A request's messages to its host. */
interface SentRequest {
  grant(bytes: number): void;
  cancel(): void;
  /** Called if the host does not end the request in time. */
  hung(): void;
}

interface OpenRequestOptions {
  readonly clock: Clock;
  trace(trace: EgressTrace): void;
}

/** One request from the kernel's side. Ends exactly once, with a trace. */
export class OpenRequest {
  readonly request: EgressRequest;
  readonly #head = Promise.withResolvers<EgressAnswer>();
  readonly #chunks = new Fifo<Uint8Array>();
  readonly #options: OpenRequestOptions;
  readonly #ended: () => void;
  readonly #startedAt: number;
  readonly #timer: Disposable;
  #window: CreditWindow | null = null;
  #sent: SentRequest | null = null;
  #began: EgressHead | null = null;
  #end: { readonly isTruncated: boolean } | EgressFailure | null = null;
  #changed = Promise.withResolvers<void>();
  #receivedBytes = 0;

  constructor(request: EgressRequest, options: OpenRequestOptions, ended: () => void) {
    this.request = request;
    this.#options = options;
    this.#ended = ended;
    this.#startedAt = options.clock.monotonic();
    const { timeoutMs } = request.limits;
    this.#timer = options.clock.timer(timeoutMs + bounds.graceMs, () => {
      const sent = this.#sent;
      this.stop("Timeout", `The request was not answered within ${timeoutMs} ms.`);
      sent?.hung();
    });
  }

  get head(): Promise<EgressAnswer> {
    return this.#head.promise;
  }

  get hasEnded(): boolean {
    return this.#end !== null;
  }

  /** True once a host has it. */
  get isSent(): boolean {
    return this.#sent !== null;
  }

  sent(sent: SentRequest): void {
    this.#sent = sent;
    this.#window = new CreditWindow(bounds.windowBytes, sent.grant);
    this.#window.open();
  }

  began(head: EgressHead): void {
    if (this.#end !== null) return;
    this.#began = head;
    this.#head.resolve({ ...head, body: this.#body() });
  }

  received(chunk: Uint8Array): void {
    if (this.#end !== null) return;
    this.#receivedBytes += chunk.length;
    this.#chunks.push(chunk);
    this.#wake();
  }

  finished(isTruncated: boolean): void {
    this.#finish({ isTruncated });
  }

  failed(failure: EgressFailure): void {
    this.#finish(failure);
  }

  /** Ends it from the kernel's side. The host, if it has the request, closes the connection. */
  stop(failureClass: "Network" | "Timeout" | "Cancelled", message: string): void {
    if (this.#end !== null) return;
    this.#sent?.cancel();
    const { host } = targetOf(this.request.url);
    this.#finish({ class: failureClass, host, message, mayHaveLeft: this.isSent });
  }

  #finish(end: { readonly isTruncated: boolean } | EgressFailure): void {
    if (this.#end !== null) return;
    this.#end = end;
    const failure = "class" in end ? end : null;
    this.#timer[Symbol.dispose]();
    this.#ended();
    if (failure !== null) this.#head.reject(new EgressError(failure));
    this.#wake();
    const { who, method, body } = this.request;
    const { sent, status = 0 } = this.#began ?? {};
    this.#options.trace({
      who,
      method,
      ...placeOf(this.request.url),
      ...(sent === undefined ? {} : { path: sent.path }),
      redirects: this.#began?.redirects ?? [],
      viaProxy: this.#began?.viaProxy ?? false,
      unfilled: this.#began?.unfilled ?? [],
      sentBytes: failure?.mayHaveLeft === false ? 0 : (sent?.bytes ?? body?.length ?? 0),
      receivedBytes: this.#receivedBytes,
      // A task may end without an answer of the provider.
      status: status === 0 ? null : status,
      durationMs: this.#options.clock.monotonic() - this.#startedAt,
      failure,
    });
  }

  #wake(): void {
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
  }

  async *#body(): EgressAnswer["body"] {
    try {
      for (;;) {
        const chunk = this.#chunks.shift();
        if (chunk !== undefined) {
          yield chunk;
          if (this.#end === null) this.#window?.taken(chunk.length);
        } else if (this.#end === null) await this.#changed.promise;
        else if ("class" in this.#end) throw new EgressError(this.#end);
        else return this.#end;
      }
    } finally {
      this.stop("Cancelled", "The rest of the answer was not wanted.");
    }
  }
}

function placeOf(url: string): { readonly host: string; readonly path: string } {
  const target = targetOf(url);
  return "path" in target ? { host: placeName(target), path: target.path } : { host: target.host, path: "" };
}
