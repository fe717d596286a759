import type { Clock } from "../base/clock.ts";
import type { PictureType } from "../base/pictures.ts";
import type { Log } from "../base/log.ts";
import type { Action } from "../base/vocabulary/action.ts";
import type { Ask, Asking } from "../base/vocabulary/ask.ts";
import type { AgentDefinition } from "../base/vocabulary/agent-definition.ts";
import type { Hash } from "../base/vocabulary/common.ts";
import type { Entry } from "../base/vocabulary/conversation.ts";
import type { ConversationSearch, Delta } from "../base/vocabulary/conversation-requests.ts";
import type { ForgettingReport, Forgotten } from "../base/vocabulary/forgetting.ts";
import type { MindInterception } from "../base/vocabulary/interception.ts";
import type { MindBlock, MindDefinition } from "../base/vocabulary/mind.ts";
import type { ModelFailure, ModelTool } from "../base/vocabulary/model.ts";
import type { Principal, ProcessKind, ProcessPrincipal } from "../base/vocabulary/principal.ts";
import type { ToolResult } from "../base/vocabulary/tool-result.ts";
import type { ConversationState } from "../conversations/fold.ts";
import type { EntryQuery } from "../conversations/indexed.ts";
import type { FoundEntry, MessageQuestion } from "../conversations/message-search.ts";
import type { Header, NewEntry } from "../conversations/records.ts";
import type { Stretch } from "../conversations/stretches.ts";
import type { AnswerEvent } from "../models/answer.ts";
import type { ModelUse } from "../models/routing.ts";
import type { Asker, ModelQuestion } from "../models/runtime.ts";
import type { MadeSchedules } from "./made-schedules.ts";
import type { EditOutcome, MayShare, SharedText } from "./shared-blocks.ts";

/** An agent that people can talk to. */
export interface Mind {
  readonly agent: Pick<AgentDefinition, "id" | "name">;
  readonly definition: MindDefinition;
}

/** A conversation's log as processes use it. */
export interface ProcessLog {
  readonly id: string;
  readonly header: Header;
  readonly state: Readonly<ConversationState>;
  readonly isBroken: boolean;
  append(entries: readonly NewEntry[] | (() => readonly NewEntry[])): Promise<readonly Entry[]>;
  /** Returns the seq of its record. */
  storePrefix(process: string, prefix: unknown): Promise<number>;
  sync(): Promise<void>;
}

/** The data of conversations that can be read without their logs. */
export interface EntryReader {
  entries(id: string, query: EntryQuery): Promise<Entry[]>;
  entry(id: string, entry: string): Promise<Entry | null>;
  prefix(id: string, process: string): Promise<{ readonly seq: number; readonly data: unknown } | null>;
  /** Returns the bytes of a picture that an entry names; null if it is gone or damaged. */
  picture(id: string, hash: Hash): Promise<Uint8Array | null>;
  /** Returns the entries that fit a question by their words, or by what they mean, the best first. */
  answering(ids: readonly string[], question: MessageQuestion): Promise<readonly FoundEntry[]>;
  /** Returns where a conversation's entries are, the first ones first: a fork has those of its origins. */
  stretchesOf(id: string): Promise<readonly Stretch[]>;
  /** Returns the agent whose mind a conversation belongs to; null if there is none. */
  agentOf(id: string): Promise<string | null>;
}

/** A conversation, or an origin of a fork up to the time at which the fork was made. */
export interface Lineage {
  readonly conversation: string;
  /** A time in ISO 8601; default: now. */
  readonly until?: string;
}

/** The result of a call, and where its text comes from. */
export interface CallOutcome {
  readonly result: ToolResult;
  /** As `Entry.origin`. */
  readonly origin: string;
  readonly isTainted: boolean;
  readonly sources?: readonly string[];
}

/** A picture among the files, and where it comes from. */
export interface FilePicture {
  readonly bytes: Uint8Array;
  readonly media_type: PictureType;
  readonly isTainted: boolean;
  readonly sources?: readonly string[];
}

/** Something that a mind remembers beyond a conversation. */
export interface NewMemory {
  readonly type: string;
  readonly text: string;
  readonly importance?: number;
  readonly about?: string;
  readonly conversation: string;
  /** The call that saved it: a repeated one saves nothing. */
  readonly call: string;
  /** The entries it was made from. */
  readonly sources: readonly string[];
  readonly isTainted: boolean;
  /** The ids of the memories that it replaces; they are not recalled any more. */
  readonly replaces?: readonly string[];
}

export interface RecalledMemory {
  readonly id: string;
  readonly type: string;
  readonly text: string;
  readonly about?: string;
  readonly created: string;
  readonly sources: readonly string[];
  readonly isTainted: boolean;
}

/** A memory as it is now. */
export interface PresentMemory {
  readonly id: string;
  readonly text: string;
  /** The conversation in which it was saved. */
  readonly conversation?: string;
  readonly created?: string;
}

/** Empty without a bulletin. */
export interface BulletinTime {
  /** What was remembered after this time may be missing in the bulletin. */
  readonly from: string;
  /** When the bulletin was written. */
  readonly written: string;
}

export interface CallOptions {
  /** Unique in the conversation. */
  readonly key: string;
  readonly signal: AbortSignal;
  /** The names of the tools that the process was offered; others are refused. */
  readonly offered: readonly string[];
  /** The sources of text that the process has read and that neither a person nor a model wrote. */
  readonly foreign: readonly string[];
  /** How the person is asked about it; absent for a call about which nothing is asked. */
  readonly asking?: Asking;
}

export interface MindPorts {
  readonly clock: Clock;
  readonly log: Log;
  /** Resolves when a step of the conversation may start: many that work at once share the thread. */
  takeTurn(conversation: string): Promise<void>;
  readonly reader: EntryReader;
  /** Returns an agent's mind as it is accepted now; null if there is none, or the agent may not run. */
  mindOf(agent: string): Mind | null;
  /** Returns why an agent's mind cannot be used now. */
  whyNot(agent: string): string;
  readonly models: {
    /** PermissionDenied if the agent may not use models, BudgetExceeded. */
    answer(
      use: ModelUse,
      question: ModelQuestion,
      asker: Asker,
      signal: AbortSignal,
    ): AsyncIterable<AnswerEvent>;
    /** Returns the model that would be asked first for an agent, and how many tokens it reads. */
    choose(
      agent: string,
      use: ModelUse,
    ): Promise<
      { readonly model: string; readonly contextTokens: number } | { readonly failure: ModelFailure }
    >;
    /** True if its answers are not to be trusted: they come from a file. */
    isTainting(model: string): boolean;
    /** Returns whether the model belongs to a rehearsal and this kernel is none, or the other way round. */
    isOfOtherRun(model: string): boolean;
  };
  readonly tools: {
    /** Returns the tools whose names fit a pattern of both lists; always in the same order. */
    list(agent: string, patterns: readonly string[], within: readonly string[]): readonly ModelTool[];
    /** Runs a call. A repeated one with the same key is not run again. Rejects only if the signal is aborted. */
    call(caller: ProcessPrincipal, tool: string, args: unknown, options: CallOptions): Promise<CallOutcome>;
    /**
     * Reads a file that is a picture, as `files/read` would. Returns null if the process may not read it, or if it is not a
     * picture that can be sent to a model.
     */
    picture(caller: ProcessPrincipal, path: string): Promise<FilePicture | null>;
  };
  /** The blocks that all conversations of a mind share, and its bulletin. */
  readonly blocks: {
    /** Returns their texts by name. */
    ofMind(agent: string): Promise<ReadonlyMap<string, string>>;
    bulletinTime(agent: string): Promise<BulletinTime>;
    /** Returns the text of a block in a shared memory, or why the mind may not read it; null for any other block. */
    shared(agent: string, block: MindBlock): Promise<SharedText | { readonly refusal: string } | null>;
    /** Returns why the mind may not change a block; null if it may. */
    mayWrite(agent: string, block: MindBlock): string | null;
    /**
     * Changes one; resolves when it is in its log. A shared one is changed if it has one of the texts that the editor
     * knows; `known`: null for a person.
     */
    edit(agent: string, entry: NewEntry, known: readonly string[] | null): Promise<EditOutcome>;
  };
  readonly mayShare: MayShare;
  readonly memory: {
    /** Resolves when it is on the disk. */
    save(caller: ProcessPrincipal, memory: NewMemory): Promise<ToolResult>;
    /** Returns the memories that exist among these ids. */
    get(caller: ProcessPrincipal, ids: readonly string[]): Promise<readonly RecalledMemory[]>;
    /** Returns the most similar ones first, or why there are none. */
    recall(
      caller: ProcessPrincipal,
      query: string,
      limit: number,
    ): Promise<readonly RecalledMemory[] | ToolResult>;
    /** Returns what was remembered in conversations since a time, without what was forgotten. */
    madeFrom(
      agent: string,
      conversations: readonly string[],
      since: string,
    ): Promise<readonly { readonly id: string; readonly type: string; readonly text: string }[]>;
    /** Returns what a mind has remembered since a time, as far as somebody vouches for it, the newest first. */
    since(agent: string, time: string): Promise<readonly (PresentMemory & { readonly type: string })[]>;
    /** Returns what these memories are now, by their old ids: as they were, or as a person corrected them. */
    present(agent: string, ids: readonly string[]): Promise<ReadonlyMap<string, PresentMemory>>;
    /** Returns what an agent knows as a person searches it, the best first; `memory` as in `lares/memory/query`. */
    find(
      agent: string,
      query: string,
      mode: NonNullable<ConversationSearch["mode"]>,
      limit: number,
    ): Promise<readonly { readonly memory: unknown; readonly text: string }[]>;
  };
  /** Extensions that are asked before something takes effect. */
  readonly intercept: MindInterception;
  /**
   * Stops what agents do for these processes of a conversation, or for all of them (null). The stop holds from this call on;
   * the promise resolves once their jobs are cancelled.
   */
  stopWork(by: Principal, conversation: string, processes: Iterable<string> | null): Promise<void>;
  readonly actions: {
    get(id: string): Promise<Action | null>;
    /**
     * Returns the ids of actions that processes of a conversation led to and that wait for a person. Null: those of all
     * processes.
     */
    waitingOf(conversation: string, processes: ReadonlySet<string> | null): Promise<readonly string[]>;
    /** Returns the newest actions that conversations have led to and that the person has approved, rejected or undone. */
    decidedOf(lineage: readonly Lineage[]): Promise<readonly Action[]>;
    /** Rejects an action, in the name of the person if one stops it, if it still waits for one. */
    reject(by: Principal, id: string, reason: string): Promise<void>;
  };
  /** Removes texts from every place but the logs. Their request is stored until `removeFromLogs` and the rest are done. */
  readonly forgetting: {
    run<Result>(
      request: { readonly forgotten: Forgotten; readonly logs: unknown },
      removeFromLogs: () => Promise<Result>,
    ): Promise<{ readonly result: Result; readonly report: ForgettingReport }>;
  };
  /** The schedules that minds made. */
  readonly schedules: Pick<MadeSchedules, "propose" | "of" | "remove" | "withdraw" | "nextRun">;
  readonly asks: {
    get(id: string): Promise<Ask | null>;
    /** Ends a question for which no call waits. */
    withdraw(id: string): void;
    /**
     * Asks whether a mind may keep a text in one of its blocks. `key`: what asks, once. Returns the question, or the one
     * that was asked before; null if the answer is known.
     */
    block(
      place: { readonly agent: string; readonly conversation: string; readonly process: ProcessKind },
      edit: {
        readonly block: string;
        readonly before: string;
        readonly text: string;
        readonly sources: readonly string[];
        /** The shared memory that keeps the block, if one does. */
        readonly namespace?: string;
      },
      key: string,
    ): Promise<Ask | null>;
  };
  /** Returns whether a person lets a call be made once more in the same words. */
  mayRepeat(
    caller: ProcessPrincipal,
    tool: string,
    args: unknown,
    signal: AbortSignal,
    asking: Asking,
  ): Promise<boolean>;
  /** Tells the person something, wherever they are. */
  notify(notice: {
    readonly agent: string;
    readonly title: string;
    readonly message: string;
    readonly severity: "info" | "warning";
  }): void;
  /** Passes text that streams to the clients that follow the conversation. */
  delta(conversation: string, delta: Delta): void;
}
