import { maxPins, maxSources, otherSources } from "../base/vocabulary/bounds.ts";
import { isJsonObject, type JsonValue } from "../base/json.ts";
import {
  endedStates,
  type Entry,
  type EntryOf,
  noteOrigin,
  type Process,
  replacedBy,
  scheduleOrigin,
} from "../base/vocabulary/conversation.ts";
import { isForeign, isNews } from "./entry-kinds.ts";
import { countedWith, type FailedCompactions, noneFailed } from "./failed-compactions.ts";

/** A request to a model whose answer is not in the log. */
interface OpenRequest {
  readonly process: string;
  /** The id that its answer will have. */
  readonly message: string;
  readonly attempt: number;
  readonly model: string;
}

/** A call whose result is not in the log. */
interface OpenCall {
  readonly seq: number;
  readonly process: string;
  readonly turn: string;
  readonly call: string;
  readonly tool: string;
}

/** An action or a question that a person has not decided about. */
export interface OpenReference {
  readonly kind: "action" | "ask";
  readonly ref: string;
  readonly process: string;
}

/** The state of a conversation after its last entry. Its size does not depend on the conversation's length: texts stay in the log. */
export interface ConversationState {
  readonly version: 1;
  title: string;
  /** Empty: the model of the route. */
  model: string;
  state: "open" | "archived";
  /** Empty before the first entry. */
  created: string;
  updated: string;
  seq: number;
  /** The seqs of the newest answers and notices that the person has not seen. */
  unreadAt: number[];
  usage: { input_tokens: number; output_tokens: number; usd: number | null };
  /** Sources of tainted entries, each once; the first ones, and `otherSources` for any more. */
  tainted: string[];
  /** The sources of its texts that neither a person nor a model wrote, likewise. */
  foreign: string[];
  /** Those that have not ended, and the last ones that have, in the order in which they began. */
  processes: Process[];
  /** The model that was asked last; "" if none was. */
  asked: string;
  /** The seq of each process's newest entry, including processes that are no longer listed. */
  processSeqs: { id: string; seq: number }[];
  requests: OpenRequest[];
  calls: OpenCall[];
  references: OpenReference[];
  /** The number of rejections and denials in a row since the person last allowed or said something. */
  rejections: number;
  failedCompactions: FailedCompactions;
  /** True if a message, a decision or a child's conclusion came after the channel's last request. */
  isUnread: boolean;
  /** True if a schedule said something, and no person has said or decided anything since. */
  isScheduled: boolean;
  /** Messages of which there are only partial entries. */
  partial: { process: string; message: string }[];
  /** Ids of entries. */
  pins: string[];
  /** The newest entry of each block. */
  blocks: { name: string; seq: number }[];
  /** Tokens of the channel's last request and its answer, as the provider counted them; after a summary, an estimate. */
  contextTokens: number;
  /** The newest summary of the channel's entries. */
  summary: { seq: number; covers: [number, number] } | null;
}

/** The newest open ones are kept; more are open only where entries are missing. */
const maxOpen = 1_000;
/** Characters of a process's texts; the rest is in the log. */
const maxTextCharacters = 2_000;
/** Ended processes that are listed. */
const maxEnded = 64;
/** Maximum length of `processSeqs`. */
const maxSeqs = 256;
/** More are not counted. */
const maxUnread = 1_000;

/** Decided by a person, the rules, or time: nobody waits for it any more. */
const openStates: ReadonlySet<string> = new Set(["Pending", "PendingApproval", "Approved", "Committing"]);
/** The states of an action and of a question that a person said no to. */
export const rejected: ReadonlySet<string> = new Set(["Rejected", "Denied"]);

/**
 * Folds the entries of a conversation, one after the other. Takes whatever is in the log without complaint: an entry
 * that was redacted is missing, and a kernel may have died between any two.
 */
export class ConversationFold {
  readonly #state: ConversationState;

  constructor(state: ConversationState = emptyState()) {
    this.#state = state;
  }

  /** Begins a conversation, or a fork with the state that its origin had. */
  static begin(created: string, start: ConversationState = emptyState()): ConversationFold {
    return new ConversationFold({ ...stateIn(structuredClone(start)), created, updated: created });
  }

  /** Continues from a saved state. Returns null for anything else. */
  static from(saved: JsonValue): ConversationFold | null {
    if (!isJsonObject(saved) || saved["version"] !== 1) return null;
    for (const [name, value] of Object.entries(emptyState()))
      // Only a summary may be null.
      if (name !== "summary" && kindOf(saved[name]) !== kindOf(value)) return null;
    return new ConversationFold(structuredClone(saved) as unknown as ConversationState);
  }

  get state(): Readonly<ConversationState> {
    return this.#state;
  }

  save(): JsonValue {
    return structuredClone(this.#state) as unknown as JsonValue;
  }

  take(entry: Entry): void {
    const state = this.#state;
    if (state.created === "") state.created = entry.created;
    if (isNews(entry)) state.updated = entry.created;
    state.seq = entry.seq;
    if (entry.tainted === true) this.#add(state.tainted, entry);
    if (isForeign(entry)) this.#add(state.foreign, entry);
    switch (entry.kind) {
      case "message":
        return this.#takeMessage(entry);
      case "request": {
        const { process, message, attempt, model } = entry;
        state.asked = model;
        if (this.#isChannel(process)) state.isUnread = false;
        this.#closeRequest(({ process: of }) => of === process);
        state.requests.push({ process, message, attempt, model });
        state.processes = state.processes.map((one) => (one.id === process ? { ...one, model } : one));
        return;
      }
      case "void":
        return this.#closeMessage(entry.message);
      case "tool_call": {
        const { seq, process, turn, call, tool } = entry;
        if (!state.calls.some((open) => open.call === call))
          state.calls = [...state.calls, { seq, process, turn, call, tool }].slice(-maxOpen);
        return;
      }
      case "tool_result":
        state.calls = state.calls.filter(({ call }) => call !== entry.call);
        return;
      case "process":
        state.failedCompactions = countedWith(entry.value, state);
        return this.#takeProcess(entry);
      case "action":
      case "ask":
        return this.#takeReference(entry);
      case "notice":
        return this.#unread(entry.seq);
      case "summary":
        state.failedCompactions = noneFailed;
        if (entry.covers === undefined || !this.#isChannel(entry.process)) return;
        state.summary = { seq: entry.seq, covers: entry.covers };
        state.contextTokens = entry.tokens ?? state.contextTokens;
        return;
      case "usage":
        state.usage.input_tokens += entry.input_tokens;
        state.usage.output_tokens += entry.output_tokens;
        if (this.#isChannel(entry.process)) state.contextTokens = tokensOf(entry);
        if (entry.usd !== undefined) state.usage.usd = (state.usage.usd ?? 0) + entry.usd;
        return;
      case "block":
        return this.#takeBlock(entry);
      case "pin":
        state.pins = state.pins.filter((id) => id !== entry.entry);
        if (entry.pinned) state.pins = [...state.pins, entry.entry].slice(-maxPins);
        return;
      case "meta": {
        const { read = 0 } = entry;
        state.unreadAt = state.unreadAt.filter((seq) => seq > read);
        state.title = entry.title ?? state.title;
        state.model = entry.model ?? state.model;
        if (entry.state === "open" || entry.state === "archived") state.state = entry.state;
        return;
      }
      case "redaction":
        for (const replaced of replacedBy(entry)) this.#takeReplaced(replaced);
        return;
      case "conclusion":
        // A mind's own log has no channel.
        if (state.processes.some(({ id, kind }) => kind === "channel" && id !== entry.process))
          state.isUnread = true;
    }
  }

  /** Takes over what a redaction kept of a removed entry, so that no call or message stays open. */
  #takeReplaced(entry: Entry): void {
    const state = this.#state;
    if (entry.tainted === true) this.#add(state.tainted, entry);
    if (isForeign(entry)) this.#add(state.foreign, entry);
    if (entry.kind === "message") this.#closeMessage(entry.id);
    else if (entry.kind === "tool_result")
      state.calls = state.calls.filter(({ call }) => call !== entry.call);
    else if (entry.kind === "redaction")
      for (const replaced of replacedBy(entry)) this.#takeReplaced(replaced);
    else if (entry.kind === "process") this.#takeReplacedProcess(entry);
    else if (entry.kind === "block") this.#takeBlock(entry);
    else if (entry.kind === "summary" && entry.covers !== undefined && this.#isChannel(entry.process)) {
      if (state.summary === null || state.summary.seq < entry.seq)
        state.summary = { seq: entry.seq, covers: entry.covers };
    }
  }

  #unread(seq: number): void {
    this.#state.unreadAt = [...this.#state.unreadAt, seq].slice(-maxUnread);
  }

  #takeMessage({ seq, id, process, role, origin, partial }: EntryOf<"message">): void {
    const state = this.#state;
    if (partial === true) {
      // Earlier versions could write a piece after its whole answer.
      if (!state.requests.some(({ message }) => message === id)) return;
      if (!state.partial.some(({ message }) => message === id))
        state.partial = [...state.partial, { process, message: id }].slice(-maxOpen);
      return;
    }
    this.#closeMessage(id);
    if (role === "user" && origin !== "kernel" && this.#isChannel(process)) {
      state.isUnread = true;
      state.isScheduled = origin === scheduleOrigin;
    }
    if (role === "user" && origin === "person") {
      state.unreadAt = [];
      state.rejections = 0;
    } else if (role === "assistant" && this.#isChannel(process)) this.#unread(seq);
  }

  #takeBlock({ name, seq }: EntryOf<"block">): void {
    const state = this.#state;
    if (state.blocks.some((block) => block.name === name && block.seq > seq)) return;
    state.blocks = [...state.blocks.filter((block) => block.name !== name), { name, seq }].slice(-maxOpen);
  }

  /**
   * Ignores the replacement of an entry that is not the process's newest, and of a process that a fork did not take over.
   * Otherwise a redacted old entry would restart a process that has ended or that a person has stopped.
   */
  #takeReplacedProcess(entry: EntryOf<"process">): void {
    const { processSeqs, processes } = this.#state;
    const known = processSeqs.find(({ id }) => id === entry.value.id);
    const isListed = processes.some(({ id }) => id === entry.value.id);
    if (known === undefined || (isListed && known.seq <= entry.seq)) this.#takeProcess(entry);
  }

  #takeProcess({ value, seq }: EntryOf<"process">): void {
    const state = this.#state;
    state.processSeqs = [
      ...state.processSeqs.filter(({ id }) => id !== value.id),
      { id: value.id, seq },
    ].slice(-maxSeqs);
    const at = state.processes.findIndex(({ id }) => id === value.id);
    const { model } = state.processes[at] ?? {};
    const shown = { ...withShortTexts(value), ...(model === undefined ? {} : { model }) };
    if (at === -1) state.processes = [...state.processes, shown].slice(-maxOpen);
    else state.processes[at] = shown;
    if (!endedStates.has(value.state)) return;
    // Nothing of a process that has ended is waited for, whatever a kernel that died did not write.
    const isOthers = ({ process }: { readonly process: string }): boolean => process !== value.id;
    state.requests = state.requests.filter(isOthers);
    state.calls = state.calls.filter(isOthers);
    // An action may still be made, so its end has to be written. A channel begins again, and learns of all its decisions.
    if (value.kind !== "channel")
      state.references = state.references.filter((open) => open.kind === "action" || isOthers(open));
    else state.isUnread = false;
    state.partial = state.partial.filter(isOthers);
    const ended = state.processes.filter((process) => isOver(process));
    const dropped = new Set(ended.slice(0, Math.max(0, ended.length - maxEnded)));
    if (dropped.size > 0) state.processes = state.processes.filter((process) => !dropped.has(process));
  }

  #takeReference({ kind, ref, process, origin, state: now }: EntryOf<"action"> | EntryOf<"ask">): void {
    const state = this.#state;
    const isOpen = openStates.has(now);
    // Several processes may wait for one question.
    state.references = state.references.filter(
      (open) => open.kind !== kind || open.ref !== ref || (isOpen && open.process !== process),
    );
    const isTold = origin === "person" || (!isOpen && origin !== noteOrigin);
    if (kind === "action" && isTold && this.#isChannel(process)) state.isUnread = true;
    if (isOpen) state.references = [...state.references, { kind, ref, process }].slice(-maxOpen);
    else if (origin === "person") {
      state.isScheduled = false;
      state.unreadAt = [];
      state.rejections = rejected.has(now) ? state.rejections + 1 : 0;
    }
  }

  #closeMessage(id: string): void {
    this.#closeRequest(({ message }) => message === id);
    this.#state.partial = this.#state.partial.filter(({ message }) => message !== id);
  }

  #closeRequest(isClosed: (request: OpenRequest) => boolean): void {
    this.#state.requests = this.#state.requests.filter((request) => !isClosed(request));
  }

  #add(known: string[], { sources = [], origin, by }: Entry): void {
    for (const source of by === undefined ? (sources.length === 0 ? [origin] : sources) : [`agent:${by}`])
      if (!known.includes(source) && known.length < maxSources)
        known.push(known.length < maxSources - 1 ? source : otherSources);
  }

  #isChannel(id: string): boolean {
    return this.#state.processes.find((process) => process.id === id)?.kind === "channel";
  }
}

/** A channel that has ended begins again with the next message, and so is always listed. */
const isOver = ({ kind, state }: Process): boolean => kind !== "channel" && endedStates.has(state);

/** Returns a stored state, to which an earlier version of Lares did not give every field. */
export function stateIn(stored: Partial<ConversationState>): ConversationState {
  return { ...emptyState(), ...stored };
}

export function emptyState(): ConversationState {
  return {
    version: 1,
    title: "",
    model: "",
    state: "open",
    created: "",
    updated: "",
    seq: 0,
    unreadAt: [],
    usage: { input_tokens: 0, output_tokens: 0, usd: null },
    contextTokens: 0,
    tainted: [],
    foreign: [],
    processes: [],
    asked: "",
    processSeqs: [],
    requests: [],
    calls: [],
    references: [],
    rejections: 0,
    failedCompactions: noneFailed,
    isUnread: false,
    isScheduled: false,
    partial: [],
    pins: [],
    blocks: [],
    summary: null,
  };
}

function tokensOf(usage: EntryOf<"usage">): number {
  const {
    input_tokens: input,
    output_tokens: output,
    cache_read_tokens: read = 0,
    cache_write_tokens: written = 0,
  } = usage;
  return input + output + read + written;
}

function withShortTexts(process: Process): Process {
  const { task, status, error } = process;
  const short = (text: string): string => text.slice(0, maxTextCharacters).toWellFormed();
  return {
    ...process,
    ...(task === undefined ? {} : { task: short(task) }),
    ...(status === undefined ? {} : { status: short(status) }),
    ...(error === undefined ? {} : { error: { ...error, message: short(error.message) } }),
  };
}

const kindOf = (value: unknown): string =>
  Array.isArray(value) ? "array" : value === null ? "null" : typeof value;
