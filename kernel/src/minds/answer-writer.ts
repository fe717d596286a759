import type { Clock } from "../base/clock.ts";
import type { AnswerCut } from "../base/cut-answer.ts";
import type { JsonValue } from "../base/json.ts";
import { nestsDeeperThan } from "../base/json-depth.ts";
import type { Entry, Part } from "../base/vocabulary/conversation.ts";
import type { Hash } from "../base/vocabulary/common.ts";
import type { Delta } from "../base/vocabulary/conversation-requests.ts";
import type { ModelAnswerPart, ModelFailure, ModelToolCall } from "../base/vocabulary/model.ts";
import type { NewEntry } from "../conversations/records.ts";
import type { AnswerEvent } from "../models/answer.ts";
import { entryOf, type EntryMaker, type Provenance } from "./entries.ts";

/** A request that is in the log. */
export interface LoggedRequest {
  /** The id of the answer's message. */
  readonly message: string;
  readonly digest: Hash;
  readonly model: string;
  readonly attempt: number;
}

interface AnswerOptions {
  readonly maker: EntryMaker;
  readonly clock: Clock;
  append(entries: readonly NewEntry[]): Promise<readonly Entry[]>;
  /** Resolves when the whole answer may be written: those of many models may end at once. */
  takeTurn(): Promise<void>;
  delta(delta: Delta): void;
  /** Where an answer of this model comes from, with what it was made of. */
  provenanceOf(model: string): Provenance;
}

/** A call as the log names it: models may use one id for several. */
export interface LoggedCall {
  readonly call: string;
  readonly tool: string;
  readonly arguments: unknown;
}

export type Answered =
  | {
      readonly type: "done";
      readonly text: string;
      readonly calls: readonly LoggedCall[];
      readonly cut: AnswerCut | null;
    }
  | { readonly type: "failed"; readonly failure: ModelFailure };

/** Streamed text is logged after at most this time, so that a crash loses no more. */
const partialEveryMs = 250;

/** Returns the entry of a request. It has to be in the log before anything of the request is sent. */
export function requestEntry(maker: EntryMaker, request: LoggedRequest): NewEntry {
  return entryOf(maker, { kind: "request", ...request }, { origin: "workspace" });
}

/** Returns the entry that takes a message back. */
export function voidEntry(maker: EntryMaker, message: string): NewEntry {
  return entryOf(maker, { kind: "void", message }, { origin: "workspace" });
}

/**
 * Writes the answer to a request to the log while it comes: further attempts before their first byte leaves, what has
 * streamed from time to time, then the whole of it in one append. A failed answer leaves what was shown as a partial
 * message, or nothing.
 */
export async function writeAnswer(
  request: LoggedRequest,
  events: AsyncIterable<AnswerEvent>,
  options: AnswerOptions,
): Promise<Answered> {
  const { maker, append } = options;
  const { message } = request;
  using partial = new PartialWriter(request, options);
  const fail = async (failure: ModelFailure): Promise<Answered> => {
    await partial.flush();
    if (partial.isEmpty) await append([voidEntry(maker, message)]);
    return { type: "failed", failure };
  };
  let isFirst = true;
  try {
    for await (const event of events)
      switch (event.type) {
        case "attempt": {
          const attempt = request.attempt + event.attempt - 1;
          if (!isFirst || event.model !== request.model)
            await append([requestEntry(maker, { ...request, attempt, model: event.model })]);
          isFirst = false;
          partial.model = event.model;
          break;
        }
        case "text":
        case "reasoning":
          partial.take(event.type, "", event.text);
          break;
        case "tool_call":
          partial.take("tool_call", event.call, event.text);
          break;
        case "attempt_failed":
          break;
        case "done":
          // A piece that is logged after the whole answer would look like the start of another one.
          partial.stop();
          await options.takeTurn();
          return await writeWhole(message, event, options);
        case "failed":
          return await fail(event.failure);
      }
  } catch (error) {
    // Not a failure of the model, as a budget: its request was not sent.
    await partial.flush().catch(() => undefined);
    if (partial.isEmpty) await append([voidEntry(maker, message)]).catch(() => undefined);
    throw error;
  }
  return await fail({ class: "Network", message: "The answer did not end." });
}

async function writeWhole(
  message: string,
  { parts, model, finish, usage, microUsd }: Extract<AnswerEvent, { type: "done" }>,
  { maker, append, provenanceOf }: AnswerOptions,
): Promise<Answered> {
  const provenance = provenanceOf(model);
  const given = parts.filter((part): part is ModelToolCall => part.type === "tool_call");
  const calls = given.map(({ tool, arguments: args }, index) => ({
    call: `call_${message.replaceAll("-", "")}_${index}`,
    tool: soundName(tool),
    arguments: sound(args),
  }));
  const said = parts.flatMap(partOf);
  const cut = finish === "length" || finish === "filtered" ? finish : null;
  await append([
    entryOf(
      maker,
      { kind: "message", role: "assistant", parts: said, ...(cut === null ? {} : { cut }) },
      provenance,
      message,
    ),
    ...calls.map((call, index) => {
      const opaque = given[index]?.opaque;
      return entryOf(
        maker,
        {
          kind: "tool_call",
          ...call,
          ...(opaque === undefined ? {} : { opaque: opaque as { model: string; value: never } }),
        },
        provenance,
      );
    }),
    entryOf(
      maker,
      { kind: "usage", model, ...usage, ...(microUsd === null ? {} : { usd: microUsd / 1_000_000 }) },
      { origin: "model" },
    ),
  ]);
  const text = said.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("");
  return { type: "done", text, calls, cut };
}

const deepestArguments = 64;
const shownOfUnsound = 1_000;
/** Tools that exist have shorter names. */
const maxNameCharacters = 400;

function soundName(tool: string): string {
  return (tool.length > maxNameCharacters ? `${tool.slice(0, maxNameCharacters)}…` : tool).toWellFormed();
}

/** Returns arguments that a log can hold: a model may write any. What is not sound becomes text, which no schema takes. */
function sound(args: unknown): JsonValue {
  const text = jsonOf(args);
  const bytes = new TextEncoder().encode(text);
  if (!/\\ud[89a-f]/i.test(text) && !nestsDeeperThan(bytes, deepestArguments))
    return JSON.parse(text) as JsonValue;
  return text.slice(0, shownOfUnsound).toWellFormed();
}

function jsonOf(args: unknown): string {
  try {
    return JSON.stringify(args ?? null) ?? "null";
  } catch (error) {
    // Nested so deep that it does not fit the stack.
    if (error instanceof RangeError) return '"(nested too deep)"';
    throw error;
  }
}

function partOf(part: ModelAnswerPart): Part[] {
  switch (part.type) {
    case "tool_call":
      return [];
    case "text":
      return part.text === "" ? [] : [{ type: "text", text: part.text }];
    case "reasoning":
      return [
        {
          type: "reasoning",
          text: part.text,
          ...(part.opaque === undefined ? {} : { opaque: part.opaque as { model: string; value: never } }),
        },
      ];
  }
}

/** Passes deltas on at once, and appends what has come since the last time as partial entries. */
class PartialWriter implements Disposable {
  model: string;
  /** True until text was shown. */
  isEmpty = true;
  readonly #message: string;
  readonly #options: AnswerOptions;
  #parts: { type: "text" | "reasoning"; text: string }[] = [];
  #part = -1;
  #current = "";
  #timer: Disposable | null = null;
  #flushing: Promise<unknown> = Promise.resolve();

  constructor({ message, model }: LoggedRequest, options: AnswerOptions) {
    this.#message = message;
    this.model = model;
    this.#options = options;
  }

  take(type: Delta["type"], call: string, text: string): void {
    const { maker, clock, delta } = this.#options;
    const key = `${type} ${call}`;
    if (key !== this.#current) this.#part++;
    delta({ process: maker.process, message: this.#message, part: this.#part, type, text });
    if (type !== "tool_call") {
      const last = this.#parts.at(-1);
      if (last?.type === type && key === this.#current) last.text += text;
      else this.#parts.push({ type, text });
      this.#timer ??= clock.timer(partialEveryMs, () => void this.flush().catch(() => undefined));
      this.isEmpty = false;
    }
    this.#current = key;
  }

  /** Appends what has come since. Rejects if it cannot be written. */
  async flush(): Promise<void> {
    this.stop();
    const parts = this.#parts;
    if (parts.length > 0) {
      this.#parts = [];
      const { maker, append, provenanceOf } = this.#options;
      this.#flushing = append([
        entryOf(
          maker,
          { kind: "message", role: "assistant", parts, partial: true },
          provenanceOf(this.model),
          this.#message,
        ),
      ]);
    }
    await this.#flushing;
  }

  /** Appends nothing more by itself. */
  stop(): void {
    this.#timer?.[Symbol.dispose]();
    this.#timer = null;
  }

  [Symbol.dispose](): void {
    this.stop();
  }
}
