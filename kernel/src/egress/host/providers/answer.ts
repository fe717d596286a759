import { newId } from "../../../base/ids.ts";
import { textNestsDeeperThan } from "../../../base/json-depth.ts";
import type {
  ModelAnswerPart,
  ModelEvent,
  ModelFinish,
  ModelRequest,
  ModelUsage,
} from "../../../base/vocabulary/model.ts";
import { estimatedInputTokens } from "../../../models/cost.ts";
import { answerBounds as bounds } from "./bounds.ts";
import { type FailureContext, ModelFault, tooLong } from "./failures.ts";
import { printedCalls } from "./printed-calls.ts";

type Delta = Extract<ModelEvent, { readonly type: "text" | "reasoning" | "tool_call" }>;

export interface OpenText {
  readonly type: "text" | "reasoning";
  text: string;
  opaque?: unknown;
}

export interface OpenCall {
  readonly type: "tool_call";
  readonly call: string;
  readonly tool: string;
  /** The arguments as JSON, as far as they have arrived. */
  json: string;
  opaque?: unknown;
}

/** Tokens as a provider counted them. Missing or invalid counts are estimated. */
export type CountedUsage = { readonly [Name in keyof ModelUsage]?: number | null | undefined };

/** Collects an answer while it arrives, in the order in which its parts began, and bounds it. */
export class AnswerBuilder {
  readonly #request: ModelRequest;
  readonly #context: FailureContext;
  /** True for models that may print their tool calls as text. */
  readonly #mayPrintCalls: boolean;
  readonly #parts: (OpenText | OpenCall)[] = [];
  #chars = 0;

  constructor(request: ModelRequest, context: FailureContext, mayPrintCalls: boolean) {
    this.#request = request;
    this.#context = context;
    this.#mayPrintCalls = mayPrintCalls;
  }

  begin(type: OpenText["type"]): OpenText {
    const part: OpenText = { type, text: "" };
    return this.#begin(part);
  }

  /** `call`: the provider's name for the call; null if it has none. */
  beginCall(call: string | null, tool: string): OpenCall {
    const name = call === null || call === "" ? `call_${newId()}` : call;
    this.#take(name.length + tool.length);
    return this.#begin({ type: "tool_call", call: name, tool, json: "" });
  }

  /** Adds to a part. Returns the delta to show; null if there is nothing to show. */
  add(part: OpenText | OpenCall, text: string): Delta | null {
    if (text === "") return null;
    this.#take(text.length);
    if (part.type === "tool_call") {
      part.json += text;
      return { type: "tool_call", call: part.call, tool: part.tool, text };
    }
    part.text += text;
    return { type: part.type, text };
  }

  /** Keeps what the provider wants to see again with this part. */
  keep(part: OpenText | OpenCall, opaque: unknown): void {
    this.#take(JSON.stringify(opaque)?.length ?? 0);
    part.opaque = opaque;
  }

  /** Returns the last event of an answer that the provider ended properly. */
  end(finish: ModelFinish, usage: CountedUsage): ModelEvent {
    const parts = this.#answerParts();
    const hasCalls = parts.some(({ type }) => type === "tool_call");
    const isEmpty = !hasCalls && !parts.some((part) => part.type === "text" && /\S/.test(part.text));
    const { provider, model } = this.#context;
    if (isEmpty && finish === "filtered")
      return {
        type: "failed",
        failure: {
          class: "Filtered",
          message: `The content filter of the provider "${provider}" stopped the answer before its first word.`,
        },
      };
    // An answer that reached its limit while the model was thinking has cost money and says why it is empty.
    if (isEmpty && finish !== "length")
      return {
        type: "failed",
        failure: {
          class: "EmptyAnswer",
          message: `The model "${model}" of "${provider}" answered with nothing.`,
        },
      };
    return {
      type: "done",
      parts,
      finish: hasCalls && finish === "stop" ? "tool_calls" : finish,
      usage: this.#usage(usage),
    };
  }

  #begin<Part extends OpenText | OpenCall>(part: Part): Part {
    this.#take(bounds.partChars);
    this.#parts.push(part);
    return part;
  }

  #take(chars: number): void {
    this.#chars += chars;
    if (this.#chars > bounds.maxChars) throw new ModelFault(tooLong(this.#context));
  }

  #answerParts(): readonly ModelAnswerPart[] {
    const { model, tools = [], tool_choice: choice, schema } = this.#request;
    const parts = this.#parts.flatMap((part): ModelAnswerPart[] => {
      const opaque = part.opaque === undefined ? {} : { opaque: { model, value: part.opaque } };
      switch (part.type) {
        case "tool_call": {
          const { type, call, tool } = part;
          return [{ type, call, tool, arguments: argumentsOf(part.json), ...opaque }];
        }
        case "reasoning":
          return part.text === "" && part.opaque === undefined
            ? []
            : [{ type: "reasoning", text: part.text, ...opaque }];
        case "text":
          return part.text === "" ? [] : [{ type: "text", text: part.text }];
      }
    });
    if (!this.#mayPrintCalls || choice === "none" || schema !== undefined) return parts;
    if (parts.some(({ type }) => type === "tool_call")) return parts;
    const text = parts.map((part) => (part.type === "text" ? part.text : "")).join("");
    const calls = printedCalls(text, new Set(tools.map(({ name }) => name)));
    if (calls === null) return parts;
    return [
      ...parts.filter(({ type }) => type === "reasoning"),
      ...calls.map((call) => ({ type: "tool_call" as const, call: `call_${newId()}`, ...call })),
    ];
  }

  #usage(counted: CountedUsage): ModelUsage {
    const reasoning = countOf(counted.reasoning_tokens);
    const read = countOf(counted.cache_read_tokens);
    const written = countOf(counted.cache_write_tokens);
    return {
      input_tokens: countOf(counted.input_tokens) ?? estimatedInputTokens(this.#request),
      output_tokens: countOf(counted.output_tokens) ?? Math.ceil(this.#chars / 4),
      ...(reasoning === null ? {} : { reasoning_tokens: reasoning }),
      ...(read === null ? {} : { cache_read_tokens: read }),
      ...(written === null ? {} : { cache_write_tokens: written }),
    };
  }
}

/** Returns invalid JSON, or JSON that nests too deep, as text: the tool rejects it, and the model gets the reason. */
function argumentsOf(json: string): unknown {
  if (json.trim() === "") return {};
  if (textNestsDeeperThan(json, bounds.argumentsDepth)) return json;
  try {
    return JSON.parse(json) as unknown;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return json;
  }
}

function countOf(value: number | null | undefined): number | null {
  return typeof value === "number" && Number.isFinite(value) && value >= 0 ? Math.round(value) : null;
}
