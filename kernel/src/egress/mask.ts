import { pictureText } from "../base/pictures.ts";
import type { ModelImage, ModelMessage, ModelRequest, ModelText } from "../base/vocabulary/model.ts";
import { ExactSecrets, type KnownSecret } from "./known-secrets.ts";
import type { SecretScanner } from "../secret-scan/scanner.ts";

/**
 * Returns the request with every secret in its texts replaced by a mark, the same for the same text, so that a cached
 * prefix stays valid. A request is never refused: an old entry would end its conversation. What a provider wants back
 * byte by byte stays as it is. Each message is a step.
 */
export function* maskingRequest(
  request: ModelRequest,
  known: readonly KnownSecret[],
  scanner: SecretScanner,
): Generator<void, ModelRequest> {
  const exact = new ExactSecrets(known);
  const masked = maskOf(exact, scanner);
  const { schema, tools } = request;
  const messages: ModelMessage[] = [];
  for (const message of request.messages) {
    messages.push(yield* withoutTellingPictures(maskedMessage(message, masked), exact, masked));
    yield;
  }
  return {
    ...request,
    messages,
    ...(tools === undefined
      ? {}
      : {
          tools: tools.map((tool) => ({
            ...tool,
            description: masked(tool.description),
            parameters: maskedDeep(tool.parameters, masked),
          })),
        }),
    ...(schema === undefined ? {} : { schema: maskedDeep(schema, masked) }),
  };
}

type Masked = (text: string) => string;

/** Characters of a name that are read together with its value. */
const maxNameLength = 256;

/** Returns what replaces secrets by marks, the same for the same text. */
export function maskOf(exact: ExactSecrets, scanner: SecretScanner): Masked {
  const mark = (rule: string): string => `[secret: ${rule}]`;
  return (text) =>
    scanner.replace(
      exact.redactText(text, () => mark("stored secret")),
      mark,
    );
}

function maskedMessage(message: ModelMessage, masked: Masked): ModelMessage {
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
          if (part.type === "tool_call") return { ...part, arguments: maskedDeep(part.arguments, masked) };
          return "opaque" in part && part.opaque !== undefined ? part : { ...part, text: masked(part.text) };
        }),
      };
  }
}

/** Shorter runs of text are ignored in a picture: they occur in the pixels of any picture. */
const textsInBytes = /[\x20-\x7e]{16,}/g;
const withheld = "not sent, because a secret stands in its bytes";

/**
 * Leaves out pictures whose bytes hold a secret as text, as comments and appended files do. Pixels and compressed parts are
 * not read. Each picture is a step.
 */
function* withoutTellingPictures(
  message: ModelMessage,
  exact: ExactSecrets,
  masked: Masked,
): Generator<void, ModelMessage> {
  if (message.role !== "user" || !message.parts.some(({ type }) => type === "image")) return message;
  const parts: (ModelText | ModelImage)[] = [];
  for (const part of message.parts) {
    if (part.type === "text") {
      parts.push(part);
      continue;
    }
    const bytes = Buffer.from(part.base64, "base64");
    const isKnown = (yield* exact.finding(bytes)) !== null;
    yield;
    const texts = bytes.toString("latin1").match(textsInBytes)?.join("\n") ?? "";
    const tells = isKnown || masked(texts) !== texts;
    parts.push(tells ? { type: "text", text: pictureText(part.media_type, bytes.length, withheld) } : part);
    yield;
  }
  return { ...message, parts };
}

/** Returns the JSON value with its texts and names masked. */
function maskedDeep<Value>(value: Value, masked: Masked, name?: string): Value {
  return maskedValue(value, masked, name) as Value;
}

function maskedValue(value: unknown, masked: Masked, name?: string): unknown {
  if (typeof value === "string") return maskedText(value, masked, name);
  if (Array.isArray(value)) return value.map((item) => maskedValue(item, masked, name));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [masked(key), maskedValue(item, masked, key)]),
  );
}

/** A pattern may know a secret only by its name, as in `"password": "…"`. */
function maskedText(text: string, masked: Masked, name: string | undefined): string {
  if (name === undefined) return masked(text);
  const before = `"${name.slice(-maxNameLength)}": "`;
  const named = masked(`${before}${text}"`);
  if (named.startsWith(before) && named.endsWith('"')) return named.slice(before.length, -1);
  const start = named.indexOf("[secret: ");
  const end = start === -1 ? -1 : named.indexOf("]", start);
  return end === -1 ? masked(text) : named.slice(start, end + 1);
}
