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
import { type Pair, pairCalls, type Pairing } from "./call-pairs.ts";
import { Identifiers } from "./identifiers.ts";
import { hasPictureBytes } from "./pictures.ts";
import { isWellFormed, mendJson } from "./well-formed.ts";

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
  const { tools: given = [], tool_choice: choice, messages: before, ...rest } = request;
  const history = historyFor(request, dialect, [...knownTools]);
  const { messages, repairs, called, tools } = history.write(before);
  const result: ModelRequest = { ...rest, messages };
  if (given.length > 0) {
    const offered = given.map((tool) => ({ ...tool, name: tools.of(tool.name) }));
    return {
      request: { ...result, tools: offered, ...(choice === undefined ? {} : { tool_choice: choice }) },
      repairs,
      tools,
    };
  }
  if (!dialect.declaresCalledTools || called.length === 0) return { request: result, repairs, tools };
  const declared = called.map((name) => ({
    name,
    description: "Not available any more.",
    parameters: { type: "object" },
  }));
  return {
    request: { ...result, tools: declared, tool_choice: "none" },
    repairs: [...repairs, { kind: "tools_declared", message: before.length }],
    tools,
  };
}

/** By the first message: the next request of the same conversation begins with the same ones. */
const histories = new WeakMap<ModelMessage, History>();

function historyFor(
  { messages: [first], model, tools = [] }: ModelRequest,
  dialect: Dialect,
  knownTools: readonly (readonly [string, string])[],
): History {
  const offered = tools.map(({ name }) => name);
  const made = JSON.stringify([model, dialect, knownTools, offered]);
  const known = first === undefined ? undefined : histories.get(first);
  if (known?.made === made) return known;
  const history = new History(made, model, dialect, new Identifiers(knownTools), offered);
  if (first !== undefined) histories.set(first, history);
  return history;
}

/** The state before a message, to which a later request can return. */
interface Mark {
  /** The index of the message. */
  readonly message: number;
  /** Counts. */
  readonly written: number;
  readonly calls: number;
  readonly tools: number;
  readonly called: number;
  readonly repairs: number;
}

const beginning: Mark = { message: 0, written: 0, calls: 0, tools: 0, called: 0, repairs: 0 };

/**
 * The messages of requests that begin alike, as a provider accepts them. Each request continues from the last place that
 * it has in common with the one before and that nothing behind it can change.
 */
class History {
  /** What it was made with, besides the messages. */
  readonly made: string;
  readonly #model: string;
  readonly #dialect: Dialect;
  readonly #tools: Identifiers;
  readonly #offered: number;
  readonly #calls = new Identifiers();
  readonly #repairs: Repair[] = [];
  readonly #written: ModelMessage[] = [];
  /** The tools that were called, by the names that the model sees. */
  readonly #called: string[] = [];
  #messages: readonly ModelMessage[] = [];
  /** Where a later request may continue. */
  readonly #marks: Mark[] = [];
  /** The index of the last message that belongs to a message before it. */
  #settled = -1;

  constructor(made: string, model: string, dialect: Dialect, tools: Identifiers, offered: readonly string[]) {
    this.made = made;
    this.#model = model;
    this.#dialect = dialect;
    this.#tools = tools;
    for (const name of offered) tools.of(name);
    this.#offered = tools.made;
  }

  write(messages: readonly ModelMessage[]): {
    readonly messages: readonly ModelMessage[];
    readonly repairs: readonly Repair[];
    readonly called: readonly string[];
    readonly tools: Identifiers;
  } {
    const from = this.#rewind(messages);
    const { pairs, unpaired } = pairCalls(messages, from);
    for (let index = from; index < messages.length; index++) {
      const message = messages[index];
      if (message === undefined) break;
      switch (message.role) {
        case "system":
          this.#system(message, index);
          break;
        case "user":
          this.#mark(index);
          this.#user(message, index);
          break;
        case "assistant":
          this.#assistant(message, index, pairs);
          break;
        case "tool":
          for (let count = unpaired.get(index) ?? 0; count > 0; count--)
            this.#repaired("result_without_call", index);
          // The results were added after their calls already; a cache point moves to them.
          if (message.cache === true) this.#markCache();
          break;
      }
    }
    // A late system message may be the last one, behind a turn.
    const last = this.#written.findLast(({ role }) => role !== "system")?.role;
    if (last === undefined || (last === "assistant" && this.#dialect.alternates))
      this.#addTurn(messages.length);
    const all = {
      messages: [...this.#written],
      repairs: [...this.#repairs],
      called: [...this.#called],
      tools: this.#tools.copy(),
    };
    // Pictures are too large to be held until the next request.
    const pictured = messages.findIndex((message, index) => index >= from && hasPictureBytes(message));
    if (pictured !== -1) this.#rewind(messages.slice(0, pictured));
    return all;
  }

  /** Goes back to the last mark before the first message that is another one than before. Returns the index to continue at. */
  #rewind(messages: readonly ModelMessage[]): number {
    let same = 0;
    const most = Math.min(messages.length, this.#messages.length);
    while (same < most && messages[same] === this.#messages[same]) same++;
    this.#messages = messages;
    while ((this.#marks.at(-1)?.message ?? 0) > same) this.#marks.pop();
    const mark = this.#marks.at(-1) ?? { ...beginning, tools: this.#offered };
    this.#written.length = mark.written;
    this.#repairs.length = mark.repairs;
    this.#called.length = mark.called;
    this.#calls.keep(mark.calls);
    this.#tools.keep(mark.tools);
    this.#settled = mark.message - 1;
    return mark.message;
  }

  /** Not while a call waits for its result, which stands before what comes meanwhile. */
  #mark(message: number): void {
    if (this.#settled >= message || this.#marks.at(-1)?.message === message) return;
    this.#marks.push({
      message,
      written: this.#written.length,
      calls: this.#calls.made,
      tools: this.#tools.made,
      called: this.#called.length,
      repairs: this.#repairs.length,
    });
  }

  /** Puts another message in the place of one that was written. */
  #replace(at: number, message: ModelMessage): void {
    this.#written[at] = message;
    while ((this.#marks.at(-1)?.written ?? 0) > at) this.#marks.pop();
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
      this.#replace(at, { ...words, parts: [{ type: "text", text }, ...words.parts] });
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
    pairs: Pairing["pairs"],
  ): void {
    const results: ModelToolResult[] = [];
    const parts = message.parts.flatMap((part): readonly ModelAnswerPart[] => {
      switch (part.type) {
        case "text":
          return this.#textPart(part, index);
        case "reasoning":
          if (part.opaque?.model === this.#model) return [part];
          this.#repaired("reasoning_left_out", index);
          return [];
        case "tool_call": {
          const call = this.#call(part, index);
          const pair = pairs.get(part);
          // A result may still come.
          this.#settled = Math.max(this.#settled, pair?.message ?? Infinity);
          results.push(this.#result(pair, call.call, index));
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
    if (!this.#called.includes(tool)) this.#called.push(tool);
    if (call !== part.call || tool !== part.tool) this.#repaired("identifier_changed", index);
    const args = this.#arguments(part.arguments, index);
    const { opaque, ...rest } = part;
    const isOwn = opaque === undefined || opaque.model === this.#model;
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
    if (pair === undefined) {
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
      const parts = [...last.parts, ...message.parts];
      this.#replace(this.#written.length - 1, { ...last, ...cacheOf(message), parts });
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
      this.#replace(this.#written.length - 1, { ...last, cache: true });
  }

  #repaired(kind: RepairKind, message: number): void {
    this.#repairs.push({ kind, message });
  }
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
