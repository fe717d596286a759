import { bytesOfBase64, pictureText } from "../base/pictures.ts";
import type {
  ModelAnswerPart,
  ModelImage,
  ModelMessage,
  ModelRequest,
  ModelText,
  ModelToolCall,
  ModelToolResult,
} from "../base/vocabulary/model.ts";
import type { Dialect } from "./dialect.ts";
import { Identifiers } from "./identifiers.ts";

type RepairKind =
  | "result_missing"
  | "result_without_call"
  | "result_moved"
  | "identifier_changed"
  | "arguments_wrapped"
  | "reasoning_left_out"
  | "image_left_out"
  | "empty_left_out"
  | "system_moved"
  | "turn_added"
  | "turns_merged"
  | "text_mended"
  | "tools_declared";

/** A change that was necessary for providers to accept the history. `message` is the index in the given messages. */
export interface Repair {
  readonly kind: RepairKind;
  readonly message: number;
}

interface Normalized {
  readonly request: ModelRequest;
  readonly repairs: readonly Repair[];
  /** Tool names as the model sees them; maps a call in the answer to its tool. */
  readonly tools: Identifiers;
}

const unseen = "this model takes no pictures";

/** Replaces the missing result of a call. */
export const interruptedResult = "Interrupted; whether it took effect is unknown.";

/**
 * Returns the request in a form that the provider accepts, for any history: every call has exactly one result,
 * directly after it; identifiers are valid; opaque parts go only to the model that made them; no message is empty;
 * turns alternate if the provider requires it. Pure. Valid messages are not changed, so a cached prefix stays the
 * same.
 */
export function normalize(
  request: ModelRequest,
  dialect: Dialect,
  knownTools: Iterable<readonly [string, string]> = [],
): Normalized {
  const tools = new Identifiers(knownTools);
  const repairs: Repair[] = [];
  const offered = request.tools?.map((tool) => ({ ...tool, name: tools.of(tool.name) })) ?? [];
  const history = new History(request, dialect, tools, repairs);
  const messages = history.write();

  const { tools: _, tool_choice: choice, ...rest } = request;
  const result: ModelRequest = { ...rest, messages };
  if (offered.length > 0)
    return {
      request: { ...result, tools: offered, ...(choice === undefined ? {} : { tool_choice: choice }) },
      repairs,
      tools,
    };
  if (!dialect.declaresCalledTools || history.called.size === 0) return { request: result, repairs, tools };
  repairs.push({ kind: "tools_declared", message: request.messages.length });
  const declared = [...history.called].map((name) => ({
    name,
    description: "Not available any more.",
    parameters: { type: "object" },
  }));
  return { request: { ...result, tools: declared, tool_choice: "none" }, repairs, tools };
}

/** A call of the history and the result that belongs to it. */
interface Pair {
  readonly result?: ModelToolResult;
  /** True if there is another message between the two. */
  readonly isApart: boolean;
}

class History {
  readonly #request: ModelRequest;
  readonly #dialect: Dialect;
  readonly #tools: Identifiers;
  readonly #calls = new Identifiers();
  readonly #repairs: Repair[];
  readonly #written: ModelMessage[] = [];
  /** The tools that were called, by the names that the model sees. */
  readonly called = new Set<string>();

  constructor(request: ModelRequest, dialect: Dialect, tools: Identifiers, repairs: Repair[]) {
    this.#request = request;
    this.#dialect = dialect;
    this.#tools = tools;
    this.#repairs = repairs;
  }

  write(): readonly ModelMessage[] {
    const { messages } = this.#request;
    const pairs = this.#pair();
    for (const [index, message] of messages.entries())
      switch (message.role) {
        case "system":
          this.#system(message, index);
          break;
        case "user":
          this.#user(message, index);
          break;
        case "assistant":
          this.#assistant(message, index, pairs);
          break;
        case "tool":
          // The results were added after their calls already; a cache point moves to them.
          if (message.cache === true) this.#markCache();
          break;
      }
    // A late system message may be the last one, behind a turn.
    const last = this.#written.findLast(({ role }) => role !== "system")?.role;
    if (last === undefined || (last === "assistant" && this.#dialect.alternates))
      this.#addTurn(messages.length);
    return this.#written;
  }

  /**
   * Finds the result of each call. Some models reuse one id for every call: a reused id leaves its earlier calls
   * without a result, and equal ids within one message are matched in order.
   */
  #pair(): ReadonlyMap<ModelToolCall, Pair> {
    const pairs = new Map<ModelToolCall, Pair>();
    const open = new Map<string, { readonly calls: ModelToolCall[]; readonly message: number }>();
    let lastSpoken = -1;
    for (const [index, message] of this.#request.messages.entries()) {
      if (message.role === "assistant")
        for (const part of message.parts) {
          if (part.type !== "tool_call") continue;
          const waiting = open.get(part.call);
          if (waiting?.message === index) waiting.calls.push(part);
          else open.set(part.call, { calls: [part], message: index });
        }
      if (message.role !== "tool") {
        lastSpoken = index;
        continue;
      }
      for (const result of message.parts) {
        const waiting = open.get(result.call);
        const call = waiting?.calls.shift();
        if (waiting === undefined || call === undefined) this.#repaired("result_without_call", index);
        else pairs.set(call, { result, isApart: lastSpoken !== waiting.message });
      }
    }
    return pairs;
  }

  #system(message: Extract<ModelMessage, { role: "system" }>, index: number): void {
    if (isBlank(message.text)) return this.#repaired("empty_left_out", index);
    const text = this.#text(message.text, index);
    if (this.#dialect.lateSystem || this.#written.every(({ role }) => role === "system")) {
      this.#written.push(text === message.text ? message : { ...message, text });
      return;
    }
    this.#repaired("system_moved", index);
    const at = this.#dialect.wordsLast ? this.#written.findLastIndex(({ role }) => role === "user") : -1;
    const words = this.#written[at];
    if (words?.role === "user") {
      this.#written[at] = { ...words, parts: [{ type: "text", text }, ...words.parts] };
      return;
    }
    this.#push({ role: "user", parts: [{ type: "text", text }], ...cacheOf(message) }, index);
  }

  #user(message: Extract<ModelMessage, { role: "user" }>, index: number): void {
    const parts = message.parts.flatMap((part): readonly (ModelText | ModelImage)[] => {
      if (part.type === "text") return this.#textPart(part, index);
      if (this.#dialect.images) return [part];
      this.#repaired("image_left_out", index);
      return [{ type: "text", text: pictureText(part.media_type, bytesOfBase64(part.base64), unseen) }];
    });
    if (parts.length === 0) return this.#leftOut(message, index);
    this.#push(isSame(parts, message.parts) ? message : { ...message, parts }, index);
  }

  #assistant(
    message: Extract<ModelMessage, { role: "assistant" }>,
    index: number,
    pairs: ReadonlyMap<ModelToolCall, Pair>,
  ): void {
    const results: ModelToolResult[] = [];
    const parts = message.parts.flatMap((part): readonly ModelAnswerPart[] => {
      switch (part.type) {
        case "text":
          return this.#textPart(part, index);
        case "reasoning":
          if (part.opaque?.model === this.#request.model) return [part];
          this.#repaired("reasoning_left_out", index);
          return [];
        case "tool_call": {
          const call = this.#call(part, index);
          results.push(this.#result(pairs.get(part), call.call, index));
          return [call];
        }
      }
    });
    if (!parts.some(({ type }) => type !== "reasoning")) return this.#leftOut(message, index);
    // Providers count a call and its results as one exchange, so a cache point on the call moves behind its results.
    const { cache, ...rest } = message;
    if (results.length > 0 && cache !== undefined) this.#push({ ...rest, parts }, index);
    else this.#push(isSame(parts, message.parts) ? message : { ...message, parts }, index);
    if (results.length > 0) this.#written.push({ role: "tool", parts: results, ...cacheOf(message) });
  }

  #call(part: ModelToolCall, index: number): ModelToolCall {
    const call = this.#calls.fresh(part.call);
    const tool = this.#tools.of(part.tool);
    this.called.add(tool);
    if (call !== part.call || tool !== part.tool) this.#repaired("identifier_changed", index);
    const args = this.#arguments(part.arguments, index);
    const { opaque, ...rest } = part;
    const isOwn = opaque === undefined || opaque.model === this.#request.model;
    if (isOwn && call === part.call && tool === part.tool && args === part.arguments) return part;
    return { ...rest, ...(isOwn && opaque !== undefined ? { opaque } : {}), call, tool, arguments: args };
  }

  #arguments(value: unknown, index: number): Readonly<Record<string, unknown>> {
    const mended = this.#json(value, index);
    if (typeof mended === "object" && mended !== null && !Array.isArray(mended))
      return mended as Readonly<Record<string, unknown>>;
    this.#repaired("arguments_wrapped", index);
    return mended === undefined ? {} : { value: mended };
  }

  #json(value: unknown, index: number): unknown {
    if (isWellFormed(value)) return value;
    this.#repaired("text_mended", index);
    return mendJson(value);
  }

  #result(pair: Pair | undefined, call: string, index: number): ModelToolResult {
    if (pair?.result === undefined) {
      this.#repaired("result_missing", index);
      return { type: "tool_result", call, text: interruptedResult, is_error: true };
    }
    if (pair.isApart) this.#repaired("result_moved", index);
    const { result } = pair;
    const text = this.#text(result.text, index) || "(no output)";
    return call === result.call && text === result.text ? result : { ...result, call, text };
  }

  #textPart(part: ModelText, index: number): readonly ModelText[] {
    if (isBlank(part.text)) {
      this.#repaired("empty_left_out", index);
      return [];
    }
    const text = this.#text(part.text, index);
    return [text === part.text ? part : { ...part, text }];
  }

  /** Some providers refuse unpaired surrogates, and others then send invalid JSON. */
  #text(text: string, index: number): string {
    if (text.isWellFormed()) return text;
    this.#repaired("text_mended", index);
    return text.toWellFormed();
  }

  #leftOut(message: ModelMessage, index: number): void {
    this.#repaired("empty_left_out", index);
    if (message.cache === true) this.#markCache();
  }

  /** Adds a message. If turns must alternate, merges two messages of the user and adds a missing turn of the user. */
  #push(message: Extract<ModelMessage, { role: "user" | "assistant" }>, index: number): void {
    const last = this.#written.at(-1);
    if (!this.#dialect.alternates) {
      this.#written.push(message);
      return;
    }
    if (message.role === "user" && last?.role === "user") {
      this.#repaired("turns_merged", index);
      this.#written[this.#written.length - 1] = {
        ...last,
        ...cacheOf(message),
        parts: [...last.parts, ...message.parts],
      };
      return;
    }
    if (message.role === "assistant" && last?.role !== "user" && last?.role !== "tool") this.#addTurn(index);
    this.#written.push(message);
  }

  /**
   * Separates two answers in a row by a turn of the user instead of merging them: providers refuse reasoning that is
   * not at the beginning of an answer.
   */
  #addTurn(index: number): void {
    this.#repaired("turn_added", index);
    this.#written.push({ role: "user", parts: [{ type: "text", text: "Continue." }] });
  }

  #markCache(): void {
    const last = this.#written.at(-1);
    if (last !== undefined && last.cache !== true)
      this.#written[this.#written.length - 1] = { ...last, cache: true };
  }

  #repaired(kind: RepairKind, message: number): void {
    this.#repairs.push({ kind, message });
  }
}

/** Arguments of calls that have been looked at: every request of a conversation has the same ones. */
const wellFormedArguments = new WeakSet();

function isWellFormed(value: unknown): boolean {
  const isObject = typeof value === "object" && value !== null;
  if (isObject && wellFormedArguments.has(value)) return true;
  const text = JSON.stringify(value);
  if (text !== undefined && /\\ud[89a-f]/i.test(text)) return false;
  if (isObject) wellFormedArguments.add(value);
  return true;
}

function isSame<Part>(parts: readonly Part[], before: readonly Part[]): boolean {
  return parts.length === before.length && parts.every((part, index) => part === before[index]);
}

function isBlank(text: string): boolean {
  return !/\S/.test(text);
}

function cacheOf(message: ModelMessage): { readonly cache?: true } {
  return message.cache === true ? { cache: true } : {};
}

function mendJson(value: unknown): unknown {
  if (typeof value === "string") return value.toWellFormed();
  if (Array.isArray(value)) return value.map(mendJson);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key.toWellFormed(), mendJson(item)] as const),
  );
}
