import { PrefixFold } from "../base/prefix-fold.ts";
import { hasPictureBytes } from "./pictures.ts";
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
  return inputTokens(request, estimate);
}

/** Returns an upper bound of the request's size in tokens, also for texts that are made to take many of them. */
export function maxInputTokens(request: ModelRequest): number {
  return inputTokens(request, most);
}

/** A way to count, and what was counted: requests of one conversation share most of their messages and tools. */
class Count {
  readonly of: (text: string) => number;
  /** By part, system message, and parameters of a tool. */
  readonly known = new WeakMap<object, number>();
  readonly messages: PrefixFold<ModelMessage, number>;

  constructor(of: (text: string) => number) {
    this.of = of;
    this.messages = new PrefixFold<ModelMessage, number>({
      begin: () => 0,
      take: (sum, message) => sum + this.#message(message),
      copy: (sum) => sum,
      holds: (message) => !hasPictureBytes(message),
    });
  }

  #message(message: ModelMessage): number {
    let tokens = overheadTokens;
    for (const part of message.role === "system" ? [message] : message.parts) {
      tokens += countedOnce(this.known, part, () =>
        textsOf(part).reduce((sum, text) => sum + this.of(text), 0),
      );
      if ("type" in part && part.type === "image") tokens += imageTokens;
    }
    return tokens;
  }
}

const most = new Count(maxTextTokens);
const estimate = new Count((text) => utf8Length(text) / 4);

function inputTokens({ messages, tools = [], schema }: ModelRequest, count: Count): number {
  let tokens = count.messages.over(messages);
  if (schema !== undefined) tokens += count.of(JSON.stringify(schema));
  for (const { name, description, parameters } of tools) {
    tokens += overheadTokens + count.of(name) + count.of(description);
    tokens += countedOnce(count.known, parameters, () => count.of(JSON.stringify(parameters)));
  }
  return Math.ceil(tokens);
}

function countedOnce(known: WeakMap<object, number>, counted: object, count: () => number): number {
  const before = known.get(counted);
  if (before !== undefined) return before;
  const tokens = count();
  known.set(counted, tokens);
  return tokens;
}

type MessagePart = Exclude<ModelMessage, { role: "system" }>["parts"][number];

function textsOf(part: MessagePart | Extract<ModelMessage, { role: "system" }>): string[] {
  if ("role" in part) return [part.text];
  switch (part.type) {
    case "text":
    case "tool_result":
      return [part.text];
    case "reasoning":
      return [part.text, ...(part.opaque === undefined ? [] : [JSON.stringify(part.opaque.value) ?? ""])];
    case "tool_call":
      return [part.tool, JSON.stringify(part.arguments) ?? ""];
    case "image":
      return [];
  }
}

/**
 * Returns an upper bound of a text's size in tokens. No common tokenizer takes more: one token for each digit, sign and byte beyond ASCII, one for two letters within a word,
 * and none for the space before a word.
 */
export function maxTextTokens(text: string): number {
  let tokens = 0;
  let before = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code >= 0x80) tokens += code < 0x800 || (code >= 0xd800 && code <= 0xdfff) ? 2 : 3;
    else if (isLower(code) && isLetter(before)) tokens += 0.5;
    else if (code !== space || !isLetter(text.charCodeAt(at + 1))) tokens += 1;
    before = code;
  }
  return tokens;
}

const space = 0x20;
const isLower = (code: number): boolean => code >= 0x61 && code <= 0x7a;
const isLetter = (code: number): boolean => isLower(code | 0x20) && code < 0x80;

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
