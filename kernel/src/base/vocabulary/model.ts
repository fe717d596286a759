import type { Hash } from "./common.ts";

/** Text that a model reads or wrote. */
export interface ModelText {
  readonly type: "text";
  readonly text: string;
}

/** What a model thought. Only the model that made `opaque` may get it again, byte by byte as it was. */
interface ModelReasoning {
  readonly type: "reasoning";
  readonly text: string;
  readonly opaque?: { readonly model: string; readonly value: unknown };
}

/** A picture by its bytes. */
export interface ModelImage {
  readonly type: "image";
  /** An IANA media type, as `image/png`. */
  readonly media_type: string;
  readonly base64: string;
  /** In a context: where the bytes are, which take the place of an empty `base64` before the request is sent. */
  readonly stored?: { readonly object: Hash; readonly bytes: number };
}

/** A model's request to run a tool. */
export interface ModelToolCall {
  readonly type: "tool_call";
  /** Names the call within its conversation; results refer to it. */
  readonly call: string;
  readonly tool: string;
  readonly arguments: unknown;
  /** What the provider wants to see again with this call (a signature), for the model that made it. */
  readonly opaque?: { readonly model: string; readonly value: unknown };
}

/** What a tool answered. */
export interface ModelToolResult {
  readonly type: "tool_result";
  readonly call: string;
  readonly text: string;
  readonly is_error?: boolean;
}

export type ModelAnswerPart = ModelText | ModelReasoning | ModelToolCall;

/** A message as a conversation holds it, in the order in which it was said. `cache`: the provider may cache up to its end. */
export type ModelMessage =
  | { readonly role: "system"; readonly text: string; readonly cache?: boolean }
  | { readonly role: "user"; readonly parts: readonly (ModelText | ModelImage)[]; readonly cache?: boolean }
  | { readonly role: "assistant"; readonly parts: readonly ModelAnswerPart[]; readonly cache?: boolean }
  | { readonly role: "tool"; readonly parts: readonly ModelToolResult[]; readonly cache?: boolean };

/** A tool as it is offered to a model. */
export interface ModelTool {
  readonly name: string;
  readonly description: string;
  /** A JSON Schema of type object. */
  readonly parameters: Readonly<Record<string, unknown>>;
}

/** One request to one model. It is JSON: it crosses to the process that sends it. */
export interface ModelRequest {
  /** `provider/model`. */
  readonly model: string;
  readonly messages: readonly ModelMessage[];
  readonly tools?: readonly ModelTool[];
  /** `none`: the tools are only named because the history has calls of them. */
  readonly tool_choice?: "auto" | "none";
  /** The answer must be JSON that fits this schema. */
  readonly schema?: Readonly<Record<string, unknown>>;
  readonly max_output_tokens?: number;
  readonly temperature?: number;
}

/** Tokens of one attempt, as the provider counted them. */
export interface ModelUsage {
  /** Without those read from a cache or written to one. */
  readonly input_tokens: number;
  /** With reasoning. */
  readonly output_tokens: number;
  readonly reasoning_tokens?: number;
  readonly cache_read_tokens?: number;
  readonly cache_write_tokens?: number;
}

export const modelFailureClasses = [
  "RateLimited",
  "Overloaded",
  "ContextOverflow",
  "Unauthorized",
  "InvalidRequest",
  "Filtered",
  "Network",
  "Timeout",
  "EmptyAnswer",
  "Cancelled",
  "NoModel",
  "UnknownModel",
  "NoKey",
] as const;

export type ModelFailureClass = (typeof modelFailureClasses)[number];

/** Why an attempt failed. The message is for a person, in the kernel's words if it has any. */
export interface ModelFailure {
  readonly class: ModelFailureClass;
  readonly message: string;
  /** What the provider asked to wait. */
  readonly retry_after_ms?: number;
}

export type ModelFinish = "stop" | "length" | "filtered" | "tool_calls";

/**
 * What an attempt reports, in order: `sent` once, before its first byte may leave the machine; deltas; `done` or `failed` once,
 * as its last. The parts of `done` are the whole answer; the deltas are only for showing it early.
 */
export type ModelEvent =
  | { readonly type: "sent" }
  | { readonly type: "text" | "reasoning"; readonly text: string }
  | { readonly type: "tool_call"; readonly call: string; readonly tool: string; readonly text: string }
  | {
      readonly type: "done";
      readonly parts: readonly ModelAnswerPart[];
      readonly finish: ModelFinish;
      readonly usage: ModelUsage;
    }
  | { readonly type: "failed"; readonly failure: ModelFailure };
