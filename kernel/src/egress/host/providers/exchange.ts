import type { ModelFailure } from "../../../base/vocabulary/model.ts";
import { answerBounds as bounds } from "./bounds.ts";
import {
  continued,
  type FailureContext,
  failureOfResponse,
  failureOfThrown,
  ModelFault,
  tooLong,
  webPage,
} from "./failures.ts";

/**
 * The one request of an attempt. It is sent only when it is released, and its answer is bounded. Keeps the reason of
 * a failure, because the SDKs wrap errors in their own.
 */
export class Exchange {
  readonly #fetch: typeof globalThis.fetch;
  readonly #context: FailureContext;
  readonly #signal: AbortSignal;
  readonly #framing: "events" | "lines";
  readonly #wanted = Promise.withResolvers<void>();
  readonly #released = Promise.withResolvers<void>();
  #isUsed = false;
  #failure: ModelFailure | null = null;

  constructor(
    fetch: typeof globalThis.fetch,
    context: FailureContext,
    signal: AbortSignal,
    framing: "events" | "lines",
  ) {
    this.#fetch = fetch;
    this.#context = context;
    this.#signal = signal;
    this.#framing = framing;
  }

  /** Resolves when the request is ready to leave. */
  get wanted(): Promise<void> {
    return this.#wanted.promise;
  }

  /** Lets the request leave. */
  release(): void {
    this.#released.resolve();
  }

  /** Why the request failed; null while it did not. */
  get failure(): ModelFailure | null {
    return this.#failure;
  }

  readonly fetch: typeof globalThis.fetch = async (input, init) => {
    // Trying again is a new, counted attempt.
    if (this.#isUsed) throw this.#failed(continued(this.#context));
    this.#isUsed = true;
    this.#wanted.resolve();
    await this.#released.promise;
    const response = await this.#send(input, init);
    const isStream = !/^application\/json\b/i.test(response.headers.get("content-type") ?? "");
    if (!response.ok || (this.#framing === "events" && !isStream)) {
      const { status, headers } = response;
      const body = await this.#guarded(readStart(response, bounds.maxErrorBytes));
      throw this.#failed(failureOfResponse({ status, headers, body }, this.#context, Date.now()));
    }
    if (/^text\/html\b/i.test(response.headers.get("content-type") ?? "")) {
      await response.body?.cancel();
      throw this.#failed(webPage(this.#context));
    }
    const { status, headers, body } = response;
    return new Response(body === null ? null : this.#bounded(body), { status, headers });
  };

  #send(...[input, init]: Parameters<typeof globalThis.fetch>): Promise<Response> {
    // A provider's redirect is an error: following it could send the key to another host.
    return this.#guarded(this.#fetch(input, { ...init, redirect: "manual", signal: this.#signal }));
  }

  async #guarded<Value>(work: Promise<Value>): Promise<Value> {
    try {
      return await work;
    } catch (error) {
      throw this.#failed(failureOfThrown(error, this.#context));
    }
  }

  #failed(failure: ModelFailure): ModelFault {
    this.#failure ??= failure;
    return new ModelFault(this.#failure);
  }

  /** Not a transform: it would take several turns for each piece. */
  #bounded(body: ReadableStream<Uint8Array>): ReadableStream<Uint8Array<ArrayBuffer>> {
    const reader = (body as ReadableStream<Uint8Array<ArrayBuffer>>).getReader();
    const isWithin = this.#bounds();
    return new ReadableStream<Uint8Array<ArrayBuffer>>(
      {
        pull: async (controller) => {
          const { done, value } = await reader.read();
          if (done) return controller.close();
          if (isWithin(value)) return controller.enqueue(value);
          const fault = this.#failed(tooLong(this.#context));
          void reader.cancel(fault).catch(() => undefined);
          throw fault;
        },
        cancel: (reason) => reader.cancel(reason),
      },
      { highWaterMark: 0 },
    );
  }

  /** Returns a check of each next piece: are the answer and its events still within their bounds? */
  #bounds(): (chunk: Uint8Array) => boolean {
    const endsEvent = this.#framing === "lines";
    let total = 0;
    let event = 0;
    let isLineEmpty = true;
    return (chunk) => {
      total += chunk.length;
      if (total > bounds.maxStreamBytes) return false;
      for (const byte of chunk) {
        event++;
        if (byte === 0x0a) {
          if (endsEvent || isLineEmpty) event = 0;
          isLineEmpty = true;
        } else if (byte !== 0x0d) isLineEmpty = false;
        if (event > bounds.maxEventBytes) return false;
      }
      return true;
    };
  }
}

/** Returns the beginning of a body as text; the rest is cancelled. */
export async function readStart(response: Response, maxBytes: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of response.body ?? []) {
    chunks.push(chunk);
    length += chunk.length;
    if (length >= maxBytes) break;
  }
  return Buffer.concat(chunks).subarray(0, maxBytes).toString();
}
