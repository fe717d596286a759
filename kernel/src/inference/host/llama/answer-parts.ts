import { randomHex } from "../../../platform/random.ts";
import type { ModelAnswerPart, ModelEvent, ModelFinish, ModelUsage } from "../../../base/vocabulary/model.ts";

type Delta = Extract<ModelEvent, { readonly type: "text" | "reasoning" | "tool_call" }>;

interface OpenCall {
  readonly call: string;
  readonly tool: string;
  json: string;
}

/** Collects an answer while it is written. */
export class AnswerParts {
  /** `provider/model`. */
  readonly #model: string;
  readonly #parts: ModelAnswerPart[] = [];
  #open: { readonly type: "text" | "reasoning"; text: string } | null = null;
  #call: OpenCall | null = null;
  chars = 0;

  constructor(model: string) {
    this.#model = model;
  }

  add(type: "text" | "reasoning", text: string): Delta {
    if (this.#open?.type !== type) {
      this.#close();
      this.#open = { type, text: "" };
    }
    this.#open.text += text;
    this.chars += text.length;
    return { type, text };
  }

  beginCall(tool: string): void {
    this.#close();
    this.#call = { call: `call_${randomHex(12)}`, tool, json: "" };
  }

  addArguments(text: string): Delta {
    if (this.#call === null) throw new Error("No call was begun.");
    this.#call.json += text;
    this.chars += text.length;
    return { type: "tool_call", call: this.#call.call, tool: this.#call.tool, text };
  }

  endCall(): void {
    if (this.#call === null) throw new Error("No call was begun.");
    const { call, tool, json } = this.#call;
    this.#call = null;
    this.#parts.push({ type: "tool_call", call, tool, arguments: valueOf(json) });
  }

  /** Returns the last event. A call that the limit cut off is left out, because half of its arguments are none. */
  end(isCutOff: boolean, usage: ModelUsage): ModelEvent {
    this.#close();
    const parts = this.#parts;
    const hasCalls = parts.some(({ type }) => type === "tool_call");
    const isEmpty = !hasCalls && !parts.some((part) => part.type === "text" && /\S/.test(part.text));
    if (isEmpty && !isCutOff)
      return {
        type: "failed",
        failure: { class: "EmptyAnswer", message: `The model "${this.#model}" answered with nothing.` },
      };
    const finish: ModelFinish = isCutOff ? "length" : hasCalls ? "tool_calls" : "stop";
    return { type: "done", parts, finish, usage };
  }

  #close(): void {
    const open = this.#open;
    this.#open = null;
    if (open === null || open.text === "") return;
    const { type, text } = open;
    this.#parts.push(
      type === "text" ? { type, text } : { type, text, opaque: { model: this.#model, value: null } },
    );
  }
}

/** A text that is not JSON is left to the tool, which reports it. */
function valueOf(json: string): unknown {
  try {
    return JSON.parse(json) as unknown;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return json;
  }
}
