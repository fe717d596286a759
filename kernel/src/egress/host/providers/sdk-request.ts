import type {
  JSONSchema7,
  LanguageModelV4CallOptions,
  LanguageModelV4Message,
  SharedV4ProviderOptions,
} from "@ai-sdk/provider";
import type { ModelMessage, ModelRequest } from "../../../base/vocabulary/model.ts";
import type { SdkApi } from "./sdk-apis.ts";

type AssistantContent = Extract<LanguageModelV4Message, { role: "assistant" }>["content"];

/** The maximum that Anthropic accepts. */
const maxCachePoints = 4;

/** Returns the request in the form that the SDKs take. */
export function sdkRequest(
  request: ModelRequest,
  api: SdkApi,
  signal: AbortSignal,
): LanguageModelV4CallOptions {
  const { tools, tool_choice: choice, schema, max_output_tokens: most, temperature } = request;
  return {
    prompt: promptOf(request, api),
    ...(tools === undefined
      ? {}
      : {
          tools: tools.map(({ name, description, parameters }) => ({
            type: "function",
            name,
            description,
            inputSchema: parameters as JSONSchema7,
            ...(api.toolsAreStrict === undefined ? {} : { strict: api.toolsAreStrict }),
          })),
        }),
    ...(tools === undefined || choice === undefined ? {} : { toolChoice: { type: choice } }),
    ...(schema === undefined
      ? {}
      : { responseFormat: { type: "json", schema: schema as JSONSchema7, name: "answer" } }),
    ...(most === undefined ? {} : { maxOutputTokens: most }),
    ...(temperature === undefined ? {} : { temperature }),
    ...(api.optionsFor === undefined ? {} : { providerOptions: api.optionsFor(request) }),
    abortSignal: signal,
  };
}

function promptOf({ messages, model }: ModelRequest, api: SdkApi): LanguageModelV4Message[] {
  const cached = cachePoints(messages);
  const lastUser = messages.findLastIndex(({ role }) => role === "user");
  const toolOf = new Map<string, string>();
  return messages.map((message, index): LanguageModelV4Message => {
    const options =
      api.cachePoint !== undefined && cached.has(index) ? { providerOptions: api.cachePoint } : {};
    switch (message.role) {
      case "system":
        return { role: "system", content: message.text, ...options };
      case "user":
        return {
          role: "user",
          content: message.parts.map((part) =>
            part.type === "text"
              ? { type: "text", text: part.text }
              : {
                  type: "file",
                  mediaType: part.media_type,
                  data: { type: "data", data: part.base64 },
                  ...(api.imageOptions === undefined ? {} : { providerOptions: api.imageOptions }),
                },
          ),
          ...options,
        };
      case "assistant":
        for (const part of message.parts) if (part.type === "tool_call") toolOf.set(part.call, part.tool);
        return {
          role: "assistant",
          content: message.parts.flatMap((part): AssistantContent => {
            if (part.type === "text") return [{ type: "text", text: part.text }];
            const own = part.opaque?.model === model ? part.opaque.value : undefined;
            const metadata = isMetadata(own) ? { providerOptions: own } : {};
            if (part.type === "tool_call")
              return [
                {
                  type: "tool-call",
                  toolCallId: part.call,
                  toolName: part.tool,
                  input: part.arguments,
                  ...metadata,
                },
              ];
            // Reasoning is never shown to another model, and some is of use only within its own turn.
            if (own === undefined || (api.reasoningEndsWithTurn && index < lastUser)) return [];
            return [{ type: "reasoning", text: part.text, ...metadata }];
          }),
          ...options,
        };
      case "tool":
        return {
          role: "tool",
          content: message.parts.map(({ call, text, is_error: isError }) => ({
            type: "tool-result",
            toolCallId: call,
            toolName: toolOf.get(call) ?? "unknown",
            output:
              isError !== true
                ? { type: "text", value: text }
                : api.marksErrors
                  ? { type: "error-text", value: text }
                  : { type: "text", value: `Error: ${text}` },
          })),
          ...options,
        };
    }
  });
}

/** Returns the messages with a cache point: the first, whose prefix never changes, and the latest. */
function cachePoints(messages: readonly ModelMessage[]): ReadonlySet<number> {
  const all = messages.flatMap(({ cache }, index) => (cache === true ? [index] : []));
  if (all.length <= maxCachePoints) return new Set(all);
  return new Set([...all.slice(0, 1), ...all.slice(1 - maxCachePoints)]);
}

function isMetadata(value: unknown): value is SharedV4ProviderOptions {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
