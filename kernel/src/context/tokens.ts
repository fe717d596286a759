import type { ModelMessage, ModelTool, ModelUsage } from "../base/vocabulary/model.ts";

/** The maximum number of tokens for an image, over all providers that publish one. */
export const imageTokens = 1_600;
/** The overhead of a message, a call and a tool, besides their text. */
const overheadTokens = 12;

/**
 * Returns an estimate of the text's tokens that is rather too high: 20 % above common tokenizers for prose, more for
 * code. Text without words (base64, hashes) and text beyond ASCII are counted by the character.
 */
export function estimateTokens(text: string): number {
  let tokens = 0;
  for (let at = 0; at < text.length;) {
    const code = text.charCodeAt(at);
    if (code >= 0x80) {
      tokens += code < 0x800 ? 1 : 1.5;
      at++;
      continue;
    }
    const codeEnd = endOfCode(text, at);
    if (codeEnd > at) {
      tokens += (codeEnd - at) * 0.75;
      at = codeEnd;
      continue;
    }
    const end = endOfRun(text, at, code);
    const length = end - at;
    if (isLetter(code)) tokens += Math.ceil(length / (isUpper(text.charCodeAt(end - 1)) ? 2 : 4));
    else if (isDigit(code)) tokens += Math.ceil(length * 0.6);
    else if (!isBlank(code)) tokens += 1 + (length - 1) / 4;
    // A single space belongs to what follows it.
    else if (code !== space || length > 1) tokens += Math.ceil(length / 4);
    at = end;
  }
  return Math.ceil(tokens);
}

/** The length from which letters mixed with digits are not a word of any language. */
const leastCode = 12;

/** Returns the end of letters mixed with digits (base64, a hash), if they begin here; else the place itself. */
function endOfCode(text: string, from: number): number {
  // Within a word that was looked at already.
  if (from > 0 && isAlphanumeric(text.charCodeAt(from - 1))) return from;
  let at = from;
  let digits = 0;
  for (; at < text.length && isAlphanumeric(text.charCodeAt(at)); at++)
    if (isDigit(text.charCodeAt(at))) digits++;
  return at - from >= leastCode && digits > 0 && digits < at - from ? at : from;
}

/** Returns the end of a word (`Word`, `word`, `WORD`), a number, blanks, or a sign that is repeated. */
function endOfRun(text: string, from: number, code: number): number {
  let at = from + 1;
  let is: (other: number) => boolean = (other) => other === code;
  if (isLetter(code)) is = isUpper(code) && isUpper(text.charCodeAt(at)) ? isUpper : isLower;
  else if (isDigit(code)) is = isDigit;
  else if (isBlank(code)) is = isBlank;
  while (at < text.length && is(text.charCodeAt(at))) at++;
  return at;
}

const space = 0x20;
const isUpper = (code: number): boolean => code >= 0x41 && code <= 0x5a;
const isLower = (code: number): boolean => code >= 0x61 && code <= 0x7a;
const isLetter = (code: number): boolean => isUpper(code) || isLower(code);
const isDigit = (code: number): boolean => code >= 0x30 && code <= 0x39;
const isAlphanumeric = (code: number): boolean => isLetter(code) || isDigit(code);
const isBlank = (code: number): boolean => code === space || (code >= 0x09 && code <= 0x0d);

/** Returns an estimate of what a message takes in a request to the model. */
export function messageTokens(message: ModelMessage, model: string): number {
  if (message.role === "system") return overheadTokens + estimateTokens(message.text);
  let tokens = overheadTokens;
  for (const part of message.parts)
    switch (part.type) {
      case "text":
        tokens += estimateTokens(part.text);
        break;
      case "image":
        tokens += imageTokens;
        break;
      case "reasoning":
        // It is sent to the model that made it, and to no other.
        if (part.opaque?.model === model) tokens += estimateTokens(part.text) + opaqueTokens(part.opaque);
        break;
      case "tool_call":
        tokens += overheadTokens + estimateTokens(part.tool) + estimateTokens(jsonText(part.arguments));
        if (part.opaque?.model === model) tokens += opaqueTokens(part.opaque);
        break;
      case "tool_result":
        tokens += overheadTokens + estimateTokens(part.text);
        break;
    }
  return tokens;
}

/** By tool: contexts share them. */
const tokensOfTools = new WeakMap<ModelTool, number>();

/** Returns an estimate of what a tool takes in a request. */
export function toolTokens(tool: ModelTool): number {
  const known = tokensOfTools.get(tool);
  if (known !== undefined) return known;
  const { name, description, parameters } = tool;
  const tokens = overheadTokens + estimateTokens(`${name}\n${description}\n${jsonText(parameters)}`);
  tokensOfTools.set(tool, tokens);
  return tokens;
}

const opaqueTokens = ({ value }: { readonly value: unknown }): number =>
  Math.ceil(jsonText(value).length / 4);

/** Returns the value as JSON; empty for a value that has none. */
export function jsonText(value: unknown): string {
  return JSON.stringify(value) ?? "";
}

/**
 * Returns the size of the context: the input of the last request as its provider counted it, cached tokens included,
 * and an estimate of what was added since.
 */
export function contextTokens(counted: ModelUsage, addedTokens: number): number {
  const { input_tokens: input, cache_read_tokens: read = 0, cache_write_tokens: written = 0 } = counted;
  return input + read + written + addedTokens;
}

/** How urgently older entries must leave the context. */
export type Pressure = "none" | "background" | "aggressive" | "emergency";

/** Returns the pressure at so many tokens of a window. Thresholds are shares of the window. */
export function pressureOf(
  tokens: number,
  limit: number,
  thresholds: { readonly background: number; readonly aggressive: number; readonly emergency: number },
): Pressure {
  if (tokens >= limit * thresholds.emergency) return "emergency";
  if (tokens >= limit * thresholds.aggressive) return "aggressive";
  return tokens >= limit * thresholds.background ? "background" : "none";
}
