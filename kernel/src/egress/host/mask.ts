import type { ModelMessage, ModelRequest } from "../../base/vocabulary/model.ts";
import { ExactSecrets, type KnownSecret } from "../known-secrets.ts";
import type { SecretScanner } from "../../secret-scan/scanner.ts";

/**
 * Returns the request with every secret in its texts replaced by a mark, the same for the same text, so that a cached
 * prefix stays valid. A request is never refused: an old entry would end its conversation. What a provider wants back
 * byte by byte stays as it is.
 */
export function maskedRequest(
  request: ModelRequest,
  known: readonly KnownSecret[],
  scanner: SecretScanner,
): ModelRequest {
  const masked = maskOf(new ExactSecrets(known), scanner);
  const deeply = <Value>(value: Value): Value => {
    const text = JSON.stringify(value);
    if (text === undefined || masked(text) === text) return value;
    return mapTexts(value, masked) as Value;
  };
  return {
    ...request,
    messages: request.messages.map((message) => maskedMessage(message, masked, deeply)),
    ...(request.tools === undefined
      ? {}
      : { tools: request.tools.map((tool) => ({ ...tool, description: masked(tool.description) })) }),
  };
}

/** Returns what replaces secrets by marks, the same for the same text. */
export function maskOf(exact: ExactSecrets, scanner: SecretScanner): (text: string) => string {
  const mark = (rule: string): string => `[secret: ${rule}]`;
  return (text) =>
    scanner.replace(
      exact.redactText(text, () => mark("stored secret")),
      mark,
    );
}

function maskedMessage(
  message: ModelMessage,
  masked: (text: string) => string,
  deeply: <Value>(value: Value) => Value,
): ModelMessage {
  switch (message.role) {
    case "system":
      return { ...message, text: masked(message.text) };
    case "user":
      return {
        ...message,
        parts: message.parts.map((part) =>
          part.type === "text" ? { ...part, text: masked(part.text) } : part,
        ),
      };
    case "tool":
      return { ...message, parts: message.parts.map((part) => ({ ...part, text: masked(part.text) })) };
    case "assistant":
      return {
        ...message,
        parts: message.parts.map((part) => {
          if (part.type === "tool_call") return { ...part, arguments: deeply(part.arguments) };
          return "opaque" in part && part.opaque !== undefined ? part : { ...part, text: masked(part.text) };
        }),
      };
  }
}

function mapTexts(value: unknown, map: (text: string) => string): unknown {
  if (typeof value === "string") return map(value);
  if (Array.isArray(value)) return value.map((item) => mapTexts(item, map));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, mapTexts(item, map)]));
}
