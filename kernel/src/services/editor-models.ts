import type { Clock } from "../base/clock.ts";
import { LaresError, messageOf } from "../base/errors.ts";
import { Fifo } from "../base/fifo.ts";
import type { JsonValue } from "../base/json.ts";
import {
  type ModelAnswerPart,
  type ModelEvent,
  type ModelFailure,
  type ModelFailureClass,
  modelFailureClasses,
  type ModelFinish,
  type ModelMessage,
  type ModelRequest,
} from "../base/vocabulary/model.ts";

/** Characters of one answer. An editor that says more is not followed any further. */
const maxAnswerCharacters = 16_000_000;
/** Parts of one answer. */
const maxAnswerParts = 200_000;

/** An editor that has said nothing for so long is not waited for any more: whoever asked would wait for ever. */
const maxSilenceMs = 5 * 60_000;

/** An editor that has not said what it has by then offers nothing. */
const listTimeoutMs = 5_000;

/** A message as an editor gets it. */
interface EditorMessage {
  readonly role: "system" | "user" | "assistant";
  readonly parts: readonly (
    | { readonly type: "text"; readonly text: string }
    | {
        readonly type: "tool_call";
        readonly call: string;
        readonly tool: string;
        readonly arguments: JsonValue;
      }
    | { readonly type: "tool_result"; readonly call: string; readonly text: string }
  )[];
}

export interface EditorRequest {
  /** The model's id at the editor; "default": one that the editor chooses. */
  readonly model: string;
  readonly messages: readonly EditorMessage[];
  readonly tools?: ModelRequest["tools"];
  readonly maxOutputTokens?: number;
  readonly temperature?: number;
}

/** What an editor's model says. */
export type EditorPart =
  | { readonly text: string }
  | { readonly tool_call: { readonly call: string; readonly tool: string; readonly arguments: JsonValue } };

/** A model as a client names it. */
interface OfferedModel {
  readonly id: string;
  readonly context_tokens?: number;
}

/** The language models of one client. What it says is untrusted. */
export interface EditorModel {
  /** Returns those that it has now. Rejects if it does not answer. */
  list(signal: AbortSignal): Promise<readonly OfferedModel[]>;
  /** Resolves after the last part. Rejects with a LaresError, ModelError with the class of the failure. */
  generate(
    request: EditorRequest,
    onPart: (part: EditorPart) => void,
    signal: AbortSignal,
  ): Promise<{
    readonly finish: Exclude<ModelFinish, "tool_calls">;
    readonly usage?: { readonly input_tokens: number; readonly output_tokens: number };
  }>;
}

/** The language models that clients offer; a door adds those of its trusted clients. */
export class EditorModels {
  readonly #clock: Pick<Clock, "monotonic" | "timer">;
  readonly #offered: EditorModel[] = [];

  constructor(clock: Pick<Clock, "monotonic" | "timer">) {
    this.#clock = clock;
  }

  /** Offers a client's models until the result is disposed. */
  add(model: EditorModel): Disposable {
    this.#offered.push(model);
    return {
      [Symbol.dispose]: () => {
        const place = this.#offered.indexOf(model);
        if (place !== -1) this.#offered.splice(place, 1);
      },
    };
  }

  /** Returns the models of the client that offered them last; none if there is no such client, or it does not answer. */
  async list(): Promise<readonly OfferedModel[]> {
    const editor = this.#offered.at(-1);
    if (editor === undefined) return [];
    return editor.list(AbortSignal.timeout(listTimeoutMs)).catch(() => []);
  }

  /**
   * Makes one attempt with the client that offered its models last; ends with `done` or `failed`. `model`: its id
   * without the provider. A call of a tool that was not offered ends the attempt.
   */
  async *stream(model: string, request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent, void> {
    const editor = this.#offered.at(-1);
    if (editor === undefined)
      return yield failed(
        "NoModel",
        "No editor that offers language models is connected to this workspace. Open it in one, or route to another provider in your lares.yaml.",
      );
    yield { type: "sent" };
    const ended = new AbortController();
    const joined = AbortSignal.any([signal, ended.signal]);
    const incoming = new IncomingAnswer(new Set(request.tools?.map(({ name }) => name)));
    using silence = new Silence(this.#clock, () => incoming.end({ failure: silent }));
    const answered = editor
      .generate(
        requestOf(model, request),
        (part) => {
          silence.broken();
          incoming.take(part);
        },
        joined,
      )
      .then(
        ({ finish, usage }) => incoming.end({ finish, ...(usage === undefined ? {} : { usage }) }),
        (error: unknown) => incoming.end({ failure: failureOf(error, signal) }),
      );
    signal.addEventListener("abort", () => incoming.end({ failure: cancelled }), { once: true });
    if (signal.aborted) incoming.end({ failure: cancelled });
    try {
      yield* incoming.events(request);
    } finally {
      // A caller that no longer listens ends the request at the editor.
      ended.abort(new LaresError("RequestCancelled", "The answer is not needed any more."));
      void answered;
    }
  }
}

/** Watches whether an editor keeps sending parts. */
class Silence implements Disposable {
  readonly #clock: Pick<Clock, "monotonic" | "timer">;
  readonly #tooLong: () => void;
  #since: number;
  #timer: Disposable;

  constructor(clock: Pick<Clock, "monotonic" | "timer">, tooLong: () => void) {
    this.#clock = clock;
    this.#tooLong = tooLong;
    this.#since = clock.monotonic();
    this.#timer = clock.timer(maxSilenceMs, () => this.#look());
  }

  broken(): void {
    this.#since = this.#clock.monotonic();
  }

  [Symbol.dispose](): void {
    this.#timer[Symbol.dispose]();
  }

  /** One timer for an answer, and not one for each of its parts. */
  #look(): void {
    const leftMs = this.#since + maxSilenceMs - this.#clock.monotonic();
    if (leftMs <= 0) return this.#tooLong();
    this.#timer = this.#clock.timer(leftMs, () => this.#look());
  }
}

type End =
  | {
      readonly finish: Exclude<ModelFinish, "tool_calls">;
      readonly usage?: { readonly input_tokens: number; readonly output_tokens: number };
    }
  | { readonly failure: ModelFailure };

/** The parts of one answer that arrived, within bounds. A part that arrives after the end is dropped. */
class IncomingAnswer {
  readonly #tools: ReadonlySet<string>;
  readonly #waiting = new Fifo<ModelEvent>();
  readonly #parts: ModelAnswerPart[] = [];
  #characters = 0;
  /** What the model said, without the form of its calls. */
  #saidCharacters = 0;
  #count = 0;
  #end: End | null = null;
  #changed = Promise.withResolvers<void>();

  constructor(tools: ReadonlySet<string>) {
    this.#tools = tools;
  }

  take(part: EditorPart): void {
    if (this.#end !== null) return;
    this.#count++;
    this.#characters += "text" in part ? part.text.length : JSON.stringify(part).length;
    if (this.#characters > maxAnswerCharacters || this.#count > maxAnswerParts)
      return this.end({ failure: { class: "InvalidRequest", message: "The editor's answer is too long." } });
    if ("text" in part) this.#text(part.text);
    else this.#toolCall(part.tool_call);
  }

  end(end: End): void {
    this.#end ??= end;
    this.#wake();
  }

  /** Yields the parts as they arrive, then `done` or `failed`. */
  async *events(request: ModelRequest): AsyncGenerator<ModelEvent, void> {
    for (;;) {
      for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) yield next;
      const end = this.#end;
      if (end !== null) return yield "failure" in end ? { type: "failed", ...end } : this.#done(end, request);
      await this.#changed.promise;
      this.#changed = Promise.withResolvers();
    }
  }

  #text(text: string): void {
    this.#saidCharacters += text.length;
    const last = this.#parts.at(-1);
    if (last?.type === "text") this.#parts[this.#parts.length - 1] = { type: "text", text: last.text + text };
    else this.#parts.push({ type: "text", text });
    this.#waiting.push({ type: "text", text });
    this.#wake();
  }

  #toolCall({
    call,
    tool,
    arguments: given,
  }: Extract<EditorPart, { tool_call: unknown }>["tool_call"]): void {
    if (!this.#tools.has(tool))
      return this.end({
        failure: {
          class: "InvalidRequest",
          message: `The editor's model called ${JSON.stringify(tool)}, a tool that it was not offered.`,
        },
      });
    const text = JSON.stringify(given);
    this.#saidCharacters += tool.length + text.length;
    this.#parts.push({ type: "tool_call", call, tool, arguments: given });
    this.#waiting.push({ type: "tool_call", call, tool, text });
    this.#wake();
  }

  #done({ finish, usage }: Exclude<End, { failure: unknown }>, request: ModelRequest): ModelEvent {
    if (this.#parts.length === 0) return failed("EmptyAnswer", "The editor's model said nothing.");
    const calls = this.#parts.some(({ type }) => type === "tool_call");
    return {
      type: "done",
      parts: this.#parts,
      finish: calls && finish === "stop" ? "tool_calls" : finish,
      usage: {
        input_tokens: usage?.input_tokens ?? Math.ceil(JSON.stringify(request.messages).length / 4),
        // A model has generated at least the text that arrived here, whatever the client reports.
        output_tokens: Math.max(usage?.output_tokens ?? 0, Math.ceil(this.#saidCharacters / 4)),
      },
    };
  }

  #wake(): void {
    this.#changed.resolve();
  }
}

const failed = (failure: ModelFailureClass, message: string): ModelEvent => ({
  type: "failed",
  failure: { class: failure, message },
});
const silent: ModelFailure = {
  class: "Timeout",
  message: `The editor said nothing for ${maxSilenceMs / 60_000} minutes.`,
};
const cancelled: ModelFailure = { class: "Cancelled", message: "The request was cancelled." };

const classes: ReadonlySet<unknown> = new Set(modelFailureClasses);

/** The class is the client's own, where it names a known one; the sentence tells whose it is. */
function failureOf(error: unknown, signal: AbortSignal): ModelFailure {
  if (signal.aborted) return cancelled;
  const given = error instanceof LaresError && error.code === "ModelError" ? error.facts["class"] : undefined;
  return {
    class: classes.has(given) ? (given as ModelFailureClass) : "Network",
    message: `The editor's model did not answer: ${messageOf(error).slice(0, 500)}`,
  };
}

function requestOf(model: string, request: ModelRequest): EditorRequest {
  const { tools, max_output_tokens: most, temperature, schema, messages } = request;
  const wanted: EditorMessage[] =
    schema === undefined
      ? []
      : [
          {
            role: "system",
            parts: [
              {
                type: "text",
                text: `Answer with JSON alone, without any words around it. It must fit this JSON Schema: ${JSON.stringify(schema)}`,
              },
            ],
          },
        ];
  return {
    model,
    messages: [...wanted, ...messages.map(messageFor)],
    ...(tools === undefined || request.tool_choice === "none" ? {} : { tools }),
    ...(most === undefined ? {} : { maxOutputTokens: most }),
    ...(temperature === undefined ? {} : { temperature }),
  };
}

/** Leaves out the reasoning of other models. Editors have no form for pictures, so a sentence stands in their place. */
function messageFor(message: ModelMessage): EditorMessage {
  switch (message.role) {
    case "system":
      return { role: "system", parts: [{ type: "text", text: message.text }] };
    case "user":
      return { role: "user", parts: message.parts.filter((part) => part.type === "text") };
    case "assistant":
      return {
        role: "assistant",
        parts: message.parts.flatMap((part): EditorMessage["parts"] => {
          if (part.type === "reasoning") return [];
          if (part.type === "text") return [part];
          const { type, call, tool } = part;
          return [{ type, call, tool, arguments: part.arguments as JsonValue }];
        }),
      };
    case "tool":
      return {
        role: "user",
        parts: message.parts.map(({ call, text }) => ({ type: "tool_result", call, text })),
      };
  }
}
