import {
  endedStates,
  type Entry,
  type EntryOf,
  noteOrigin,
  type Part,
} from "../base/vocabulary/conversation.ts";
import type {
  ModelImage,
  ModelMessage,
  ModelText,
  ModelToolCall,
  ModelUsage,
} from "../base/vocabulary/model.ts";
import { asData, quoted, withinBytes } from "./data-text.ts";
import { eventText, interruptedText, resultText, sourcesOf, toldResult } from "./entry-text.ts";
import { continued } from "./partial-parts.ts";
import { storedPicture } from "./pictures.ts";

interface HistoryOptions {
  /** The process whose entries these are. */
  readonly process: string;
  /** The model that is asked. */
  readonly model: string;
  /** The contents of files that were sent with messages, by `fileKey`. */
  readonly files: ReadonlyMap<string, string>;
  /** Origins whose messages speak to the model themselves; others' messages are quoted data. */
  readonly speakers: ReadonlySet<string>;
  /** Counts of earlier requests do not apply: they were made with other sections. */
  readonly countedFrom: number;
}

/** Names a file part of a message: the content belongs to the message, because the file may change later. */
export function fileKey(message: string, part: number): string {
  return `${message} ${part}`;
}

/** A place in the history. A frozen one was part of a request, so it no longer changes. */
type Place = Said | Answer;
interface Said {
  readonly type: "said";
  isFrozen: boolean;
  message: ModelMessage;
}
interface Answer {
  readonly type: "answer";
  readonly index: number;
  isFrozen: boolean;
  /** The digest of its request; null if its request is not in the log. */
  readonly digest: string | null;
  /** Null until it has come. */
  parts: readonly Part[] | null;
  partial: Part[];
  isCutOff: boolean;
  readonly calls: Call[];
  /** Its messages once it is frozen: the same objects in each request, so that their tokens and digests are computed once. */
  said: readonly ModelMessage[] | null;
}
interface Call {
  readonly answer: Answer;
  readonly part: ModelToolCall;
  /** Where the result was told that came after a request without it; null: it did not. */
  late: Said | null;
  result: { readonly text: string; readonly isError: boolean } | null;
}

/**
 * Makes messages from the entries of a process. What was part of a request stays as it was: each `request` entry
 * freezes all places before it, and later entries that concern them are told at the end. An answer stands at the place
 * of its request, so that messages that came in the meantime follow it.
 */
export class History {
  readonly #options: HistoryOptions;
  readonly #places: Place[] = [];
  /** The messages of the first places, which are all frozen, and at which of them each of these places begins. */
  readonly #settled: ModelMessage[] = [];
  readonly #starts: number[] = [];
  readonly #byId = new Map<string, Place>();
  /** Places that may still change. */
  readonly #open = new Set<Place>();
  /** The last calls of each id, in order; the results come in that order too. */
  readonly #calls = new Map<string, Call[]>();
  /** Actions whose proposal was seen, and whether the model was told that they wait. */
  readonly #actions = new Map<string, "proposed" | "told">();
  #hasPictures = false;
  #current: Answer | null = null;
  #lastRequest: { readonly seq: number; readonly place: number } | null = null;
  #lastUsage: { readonly usage: ModelUsage; readonly place: number } | null = null;

  constructor(options: HistoryOptions) {
    this.#options = options;
  }

  take(entry: Entry): void {
    switch (entry.kind) {
      case "message":
        if (entry.role === "user") this.#takeSaid(entry);
        else if (entry.partial === true) this.#takePartial(entry);
        else this.#takeAnswer(entry);
        return;
      case "request":
        return this.#takeRequest(entry);
      case "void":
        return this.#takeVoid(entry.message);
      case "tool_call":
        return this.#takeCall(entry);
      case "tool_result":
        return this.#takeResult(entry);
      case "process":
        if (entry.value.id === this.#options.process && endedStates.has(entry.value.state)) this.#end();
        return;
      case "usage":
        return this.#takeUsage(entry);
      case "action":
        if (!this.#isTold(entry)) return;
        break;
      case "conclusion":
      case "notice":
      case "block":
      case "ask":
        break;
      case "summary":
      case "pin":
      case "meta":
      case "redaction":
        return;
    }
    const text = eventText(entry);
    if (text !== null) this.#say(text);
  }

  /**
   * Returns the messages; `added` of them, at the end, came after the request that `usage` counts. `hasPictures`: false if
   * none of them can have one.
   */
  messages(): {
    readonly messages: ModelMessage[];
    readonly hasPictures: boolean;
    readonly last: { usage: ModelUsage; added: number } | null;
  } {
    this.#settle();
    const messages = [...this.#settled];
    const counted = this.#lastUsage;
    let before = counted === null ? 0 : (this.#starts[counted.place] ?? 0);
    for (const [index, place] of this.#places.slice(this.#starts.length).entries()) {
      if (this.#starts.length + index === counted?.place) before = messages.length;
      messages.push(...messagesOf(place));
    }
    const last = counted === null ? null : { usage: counted.usage, added: messages.length - before };
    return { messages, last, hasPictures: this.#hasPictures };
  }

  /** Adds the places that have become frozen to the settled messages, so that a request does not visit the whole history. */
  #settle(): void {
    for (let at = this.#starts.length; this.#places[at]?.isFrozen === true; at++) {
      const place = this.#places[at];
      this.#starts.push(this.#settled.length);
      if (place !== undefined) this.#settled.push(...messagesOf(place));
    }
  }

  #takeSaid(entry: EntryOf<"message">): void {
    const known = this.#byId.get(entry.id);
    if (entry.partial === true || known?.isFrozen === true) return;
    const parts = this.#userParts(entry);
    if (parts.length === 0) return;
    const message: ModelMessage = { role: "user", parts };
    // An interceptor's change comes as an entry with the same id.
    if (known?.type === "said") known.message = message;
    else this.#byId.set(entry.id, this.#add({ type: "said", isFrozen: false, message }));
  }

  #takePartial(entry: EntryOf<"message">): void {
    const known = this.#byId.get(entry.id);
    if (known?.type === "said" || known?.isFrozen === true) return;
    const answer = known ?? this.#addAnswer(entry.id, null);
    if (answer.parts === null) answer.partial = continued(answer.partial, entry.parts);
    this.#current = answer;
  }

  #takeAnswer(entry: EntryOf<"message">): void {
    let answer = this.#byId.get(entry.id);
    if (answer?.type === "said") return;
    if (answer?.isFrozen === true) {
      // It was part of a request already; only an answer that was given up may still come.
      if (answer.parts !== null || answer.isCutOff) return;
      answer = undefined;
    }
    answer ??= this.#addAnswer(entry.id, null);
    answer.parts = entry.parts;
    answer.isCutOff = false;
    this.#current = answer;
  }

  #takeRequest({ seq, message, digest }: EntryOf<"request">): void {
    const known = this.#byId.get(message);
    let own = known?.type === "answer" && !known.isFrozen && isEmpty(known) ? known : null;
    // Another attempt with the same request: what came in the meantime was not part of it.
    if (own !== null && own.digest !== digest) own = null;
    for (const place of this.#open) if (place !== own) place.isFrozen = true;
    this.#open.clear();
    if (own === null) own = this.#addAnswer(message, digest);
    else this.#open.add(own);
    own.partial = [];
    this.#current = own;
    this.#lastRequest = { seq, place: own.index };
  }

  #takeVoid(message: string): void {
    const known = this.#byId.get(message);
    if (known?.type !== "answer" || known.isFrozen) return;
    known.parts = null;
    known.partial = [];
    known.isCutOff = false;
  }

  #takeCall({ call, tool, arguments: given, opaque }: EntryOf<"tool_call">): void {
    if (this.#current === null || this.#current.isFrozen) this.#current = this.#addAnswer(null, null);
    const answer = this.#current;
    const part: ModelToolCall = {
      type: "tool_call",
      call,
      tool,
      arguments: given,
      ...(opaque === undefined ? {} : { opaque }),
    };
    const made: Call = { answer, part, late: null, result: null };
    answer.calls.push(made);
    const same = this.#calls.get(call);
    if (same?.[0]?.answer === answer) same.push(made);
    else this.#calls.set(call, [made]);
  }

  #takeResult({ call: id, result, by }: EntryOf<"tool_result">): void {
    const calls = this.#calls.get(id) ?? [];
    if (result.status === "needs_approval") this.#actions.set(result.action.id, "told");
    const isChange = by !== undefined;
    const call = isChange
      ? calls.findLast((known) => known.result !== null || known.late !== null)
      : calls.find((known) => known.result === null && known.late === null);
    if (call === undefined) return;
    const { tool } = call.part;
    if (!call.answer.isFrozen)
      call.result = { text: toldResult(tool, result), isError: result.status === "error" };
    else if (!isChange || call.late?.isFrozen === false) {
      const told = asData(`late result of the call ${quoted(id)} of ${quoted(tool)}`, resultText(result));
      if (call.late === null) call.late = this.#say(told);
      else call.late.message = saying(told);
    }
  }

  #takeUsage({ model, ...usage }: EntryOf<"usage">): void {
    const { process, model: asked, countedFrom } = this.#options;
    const request = this.#lastRequest;
    if (request === null || request.seq <= countedFrom || usage.process !== process || model !== asked)
      return;
    const { input_tokens: input, cache_read_tokens: read = 0, cache_write_tokens: written = 0 } = usage;
    if (input + read + written === 0) return;
    this.#lastUsage = {
      usage: {
        input_tokens: input,
        output_tokens: usage.output_tokens,
        cache_read_tokens: read,
        cache_write_tokens: written,
      },
      place: request.place,
    };
  }

  /** True unless the result of the call that proposed the action says what became of it. */
  #isTold({ ref, state, origin }: EntryOf<"action">): boolean {
    if (origin === noteOrigin) return false;
    const known = this.#actions.get(ref);
    if (state === "Pending" || state === "PendingApproval") {
      if (known === undefined) this.#actions.set(ref, "proposed");
      return false;
    }
    return known !== "proposed";
  }

  #end(): void {
    for (const place of this.#open) {
      if (place.type !== "answer") continue;
      if (place.parts === null && place.partial.length > 0) place.isCutOff = true;
      for (const call of place.calls) call.result ??= { text: interruptedText, isError: true };
    }
  }

  #userParts(entry: EntryOf<"message">): (ModelText | ModelImage)[] {
    // An interceptor speaks in the place of the person whose text it changed, unless its own text may be a stranger's.
    const changed = entry.by !== undefined && entry.origin === `agent:${entry.by}` && entry.tainted !== true;
    const speaks = changed || this.#options.speakers.has(entry.origin);
    const heading = `message from ${quoted(entry.origin)}${sourcesOf(entry)}`;
    return entry.parts.flatMap((part, index): (ModelText | ModelImage)[] => {
      switch (part.type) {
        case "text":
          return [{ type: "text", text: speaks ? part.text : asData(heading, withinBytes(part.text)) }];
        case "reasoning":
          return [];
        case "image":
          this.#hasPictures = true;
          return [storedPicture(part)];
        case "file":
          return [{ type: "text", text: fileText(part, this.#options.files.get(fileKey(entry.id, index))) }];
      }
    });
  }

  #say(text: string): Said {
    return this.#add({ type: "said", isFrozen: false, message: saying(text) });
  }

  #addAnswer(id: string | null, digest: string | null): Answer {
    const answer = this.#add({
      type: "answer",
      index: this.#places.length,
      isFrozen: false,
      digest,
      parts: null,
      partial: [],
      isCutOff: false,
      calls: [],
      said: null,
    });
    if (id !== null) this.#byId.set(id, answer);
    return answer;
  }

  #add<Kind extends Place>(place: Kind): Kind {
    this.#places.push(place);
    this.#open.add(place);
    return place;
  }
}

function saying(text: string): ModelMessage {
  return { role: "user", parts: [{ type: "text", text }] };
}

function isEmpty({ parts, isCutOff, calls }: Answer): boolean {
  return parts === null && !isCutOff && calls.length === 0;
}

function messagesOf(place: Place): readonly ModelMessage[] {
  if (place.type === "said") return [place.message];
  return place.isFrozen ? (place.said ??= answerMessages(place)) : answerMessages(place);
}

function answerMessages({ parts, partial, isCutOff, calls }: Answer): ModelMessage[] {
  const said = (parts ?? (isCutOff ? partial : [])).flatMap((part) =>
    part.type === "text" || part.type === "reasoning" ? [part] : [],
  );
  const mark = isCutOff ? [{ type: "text" as const, text: "[The answer was cut off here.]" }] : [];
  const all = [...said, ...mark, ...calls.map(({ part }) => part)];
  const results = calls.flatMap(({ part: { call }, result }) =>
    result === null
      ? []
      : [
          {
            type: "tool_result" as const,
            call,
            text: result.text,
            ...(result.isError ? { is_error: true } : {}),
          },
        ],
  );
  return [
    ...(all.length === 0 ? [] : [{ role: "assistant" as const, parts: all }]),
    ...(results.length === 0 ? [] : [{ role: "tool" as const, parts: results }]),
  ];
}

function fileText({ path, range }: Extract<Part, { type: "file" }>, content: string | undefined): string {
  const lines = range === undefined ? "" : `, lines ${range[0]} to ${range[1]}`;
  return content === undefined
    ? `[the file ${quoted(path)}${lines}; its content is what files/read returns, if it could be read]`
    : asData(`the file ${quoted(path)}${lines}`, withinBytes(content));
}
