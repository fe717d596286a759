import { JoinedSignals, neverAborted } from "../../base/abort.ts";
import { messageOf } from "../../base/errors.ts";
import { vectorsOf } from "./openai-answer.ts";
import { checkedKey, type Endpoint, endpointOf } from "./openai-endpoint.ts";
import { type Embedder, EmbeddingError } from "./port.ts";
import { type OutsideAnswer, OutsideError, type PostOutside } from "../../memory-contract/store-port.ts";
import type { EmbedderSpec } from "../../memory-contract/store-settings.ts";
import { inBatches, refuseBlank } from "./texts.ts";
import { unitVector } from "../../base/unit-vector.ts";

export const openAiLimits = {
  /** The maximum that smaller servers accept in one request by default. */
  batchTexts: 32,
  batchCharacters: 100_000,
  /** Maximum characters of a text that are sent; most models refuse more than about 8,000 tokens. */
  textCharacters: 16_000,
  /** Maximum time from the request to the last byte of the answer. */
  timeoutMs: 30_000,
  answerBytes: 16 * 1024 * 1024,
  /** The longest delay that a service may ask for. */
  retryAfterMs: 15 * 60_000,
} as const;
type Limits = { readonly [Name in keyof typeof openAiLimits]: number };

/** The delay after an error that the user has to correct: the key, the model's name, the URL. */
const setupPauseMs = 5 * 60_000;
const shownCharacters = 200;

type OpenAiSpec = Extract<EmbedderSpec, { kind: "openai-compatible" }>;

/**
 * An embedder that asks any service with `POST /v1/embeddings`. Without `dimensions`, it asks the service
 * once for the length of its vectors. The key is sent in the Authorization header and nowhere else; redirects
 * are not followed. Throws InvalidParams for errors in the document, EmbeddingError for errors of the
 * service.
 */
export async function createOpenAiCompatibleEmbedder(
  spec: OpenAiSpec,
  post: PostOutside,
  limits: Limits = openAiLimits,
): Promise<Embedder> {
  const service = new Service(endpointOf(spec.url), checkedKey(spec.key), spec, post, limits);
  const dimensions = spec.dimensions ?? (await service.ask(["How long are your vectors?"]))[0]?.length ?? 0;
  return {
    name: `openai-compatible/${service.endpoint.url.host}/${spec.model}/${dimensions}`,
    dimensions,
    knows: "meanings",
    isImmediate: false,
    async embed(texts, _purpose, signal = neverAborted) {
      refuseBlank(texts);
      const vectors: Float32Array[] = [];
      const cut = texts.map((text) => text.trim().slice(0, limits.textCharacters).toWellFormed());
      const bounds = { maxTexts: limits.batchTexts, maxCharacters: limits.batchCharacters };
      for (const batch of inBatches(cut, bounds)) {
        for (const values of await service.ask(batch, signal))
          vectors.push(service.checked(values, dimensions));
      }
      return vectors;
    },
    async [Symbol.asyncDispose]() {
      service.close();
    },
  };
}

class Service {
  readonly endpoint: Endpoint;
  readonly #key: string | null;
  readonly #spec: OpenAiSpec;
  readonly #postOutside: PostOutside;
  readonly #limits: Limits;
  readonly #closing = new AbortController();
  /** True until the service has refused the parameter. */
  #sendsDimensions: boolean;

  constructor(endpoint: Endpoint, key: string | null, spec: OpenAiSpec, post: PostOutside, limits: Limits) {
    this.endpoint = endpoint;
    this.#key = key;
    this.#spec = spec;
    this.#postOutside = post;
    this.#limits = limits;
    this.#sendsDimensions = spec.dimensions !== undefined;
  }

  close(): void {
    this.#closing.abort();
  }

  async ask(texts: readonly string[], signal = neverAborted): Promise<ArrayLike<number>[]> {
    const sent = this.#sendsDimensions;
    try {
      return await this.#post(texts, sent, signal);
    } catch (error) {
      // Many models have one length only, and their servers refuse the parameter. Then the vectors are
      // shortened here.
      if (!sent || !(error instanceof EmbeddingError) || error.isRetryable) throw error;
      const vectors = await this.#post(texts, false, signal);
      this.#sendsDimensions = false;
      return vectors;
    }
  }

  checked(values: ArrayLike<number>, dimensions: number): Float32Array {
    const vector = unitVector(values, dimensions);
    if (vector instanceof Float32Array) return vector;
    throw new EmbeddingError(
      vector === "too short"
        ? `${this.#spec.model} makes vectors of ${values.length} dimensions, not ${dimensions}: write "dimensions: ${values.length}" or leave it out.`
        : `${this.endpoint.shown} answered with a vector that is ${vector}.`,
      { isRetryable: true, retryAfterMs: vector === "too short" ? setupPauseMs : 0 },
    );
  }

  async #post(
    texts: readonly string[],
    withDimensions: boolean,
    signal: AbortSignal,
  ): Promise<ArrayLike<number>[]> {
    const { shown, url } = this.endpoint;
    const { timeoutMs, answerBytes } = this.#limits;
    const body = JSON.stringify({
      model: this.#spec.model,
      input: texts,
      encoding_format: "float",
      ...(withDimensions ? { dimensions: this.#spec.dimensions } : {}),
    });
    const headers = [
      ["content-type", "application/json"],
      ["accept", "application/json"],
      ...(this.#key === null ? [] : [["authorization", `Bearer ${this.#key}`] as const]),
    ] as const;
    const request = { url: url.href, headers, timeoutMs, maxBytes: answerBytes };
    let answer: OutsideAnswer;
    using joined = new JoinedSignals(signal, this.#closing.signal);
    try {
      joined.signal.throwIfAborted();
      answer = await this.#postOutside(request, new TextEncoder().encode(body), joined.signal);
    } catch (error) {
      signal.throwIfAborted();
      throw this.#unanswered(error);
    }
    const text = new TextDecoder().decode(answer.body);
    if (answer.status !== 200) throw this.#refusal(answer, text);
    return vectorsOf(text, texts.length, shown);
  }

  #unanswered(error: unknown): EmbeddingError {
    const { shown } = this.endpoint;
    const { timeoutMs, answerBytes } = this.#limits;
    const failed = (message: string, retryAfterMs = 0): EmbeddingError =>
      new EmbeddingError(message, { isRetryable: true, retryAfterMs, cause: error });
    if (this.#closing.signal.aborted) return failed("The embedder was closed.");
    if (!(error instanceof OutsideError)) return failed(`${shown} cannot be reached: ${messageOf(error)}.`);
    switch (error.failure) {
      case "Timeout":
        return failed(`${shown} did not answer within ${timeoutMs / 1000} s.`);
      case "TooLong":
        return failed(`${shown} answered with more than ${answerBytes} bytes.`);
      case "Denied":
        return failed(`${shown} may not be asked: ${error.message}`, setupPauseMs);
      case "Network":
      case "Cancelled":
        return failed(`${shown} cannot be reached: ${error.message}.`);
    }
  }

  #refusal({ status, headers }: OutsideAnswer, body: string): EmbeddingError {
    const header = (name: string): string | null => headers.find(([each]) => each === name)?.[1] ?? null;
    const { shown } = this.endpoint;
    if (status === 401 || status === 403) {
      // The server's text may contain the key or part of it.
      const message = `${shown} refused the key (${status}): set LARES_EMBEDDER_KEY to one it accepts.`;
      return new EmbeddingError(message, { isRetryable: true, retryAfterMs: setupPauseMs });
    }
    if (status === 404) {
      const message = `${shown} does not exist or has no model "${this.#spec.model}" (404): check "url" and "model".`;
      return new EmbeddingError(message, { isRetryable: true, retryAfterMs: setupPauseMs });
    }
    if (status < 400) {
      const target = URL.parse(header("location") ?? "", this.endpoint.url.href)?.origin;
      const message = `${shown} answered ${status}${target === undefined ? "" : ` and points to ${target}`}: texts are sent to the "url" that is written down and nowhere else.`;
      return new EmbeddingError(message, { isRetryable: true, retryAfterMs: setupPauseMs });
    }
    const isRetryable = status >= 500 || status === 408 || status === 425 || status === 429;
    const retryAfterMs = Math.min(
      this.#limits.retryAfterMs,
      isRetryable ? retryAfterMsOf(header("retry-after"), Date.now()) : 0,
    );
    return new EmbeddingError(`${shown} answered ${status}: ${this.#shownPart(body)}`, {
      isRetryable,
      retryAfterMs,
    });
  }

  #shownPart(body: string): string {
    const shown = this.#key === null ? body : body.replaceAll(this.#key, "…");
    return (
      shown
        .slice(0, shownCharacters)
        .replace(/[\p{C}\s]+/gu, " ")
        .trim() || "nothing"
    );
  }
}

/** Returns the delay in ms from a number of seconds or a date; 0 if it is neither, or in the past. */
export function retryAfterMsOf(header: string | null, nowMs: number): number {
  if (header === null) return 0;
  const value = header.trim();
  if (/^\d+$/u.test(value)) return Number(value) * 1000;
  // `Date.parse` accepts almost anything as a date.
  const waitMs = /^[A-Z][a-z]{2}, .* GMT$/u.test(value) ? Date.parse(value) - nowMs : 0;
  return waitMs > 0 ? waitMs : 0;
}
