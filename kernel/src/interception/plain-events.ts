import type { Authority } from "../base/vocabulary/permissions.ts";
import { endedStates, type Entry, type EntryOf } from "../base/vocabulary/conversation.ts";
import type { Delta } from "../base/vocabulary/conversation-requests.ts";

/** An event of a conversation, for agents that subscribed to it. */
export interface PlainEvent {
  readonly name: string;
  readonly fields: Readonly<Record<string, unknown>>;
  /** The sources of its texts, if nobody vouches for them. */
  readonly sources?: readonly string[];
  /** Returns the fields for an agent with this authority; if absent, all are told. */
  readonly seenBy?: (authority: Authority) => Readonly<Record<string, unknown>>;
}

/** The state that the next entry's events depend on. */
interface KnownProcess {
  readonly isRunning: boolean;
  /** The message of its last request; null: no turn is open. */
  readonly turn: string | null;
  readonly model: string | null;
}

/** A conversation as far as its events depend on it. Its size is bounded by the processes that work. */
export interface Known {
  readonly processes: ReadonlyMap<string, KnownProcess>;
  /** Messages that have begun and not ended, with the time of their last `MessageUpdate`. */
  readonly messages: ReadonlyMap<string, number>;
}

export const nothingKnown: Known = { processes: new Map(), messages: new Map() };

/** Characters of a message's text that `MessageEnd` holds. */
const maxTextCharacters = 8_000;
const updateEveryMs = 1_000;

const unknownProcess: KnownProcess = { isRunning: false, turn: null, model: null };

/**
 * Returns the events that an entry means, and what is known then. The only place that makes them: processes write entries
 * and know of no event.
 */
export function eventsOfEntry(
  agent: string,
  entry: Entry,
  known: Known,
  /** The seq of the conversation's first entry of its own; a fork has the entries of its origin too. */
  first = 1,
): { readonly events: readonly PlainEvent[]; readonly known: Known } {
  const { conversation, process } = entry;
  const of = (name: string, fields: Record<string, unknown> = {}, where = process): PlainEvent => ({
    name,
    fields: { agent, conversation, process: where, ...fields },
  });
  const events: PlainEvent[] = entry.seq === first ? [of("SessionStart")] : [];
  const before = known.processes.get(process) ?? unknownProcess;
  const updated = (now: Partial<KnownProcess>): Known => ({
    ...known,
    processes: new Map(known.processes).set(process, { ...before, ...now }),
  });
  switch (entry.kind) {
    case "process":
      return takeProcess(entry, known, events, of);
    case "request": {
      const { message, model } = entry;
      if (before.turn === message) return { events, known };
      if (before.turn !== null) events.push(of("TurnEnd"));
      if (before.model !== null && before.model !== model) events.push(of("ModelSelect", { model }));
      events.push(of("TurnStart"));
      return { events, known: updated({ turn: message, model }) };
    }
    case "message":
      return takeMessage(entry, known, events, of);
    case "void":
      return { events, known: without(known, entry.message) };
    case "meta":
      if (entry.state === "archived") events.push(of("SessionEnd"));
      if (entry.state === "open") events.push(of("SessionStart"));
      if (entry.model === undefined || entry.model === "") return { events, known };
      events.push(of("ModelSelect", { model: entry.model }));
      return { events, known: updated({ model: entry.model }) };
    case "summary":
      events.push(of("Compact"));
      return { events, known };
    case "tool_call":
    case "tool_result":
    case "conclusion":
    case "notice":
    case "action":
    case "ask":
    case "usage":
    case "block":
    case "pin":
    case "redaction":
      return { events, known };
  }
}

type Make = (name: string, fields?: Record<string, unknown>, where?: string) => PlainEvent;

function takeProcess(
  { value: { id, state } }: EntryOf<"process">,
  known: Known,
  events: PlainEvent[],
  of: Make,
): { readonly events: readonly PlainEvent[]; readonly known: Known } {
  const before = known.processes.get(id);
  const tell = (name: string): number => events.push(of(name, {}, id));
  const processes = new Map(known.processes);
  if (state === "Waiting") {
    if (before === undefined || !before.isRunning) tell("BeforeAgentStart");
    processes.set(id, { ...(before ?? unknownProcess), isRunning: false });
  } else if (state === "Running" || state === "WaitingForApproval") {
    if (before?.isRunning !== true) {
      // A process that finds a free place at once never waits.
      if (before === undefined) tell("BeforeAgentStart");
      tell("AgentStart");
    }
    processes.set(id, { ...(before ?? unknownProcess), isRunning: true });
  } else {
    if (before !== undefined && before.turn !== null) tell("TurnEnd");
    if (before?.isRunning === true || endedStates.has(state)) tell("AgentEnd");
    processes.delete(id);
  }
  return { events, known: { ...known, processes } };
}

function takeMessage(
  { id, role, parts, partial }: EntryOf<"message">,
  known: Known,
  events: PlainEvent[],
  of: Make,
): { readonly events: readonly PlainEvent[]; readonly known: Known } {
  if (!known.messages.has(id)) events.push(of("MessageStart", { message: id }));
  if (partial === true)
    return known.messages.has(id)
      ? { events, known }
      : { events, known: { ...known, messages: new Map(known.messages).set(id, -Infinity) } };
  const text = parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
  const end = { message: id, role, text: text.slice(0, maxTextCharacters).toWellFormed(), withheld: false };
  events.push(of("MessageEnd", end));
  return { events, known: without(known, id) };
}

/** Returns the events that a piece of an answer means: at most one `MessageUpdate` a second for each message. */
export function eventsOfDelta(
  agent: string,
  conversation: string,
  { process, message }: Pick<Delta, "process" | "message">,
  known: Known,
  nowMs: number,
): { readonly events: readonly PlainEvent[]; readonly known: Known } {
  const fields = { agent, conversation, process, message };
  const last = known.messages.get(message);
  if (last !== undefined && nowMs - last < updateEveryMs) return { events: [], known };
  return {
    events: [
      ...(last === undefined ? [{ name: "MessageStart", fields }] : []),
      ...(last === undefined ? [] : [{ name: "MessageUpdate", fields }]),
    ],
    known: {
      ...known,
      messages: new Map(known.messages).set(message, last === undefined ? -Infinity : nowMs),
    },
  };
}

function without(known: Known, message: string): Known {
  if (!known.messages.has(message)) return known;
  const messages = new Map(known.messages);
  messages.delete(message);
  return { ...known, messages };
}
