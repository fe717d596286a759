import type { ModelEvent, ModelMessage, ModelRequest } from "../../../base/vocabulary/model.ts";
import { AnswerBuilder, type OpenText } from "./answer.ts";
import type { Exchange } from "./exchange.ts";
import { endedEarly, type FailureContext, failureOfEvent, ModelFault } from "./failures.ts";
import type { ModelCall } from "./model-call.ts";

/**
 * The window that is requested if the document names none. With its own default of 4,096, Ollama drops the tools first.
 * If a model's window is smaller, Ollama uses that.
 */
const defaultContextTokens = 32_768;

/** One attempt through Ollama's own API. Throws if the attempt fails. */
export async function* ollamaAnswer(
  { provider, key, request }: ModelCall,
  exchange: Exchange,
  context: FailureContext,
  signal: AbortSignal,
): AsyncGenerator<ModelEvent, void> {
  const response = await exchange.fetch(`${provider.baseUrl}/api/chat`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/x-ndjson",
      ...(key === null ? {} : { authorization: `Bearer ${key}` }),
    },
    body: JSON.stringify(chatRequest(request, context.model, provider.contextTokens ?? defaultContextTokens)),
    signal,
  });
  const builder = new AnswerBuilder(request, context, true);
  let open: OpenText | null = null;
  for await (const line of linesOf(response)) {
    const words = wordsOf(line);
    if (words === null) throw new ModelFault(endedEarly(context));
    if (words.error !== undefined) throw new ModelFault(failureOfEvent(words, context));
    for (const [type, text] of [
      ["reasoning", words.message?.thinking],
      ["text", words.message?.content],
    ] as const) {
      if (typeof text !== "string" || text === "") continue;
      if (open?.type !== type) {
        open = builder.begin(type);
        if (type === "reasoning") builder.keep(open, null);
      }
      const delta = builder.add(open, text);
      if (delta !== null) yield delta;
    }
    for (const call of words.message?.tool_calls ?? []) {
      const { name, arguments: given = {} } = call?.function ?? {};
      if (typeof name !== "string") continue;
      // Ollama's identifiers of calls repeat from one answer to the next, so they are not used.
      const delta = builder.add(
        builder.beginCall(null, name),
        typeof given === "string" ? given : JSON.stringify(given),
      );
      if (delta !== null) yield delta;
    }
    if (words.done !== true) continue;
    yield builder.end(words.done_reason === "length" ? "length" : "stop", {
      input_tokens: words.prompt_eval_count,
      output_tokens: words.eval_count,
    });
    return;
  }
  throw new ModelFault(endedEarly(context));
}

function chatRequest(request: ModelRequest, model: string, contextTokens: number) {
  const { messages, tools = [], tool_choice: choice, schema, temperature } = request;
  const { max_output_tokens: most } = request;
  const toolOf = new Map<string, string>();
  const lastUser = messages.findLastIndex(({ role }) => role === "user");
  return {
    model,
    messages: messages.flatMap((message, index) =>
      chatMessages(message, { model: request.model, toolOf, isThisTurn: index > lastUser }),
    ),
    // Ollama has no tool choice, so tools that must not be called are left out.
    ...(tools.length === 0 || choice === "none"
      ? {}
      : { tools: tools.map((tool) => ({ type: "function", function: tool })) }),
    ...(schema === undefined ? {} : { format: schema }),
    stream: true,
    // Makes Ollama report a history that is too long instead of shortening it silently.
    truncate: false,
    shift: false,
    options: {
      num_ctx: contextTokens,
      ...(most === undefined ? {} : { num_predict: most }),
      ...(temperature === undefined ? {} : { temperature }),
    },
  };
}

function chatMessages(
  message: ModelMessage,
  { model, toolOf, isThisTurn }: { model: string; toolOf: Map<string, string>; isThisTurn: boolean },
): readonly Readonly<Record<string, unknown>>[] {
  switch (message.role) {
    case "system":
      return [{ role: "system", content: message.text }];
    case "user": {
      const images = message.parts.flatMap((part) => (part.type === "image" ? [part.base64] : []));
      return [
        {
          role: "user",
          content: textsOf(message.parts).join("\n\n"),
          ...(images.length === 0 ? {} : { images }),
        },
      ];
    }
    case "assistant": {
      const calls = message.parts.filter((part) => part.type === "tool_call");
      for (const { call, tool } of calls) toolOf.set(call, tool);
      const thinking = message.parts
        .map((part) => (part.type === "reasoning" && part.opaque?.model === model ? part.text : ""))
        .join("");
      return [
        {
          role: "assistant",
          content: textsOf(message.parts).join(""),
          // Chat templates take a model's reasoning only while its tools run.
          ...(thinking === "" || !isThisTurn ? {} : { thinking }),
          ...(calls.length === 0
            ? {}
            : {
                tool_calls: calls.map(({ call, tool, arguments: given }) => ({
                  id: call,
                  function: { name: tool, arguments: given },
                })),
              }),
        },
      ];
    }
    case "tool":
      return message.parts.map(({ call, text, is_error: isError }) => ({
        role: "tool",
        content: isError === true ? `Error: ${text}` : text,
        tool_name: toolOf.get(call) ?? "unknown",
        tool_call_id: call,
      }));
  }
}

function textsOf(parts: readonly { readonly type: string; readonly text?: string }[]): readonly string[] {
  return parts.flatMap((part) => (part.type === "text" ? [part.text ?? ""] : []));
}

interface OllamaWords {
  readonly error?: unknown;
  readonly message?: {
    readonly content?: unknown;
    readonly thinking?: unknown;
    readonly tool_calls?: readonly { readonly function?: { name?: unknown; arguments?: unknown } }[];
  };
  readonly done?: unknown;
  readonly done_reason?: unknown;
  readonly prompt_eval_count?: number;
  readonly eval_count?: number;
}

/** Returns a line of the answer; null if it is not one. */
function wordsOf(line: string): OllamaWords | null {
  try {
    const value = JSON.parse(line) as OllamaWords | null;
    const calls: unknown = value?.message?.tool_calls ?? [];
    return typeof value === "object" && Array.isArray(calls) ? value : null;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return null;
  }
}

/** The lines of a body; a last one without an end is one too. */
async function* linesOf(response: Response): AsyncGenerator<string, void> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of response.body ?? []) {
    const text = decoder.decode(chunk, { stream: true });
    if (!text.includes("\n")) {
      rest += text;
      continue;
    }
    const lines = `${rest}${text}`.split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) if (/\S/.test(line)) yield line;
  }
  if (/\S/.test(rest)) yield rest;
}
