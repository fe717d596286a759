import { LaresError } from "../base/errors.ts";
import { newId } from "../base/ids.ts";
import type { Action } from "../base/vocabulary/action.ts";
import { otherSources } from "../base/vocabulary/bounds.ts";
import type { Asking } from "../base/vocabulary/ask.ts";
import type { Entry, Process } from "../base/vocabulary/conversation.ts";
import type { MindPlace } from "../base/vocabulary/interception.ts";
import type { ModelMessage } from "../base/vocabulary/model.ts";
import {
  begunAt,
  ownAccord,
  type Principal,
  type ProcessPrincipal,
  withSources,
} from "../base/vocabulary/principal.ts";
import type { ToolResult } from "../base/vocabulary/tool-result.ts";
import type { Context, SuffixPart } from "../context/context.ts";
import type { ContextPrefix } from "../context/prefix.ts";
import type { Marked } from "../context/taint.ts";
import type { NewEntry } from "../conversations/records.ts";
import type { LoggedCall } from "./answer-writer.ts";
import type { ContextTail } from "./context-tail.ts";
import type { DecidedChanges } from "./decided-changes.ts";
import type { EntryMaker, Provenance } from "./entries.ts";
import type { ProcessEvent } from "./machine.ts";
import type { Places } from "./places.ts";
import type { Mind, MindPorts, ProcessLog } from "./ports.ts";
import type { RestingContexts } from "./resting-contexts.ts";

/** The beginning of a request that is made for one process alone, and what it was made of. */
export interface GivenContext {
  readonly messages: readonly ModelMessage[];
  readonly covered: readonly Entry[];
  /** Everything that its texts inherit from. */
  readonly madeOf: readonly Marked[];
}

/** What a conversation at work is made of. */
export interface ConversationParts {
  readonly ports: MindPorts;
  readonly places: Places;
  readonly resting: RestingContexts;
  /** How many processes may work at once in all conversations, and how many one may have. */
  limits(): { readonly atOnce: number; readonly processes: number };
  /** Nothing works in it any more. */
  rested(): void;
}

/** A process at work, as the other parts of its conversation see it. */
export interface AtWork {
  record: Process;
  readonly signal: AbortSignal;
  /** When it began what it does now; see `Lineage.begun`. */
  readonly begun: string;
  /** The id of the entry that began its turn. */
  readonly turn: string;
  readonly maker: EntryMaker;
  /** Null before it has read its context. */
  readonly tail: ContextTail | null;
  /** The entries that its model reads, those of which it writes a summary too. */
  readonly read: readonly Entry[];
  /** The seq of its last request; 0: it made none yet. */
  readonly lastRequest: number;
  /** Changes the state without writing it down. */
  enter(event: ProcessEvent): void;
  /** Changes the state, and writes it down behind other entries. */
  move(event: ProcessEvent, more?: Partial<Process>, before?: readonly NewEntry[]): Promise<void>;
  /** Returns where a text comes from that was made of what it has read. */
  provenance(origin: string): Provenance;
  /** True if something came after its last request. */
  hasUnread(what: "spoken" | "any"): boolean;
}

/** The outcome of one of the kernel's own tools. */
export interface OwnResult {
  readonly result: ToolResult;
  /** Returns why the call cannot be made after all; asked when everything before is in the log. */
  readonly refusal?: () => string | null;
  /** Returns the result that the call gets once its entries are in the log and `after` was called. */
  readonly later?: () => Promise<ToolResult>;
  /** Where its text comes from; default the kernel. */
  readonly provenance?: Provenance;
  /** Entries that are written with the result. */
  readonly also?: readonly NewEntry[];
  /** Called when these are in the log. */
  readonly after?: () => Promise<void>;
}

/** The services of a conversation that its processes use. */
export interface ProcessHost {
  readonly ports: MindPorts;
  readonly log: ProcessLog;
  /** Messages that the channel must not read yet. */
  readonly inputs: {
    readonly isHeld: boolean;
    /** Resolves once none is held. Rejects with the signal's reason. */
    released(signal: AbortSignal): Promise<void>;
  };
  /** True if nobody is there, so that no further request is made. */
  readonly isUnattended: boolean;
  /** The questions and actions that wait for the person. */
  readonly decisions: {
    /** What the person has decided about changes. */
    readonly changes: Pick<DecidedChanges, "load" | "sources">;
    /** True if the person has to speak first. */
    readonly isPaused: boolean;
    /** Returns the entry of an action that a process proposed; none if it is in the log already. */
    entriesOf(process: AtWork, action: Action): Promise<NewEntry[]>;
    /** Logs the action that a call's result names, if nobody was asked about it. */
    called(result: ToolResult): Promise<void>;
    /** Returns what became of an action once a person or time has decided about it. */
    result(action: string, signal: AbortSignal): Promise<ToolResult>;
    /** Writes the end of an action that may have ended before its entry was in the log. */
    check(action: string): Promise<void>;
    /** Returns how a process asks the person. `key`: names in its conversation what asks. */
    asking(process: AtWork, key: string, isLetGo?: () => boolean): Asking;
    /** A call of a channel continues without the answer to a question, which is told later. */
    letGo(question: string): Promise<void>;
  };
  /** Returns the mind; AgentError, with the reason, where it may not be used now. */
  mind(): Mind;
  /** Returns a process as the principal of what it does. */
  principalOf(process: Pick<Process, "id" | "kind">): ProcessPrincipal;
  /** Returns the context. Begins it if there is none. */
  tailOf(process: Process): Promise<ContextTail>;
  /** Writes down what was changed elsewhere since the process last looked. */
  tellChanges(process: AtWork): Promise<void>;
  /** The current status, added to this request only. */
  suffixOf(process: Process): readonly SuffixPart[];
  /** Runs one of the kernel's own tools for a process. */
  runOwnTool(process: AtWork, call: LoggedCall): Promise<OwnResult>;
  /** Makes the context smaller if that is needed; false if it stays as it is. */
  makeRoom(process: AtWork, filled: Filled): Promise<boolean>;
}

/** How full a context is: a model refused it as too long, or answered it as it was sent, with a window of so many tokens. */
export type Filled = "overflow" | { readonly context: Context; readonly limit: number };

/** An edit of a mind's block that was made from text that nobody vouches for. */
export interface DoubtfulEdit {
  readonly block: string;
  readonly text: string;
  readonly sources: readonly string[];
}

/** Further services, for the kernel's own tools and the compactor. */
export interface ConversationHost extends ProcessHost {
  readonly decisions: ProcessHost["decisions"] & {
    /** Asks whether the mind may keep an edit. Returns entries for the log, and what to call when they are in it. */
    askAboutBlock(
      process: AtWork,
      call: string,
      edit: DoubtfulEdit,
    ): Promise<{ readonly entries: readonly NewEntry[]; readonly after: () => Promise<void> }>;
  };
  /** Returns the beginning of a process's context as it would be now. */
  prefixFor(process: Pick<Process, "kind" | "name" | "interactive">): Promise<ContextPrefix>;
  /** Starts a child of a process, whose entries are in the log already. */
  startChild(record: Process, turn: string): void;
  /** Stops a process and what it started. */
  cancel(by: Principal, id: string, reason?: string): Promise<void>;
  /** Resolves when nothing works for a process in this kernel any more. */
  ended(id: string): Promise<void>;
  /** Waits for the end of a child, while others may have the place of whoever waits. Null if there is no such process. */
  untilEnded(parent: AtWork, child: string): Promise<Process | null>;
  /** Has a model write a summary. Returns null if it failed or was stopped, which is in the log. */
  runCompaction(record: Process, given: GivenContext): Promise<string | null>;
  /** Writes the end of a process that nothing works for. */
  drop(process: Process): Promise<void>;
  /** A compaction has ended, or no message is held any more. */
  workEnded(): void;
}

/** Returns a process as the principal of what it does. */
export function principalOf(
  { id: conversation, header: { agent } }: ProcessLog,
  { id, kind }: Pick<Process, "id" | "kind">,
): ProcessPrincipal {
  return { kind: "process", process: kind, agent, conversation, id, lineage: ownAccord };
}

/**
 * Returns a process as the principal of a call. It carries the sources of all that the process has read: so what the call
 * writes is marked where it is kept, and not only in what the call says about it.
 */
export function callerOf(
  host: Pick<ProcessHost, "principalOf">,
  process: Pick<AtWork, "record" | "begun" | "provenance">,
): ProcessPrincipal {
  const { sources = [], isTainted = false } = process.provenance("model");
  const caller = begunAt(host.principalOf(process.record), process.begun);
  if (!isTainted) return caller;
  return {
    ...caller,
    lineage: withSources(caller.lineage, sources.length === 0 ? [otherSources] : sources),
  };
}

/** Returns a mind; AgentError, with the reason, where it may not be used now. */
export function mindOf(ports: Pick<MindPorts, "mindOf" | "whyNot">, agent: string): Mind {
  const mind = ports.mindOf(agent);
  if (mind !== null) return mind;
  throw new LaresError("AgentError", ports.whyNot(agent), { agent });
}

export function asError(message: string, recoverable = true): ToolResult {
  return { status: "error", message, recoverable };
}

/** Returns where a process works, for whoever is asked about what it does. `begun`: see `AtWork`. */
export function placeOf(
  { id: conversation, header: { agent }, state: { tainted: sources, foreign } }: ProcessLog,
  { record: { id: process, kind }, begun = newId(), tail = null }: PlacedProcess,
): MindPlace {
  const holdsForeign = foreign.length > 0 || (tail !== null && isKept(tail.prefix));
  return { agent, conversation, process, kind, begun, sources, holdsForeign };
}

/** True if a context begins with something that the mind keeps from other conversations. */
export function isKept({ bulletin, remembered, blocks }: ContextPrefix): boolean {
  return bulletin !== "" || remembered.length > 0 || blocks.some(({ text }) => text !== "");
}

interface PlacedProcess extends Partial<Pick<AtWork, "begun" | "tail">> {
  readonly record: Pick<Process, "id" | "kind">;
}

/** The same for whoever is shown what a process has read or written. `shown`: what else, which is not in the log yet. */
export function placeOfReader(
  log: ProcessLog,
  process: Pick<AtWork, "record" | "begun" | "tail" | "provenance">,
  shown?: Pick<Provenance, "sources" | "isTainted">,
): MindPlace {
  const place = placeOf(log, process);
  const sources = new Set(place.sources);
  for (const { sources: more = [], isTainted } of [process.provenance("model"), shown ?? {}])
    if (isTainted === true) for (const source of more) sources.add(source);
  return { ...place, sources: [...sources] };
}
