import type { ModelMessage, ModelRequest, ModelUsage } from "../base/vocabulary/model.ts";

export function totalTokens(usage: ModelUsage): number {
  return (
    usage.input_tokens +
    usage.output_tokens +
    (usage.cache_read_tokens ?? 0) +
    (usage.cache_write_tokens ?? 0)
  );
}

/** The maximum number of tokens for an image, over all providers that publish one. */
const imageTokens = 1_600;
/** The overhead of a message and of a tool, besides their text. Tokens. */
const overheadTokens = 12;

/** Returns an estimate of the request's size in tokens, for use until the provider has counted. */
export function estimatedInputTokens(request: ModelRequest): number {
  return inputTokens(request, 4);
}

/**
 * Returns an upper bound of the request's size in tokens: all common tokenizers average at least two bytes per token.
 */
export function maxInputTokens(request: ModelRequest): number {
  return inputTokens(request, 2);
}

function inputTokens({ messages, tools = [], schema }: ModelRequest, bytesPerToken: number): number {
  let bytes = schema === undefined ? 0 : utf8Length(JSON.stringify(schema));
  let fixed = 0;
  for (const message of messages) {
    fixed += overheadTokens;
    for (const text of textsOf(message)) bytes += utf8Length(text);
    if (message.role === "user")
      fixed += message.parts.filter(({ type }) => type === "image").length * imageTokens;
  }
  for (const tool of tools) {
    fixed += overheadTokens;
    bytes +=
      utf8Length(tool.name) + utf8Length(tool.description) + utf8Length(JSON.stringify(tool.parameters));
  }
  return fixed + Math.ceil(bytes / bytesPerToken);
}

function* textsOf(message: ModelMessage): Iterable<string> {
  if (message.role === "system") {
    yield message.text;
    return;
  }
  for (const part of message.parts)
    switch (part.type) {
      case "text":
        yield part.text;
        break;
      case "reasoning":
        yield part.text;
        if (part.opaque !== undefined) yield JSON.stringify(part.opaque.value) ?? "";
        break;
      case "tool_call":
        yield part.tool;
        yield JSON.stringify(part.arguments) ?? "";
        break;
      case "tool_result":
        yield part.text;
        break;
      case "image":
        break;
    }
}

function utf8Length(text: string): number {
  let length = text.length;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code < 0x80) continue;
    // Each half of a surrogate pair counts as two of its four bytes.
    length += code < 0x800 || (code >= 0xd800 && code <= 0xdfff) ? 1 : 2;
  }
  return length;
}
