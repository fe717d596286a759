import type { AnswerCut } from "../../../base/cut-answer.ts";
import {
  type Entry,
  type EntryOf,
  type Part,
  type Process,
  replacedBy,
} from "../../../base/vocabulary/conversation.ts";
import type { Delta } from "../../../base/vocabulary/conversation-requests.ts";
import type { ToolResult } from "../../../base/vocabulary/tool-result.ts";
import { Grown } from "./grown.ts";
import { overlapOf } from "./overlap.ts";

/** A piece of a message that is not finished. */
export interface Streamed {
  readonly type: Delta["type"];
  readonly part: number;
  readonly text: string;
}

/** Logged parts of a message that is not finished. */
export interface Logged {
  readonly seq: number;
  readonly parts: readonly Part[];
}

export interface Message {
  readonly id: string;
  readonly process: string;
  readonly role: "user" | "assistant";
  readonly origin: string;
  /** The extensions that changed it, by the seq of what each made of it. */
  readonly changedBy: ReadonlyMap<number, string>;
  /** The whole message, once it is in the log, with its seq. */
  readonly whole: { readonly seq: number; readonly parts: readonly Part[] } | null;
  /** Why it ends early. */
  readonly cut: AnswerCut | null;
  /** The partial entries of a message that is not finished, in the order of their seqs. */
  readonly logged: Grown<Logged>;
  /** What came after the last of them. */
  readonly streamed: Grown<Streamed>;
  /** It does not count: its attempt failed, or a kernel died while it was written. */
  readonly isVoid: boolean;
}

export interface Call {
  readonly call: string;
  readonly process: string;
  /** Null until the entry of the call has arrived. */
  readonly asked: { readonly seq: number; readonly tool: string; readonly arguments: unknown } | null;
  readonly result: { readonly seq: number; readonly value: ToolResult } | null;
}

/** The last state of something that changes, with the seq where it is shown. */
interface Latest<Value> {
  readonly first: number;
  readonly last: number;
  readonly value: Value;
}

export type Remark = EntryOf<"notice" | "summary" | "conclusion">;

/**
 * What a conversation's entries come to for a person. Entries may arrive in any order, and pieces of messages before
 * or after what replaces them: the result is that of the entries alone.
 */
export interface Transcript {
  /** The seq of the last entry. */
  readonly lastSeq: number;
  readonly messages: ReadonlyMap<string, Message>;
  readonly calls: ReadonlyMap<string, Call>;
  readonly processes: ReadonlyMap<string, Latest<Process>>;
  readonly actions: ReadonlyMap<string, Latest<{ readonly state: string; readonly process: string }>>;
  readonly remarks: ReadonlyMap<number, Remark>;
  readonly pins: ReadonlyMap<string, Latest<boolean>>;
  /** The requests of processes with the messages that answer them, by their seqs. */
  readonly requests: ReadonlyMap<number, { readonly process: string; readonly message: string }>;
  /** Where processes failed, were stopped or came to rest, by seqs: a channel may do so several times. */
  readonly ends: ReadonlyMap<number, Process>;
}

export const emptyTranscript: Transcript = {
  lastSeq: 0,
  messages: new Map(),
  calls: new Map(),
  processes: new Map(),
  actions: new Map(),
  remarks: new Map(),
  pins: new Map(),
  requests: new Map(),
  ends: new Map(),
};

type Draft = { -readonly [Field in keyof Transcript]: MutableOf<Transcript[Field]> };
type MutableOf<Value> = Value extends ReadonlyMap<infer Key, infer Item> ? Map<Key, Item> : Value;

export type News =
  { readonly kind: "entry"; readonly entry: Entry } | { readonly kind: "delta"; readonly delta: Delta };

/** Returns the transcript with entries and pieces of messages added. Copies once for all of them. */
export function addNews(transcript: Transcript, news: readonly News[]): Transcript {
  if (news.every((one) => one.kind === "delta")) {
    const messages = new Map(transcript.messages);
    for (const { delta } of news) addDelta(messages, delta);
    return { ...transcript, messages };
  }
  const draft: Draft = {
    lastSeq: transcript.lastSeq,
    messages: new Map(transcript.messages),
    calls: new Map(transcript.calls),
    processes: new Map(transcript.processes),
    actions: new Map(transcript.actions),
    remarks: new Map(transcript.remarks),
    pins: new Map(transcript.pins),
    requests: new Map(transcript.requests),
    ends: new Map(transcript.ends),
  };
  for (const one of news) {
    if (one.kind === "entry") addEntry(draft, one.entry);
    else addDelta(draft.messages, one.delta);
  }
  return draft;
}

function addEntry(draft: Draft, entry: Entry): void {
  draft.lastSeq = Math.max(draft.lastSeq, entry.seq);
  switch (entry.kind) {
    case "message":
      return addMessage(draft, entry);
    case "void":
      draft.messages.set(entry.message, {
        ...(draft.messages.get(entry.message) ?? emptyMessage(entry.message, entry.process)),
        isVoid: true,
        streamed: new Grown(),
      });
      return;
    case "tool_call": {
      const { call, tool, seq, process } = entry;
      const known = draft.calls.get(call);
      const asked = { seq, tool, arguments: entry.arguments };
      draft.calls.set(call, { call, process, asked, result: known?.result ?? null });
      return;
    }
    case "tool_result": {
      const { call, result, seq, process } = entry;
      const known = draft.calls.get(call);
      if (known?.result != null && known.result.seq > seq) return;
      draft.calls.set(call, { call, process, asked: known?.asked ?? null, result: { seq, value: result } });
      return;
    }
    case "process":
      if (isEnd(entry.value.state)) draft.ends.set(entry.seq, entry.value);
      return latest(draft.processes, entry.value.id, entry.seq, entry.value);
    case "action":
      return latest(draft.actions, entry.ref, entry.seq, { state: entry.state, process: entry.process });
    case "notice":
    case "summary":
    case "conclusion":
      draft.remarks.set(entry.seq, entry);
      return;
    case "pin":
      return latest(draft.pins, entry.entry, entry.seq, entry.pinned);
    case "request":
      draft.requests.set(entry.seq, { process: entry.process, message: entry.message });
      return;
    case "redaction":
      // A removed text also disappears from where it was already drawn.
      for (const replaced of replacedBy(entry)) addEntry(draft, replaced);
      return;
    case "ask":
    case "usage":
    case "block":
    case "meta":
      // Questions come by themselves; the rest is in the description of the conversation.
      return;
  }
}

function latest<Value>(map: Map<string, Latest<Value>>, key: string, seq: number, value: Value): void {
  const known = map.get(key);
  if (known === undefined) map.set(key, { first: seq, last: seq, value });
  else if (seq > known.last) map.set(key, { first: known.first, last: seq, value });
  else if (seq < known.first) map.set(key, { ...known, first: seq });
}

function addMessage(draft: Draft, entry: EntryOf<"message">): void {
  const { id, process, role, origin, seq, parts, by } = entry;
  const before = draft.messages.get(id) ?? emptyMessage(id, process);
  const changedBy = by === undefined ? before.changedBy : new Map(before.changedBy).set(seq, by);
  const known = { ...before, changedBy };
  if (known.whole !== null && known.whole.seq > seq) return void draft.messages.set(id, known);
  const described = { ...known, process, role, origin };
  if (entry.partial !== true) {
    const cut = entry.cut ?? null;
    const none = { logged: new Grown<Logged>(), streamed: new Grown<Streamed>() };
    draft.messages.set(id, { ...described, whole: { seq, parts }, cut, ...none });
    return;
  }
  if (known.whole !== null) return;
  draft.messages.set(id, {
    ...described,
    logged: withLogged(known.logged, { seq, parts }),
    streamed: known.isVoid ? new Grown() : behind(known.streamed, parts.map(textOfPart).join("")),
  });
}

function withLogged(logged: Grown<Logged>, added: Logged): Grown<Logged> {
  if (added.seq > (logged.last?.seq ?? 0)) return logged.with(added);
  // Late, or in the place of one whose text was removed.
  const others = logged.from(0).filter(({ seq }) => seq !== added.seq);
  return new Grown([...others, added].toSorted((a, b) => a.seq - b.seq));
}

function addDelta(messages: Draft["messages"], { message, process, part, type, text }: Delta): void {
  const known = messages.get(message) ?? emptyMessage(message, process);
  if (known.whole !== null || known.isVoid) return;
  messages.set(message, { ...known, streamed: known.streamed.with({ type, part, text }) });
}

function emptyMessage(id: string, process: string): Message {
  return {
    id,
    process,
    role: "assistant",
    origin: "model",
    changedBy: new Map(),
    whole: null,
    cut: null,
    logged: new Grown(),
    streamed: new Grown(),
    isVoid: false,
  };
}

/**
 * Returns the pieces that a partial entry does not have yet. A client that began to follow in mid-answer has only the
 * end of the entry's text, so the longest common piece counts.
 */
function behind(streamed: Grown<Streamed>, text: string): Grown<Streamed> {
  const pieces = streamed.from(0);
  const pending = pieces.map((piece) => (piece.type === "tool_call" ? "" : piece.text)).join("");
  let common = overlapOf(text, pending);
  const left: Streamed[] = [];
  for (const piece of pieces) {
    if (piece.type === "tool_call") {
      left.push(piece);
      continue;
    }
    const cut = Math.min(common, piece.text.length);
    common -= cut;
    if (cut < piece.text.length) left.push({ ...piece, text: piece.text.slice(cut) });
  }
  return new Grown(left);
}

function textOfPart(part: Part): string {
  return part.type === "text" || part.type === "reasoning" ? part.text : "";
}

/** Returns the process that talks to the person. */
export function channelOf({ processes }: Transcript): Process | null {
  for (const { value } of processes.values()) if (value.kind === "channel") return value;
  return null;
}

/** True while a process works, the channel or another one. */
export function hasWork(transcript: Transcript): boolean {
  const channel = channelOf(transcript);
  if (channel === null) return true;
  // After the last message, the channel has not yet said that it begins.
  const seq = transcript.processes.get(channel.id)?.last ?? 0;
  if (lastMessageSeq(transcript, channel.id) > Math.max(seq, lastRequest(transcript, channel.id)))
    return true;
  return [...transcript.processes.values()].some(({ value }) => isWorking(value));
}

/** States that a process reaches with a report, or with an error; an interactive worker waits with it. */
const reported: ReadonlySet<Process["state"]> = new Set(["Done", "Failed", "WaitingForInput"]);

/** True if nothing works, and the channel has read how the others ended, which wakes it a moment later. */
export function isAtRest(transcript: Transcript): boolean {
  if (hasWork(transcript)) return false;
  const channel = channelOf(transcript);
  if (channel === null || channel.state !== "WaitingForInput") return true;
  const read = lastRequest(transcript, channel.id);
  return ![...transcript.processes.values()].some(
    ({ last, value: { kind, state } }) =>
      kind !== "channel" && kind !== "compaction" && reported.has(state) && last > read,
  );
}

function lastRequest({ requests }: Transcript, of: string): number {
  let last = 0;
  for (const [seq, { process }] of requests) if (process === of) last = Math.max(last, seq);
  return last;
}

function lastMessageSeq({ messages }: Transcript, channel: string): number {
  let last = 0;
  for (const { role, process, whole, origin } of messages.values())
    if (role === "user" && process === channel && origin !== "kernel") last = Math.max(last, whole?.seq ?? 0);
  return last;
}

/** True for a state in which what a process had begun to write is over. */
function isEnd(state: Process["state"]): boolean {
  return state === "Failed" || state === "Cancelled" || state === "WaitingForInput";
}

/** True for a process that does something by itself. */
export function isWorking({ state }: Process): boolean {
  return state === "Running" || state === "Waiting";
}
