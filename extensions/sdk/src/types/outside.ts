import type { CallOptions } from "./call.ts";
import type { InferAnswer, InferRequest, OwnModel } from "./infer.ts";
import type { Untyped } from "./memory.ts";

/** One message of an exchange with a model. */
export interface AiMessage {
  readonly role: "user" | "assistant";
  readonly text: string;
}

/** A question to a model: either `prompt`, or `messages`, of which the last one is the user's. */
export interface AiRequest extends CallOptions {
  readonly prompt?: string;
  readonly messages?: readonly AiMessage[];
  /** Instructions that apply to the whole exchange. */
  readonly system?: string;
  /** As the manifest's `use_models` names it; default "chat". */
  readonly category?: string;
  readonly maxOutputTokens?: number;
  readonly temperature?: number;
}

/** Tokens; those read from a cache or written to one are not part of `inputTokens`. */
export interface AiUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly reasoningTokens?: number;
  readonly cacheReadTokens?: number;
  readonly cacheWriteTokens?: number;
}

export interface AiAnswer {
  readonly text: string;
  readonly usage: AiUsage;
  /** "provider/model" that answered. */
  readonly model: string;
  /** "length": the answer is cut off. "filtered": the provider refused to continue. */
  readonly finish: "stop" | "length" | "filtered";
}

/** Vectors of length 1: the dot product of two from one embedder says how alike their texts are. */
export interface Embeddings {
  /** In the texts' order. */
  readonly embeddings: readonly (readonly number[])[];
  readonly dimensions: number;
  /** Kind, model and dimensions: vectors of different ones cannot be compared. */
  readonly embedder: string;
}

/** Language models of the person's settings, for which the agent holds no key and needs `use_models`, and models of its own. */
export interface Ai {
  /** Rejects with `ModelError` (`facts.class`, `facts.retryable`) or `BudgetExceeded`. */
  generate(request: AiRequest | string): Promise<AiAnswer>;
  /** Returns an object that fits `schema`, a JSON Schema of type object. */
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the author says what the schema describes
  object<Value = Untyped>(
    request: AiRequest & { readonly schema: Readonly<Record<string, unknown>> },
  ): Promise<Value>;
  /**
   * Returns the texts' vectors, by the embedder that the agent's memory has; any number of texts, in as many messages as
   * they need. Needs `use_models` with the category `embedding`.
   */
  embed(texts: readonly string[], options?: CallOptions): Promise<Embeddings>;
  /**
   * Runs an ONNX model that the manifest, or its entry in `lares.yaml`, declares under `models`, on this machine. It is fetched when it is first used. Rejects
   * with `ModelError` (`facts.class`, `facts.retryable`). Needs no permission besides that declaration.
   */
  infer(request: InferRequest): Promise<InferAnswer>;
  /**
   * The models that `infer` may run, whether or not they were fetched. A model that is not among them is refused at once. They
   * may change while the agent runs; `onPermissionChange` is called then.
   */
  readonly models: readonly OwnModel[];
  /** Returns whether a model would answer requests of this category; asks none. */
  hasModel(category?: string): Promise<boolean>;
}

export interface FetchInit extends CallOptions {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Bytes: at most 32 MiB. */
  readonly body?: string | Uint8Array;
  /** From the request to the end of its answer; default 10,000. */
  readonly timeoutMs?: number;
  /** Bytes of the answer's body; the rest is cut off. Default 1,048,576, at most 67,108,864. */
  readonly maxBytes?: number;
}

export interface FetchAnswer {
  readonly status: number;
  /** The status is 200 to 299. */
  readonly ok: boolean;
  /** By name in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Bytes of the body that were received. */
  readonly size: number;
  readonly truncated: boolean;
  /** The body; throws a `TypeError` if it is not text in UTF-8, or is longer than about a million characters. */
  text(): string;
  json(): Untyped;
  /** The body as bytes, until the handler has ended; the kernel keeps what is large or not text. */
  bytes(): Promise<Uint8Array>;
}

export interface Credentials {
  /**
   * Returns a placeholder for the person's secret of this name. In a request of `ctx.fetch` to the secret's hosts it is
   * replaced by the value, in the place that the secret is bound to. Needs `use_credentials`.
   */
  get(name: string): Promise<string>;
}
