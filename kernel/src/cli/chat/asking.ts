import { silentHere } from "../../base/turn-ends.ts";
import type { Ask } from "../../base/vocabulary/ask.ts";
import type { Conversation, Entry, Process } from "../../base/vocabulary/conversation.ts";
import { processIs } from "../../base/vocabulary/process-words.ts";
import type { KernelClient } from "../kernel-client.ts";
import { oneLine } from "../render/foreign.ts";
import type { Notice } from "../render/model.ts";
import type { Terminal } from "../terminal.ts";
import { ConversationLink } from "./link.ts";
import { namedFiles } from "./files.ts";
import type { OpenedChat } from "./open.ts";
import { codeOf, type Failure, type Outcome } from "./outcome.ts";
import { Spoken } from "./spoken.ts";
import {
  addNews,
  channelOf,
  emptyTranscript,
  hasWork,
  isAtRest,
  type News,
  type Transcript,
} from "./state/transcript.ts";
import { plainTextOf } from "./state/messages.ts";

interface AskingListener {
  /** A piece of what the mind answers, or the end of a message. */
  said?(text: string): void;
  entry?(entry: Entry): void;
  /** Other work in progress, in one line. */
  remark(text: string): void;
  readonly notice?: (notice: Notice) => void;
}

const stopped: Failure = { code: "Cancelled", message: "It was stopped." };
const unknownFailure: Failure = { code: "InternalError", message: "It failed." };
const silent: Failure = { code: "ModelError", class: "EmptyAnswer", message: silentHere };

/** After this long without news, what is not expected to end has ended. */
const silenceMs = 2_000;
const checkMs = 100;

/** Asks one question after the other in a conversation, without a screen. */
export class Asking implements AsyncDisposable {
  readonly #terminal: Terminal;
  readonly #listener: AskingListener;
  readonly #link: ConversationLink;
  readonly #asks = new Map<string, Ask>();
  readonly #spoken: Spoken;
  /** The text of the last message in each turn of the channel; empty where that does not count. */
  readonly #lastTexts = new Map<string, string>();
  #transcript: Transcript = emptyTranscript;
  #conversation: Conversation;
  #newsAtMs = Date.now();
  #gone: string | null = null;
  /** Entries up to this one were there before. */
  #before = 0;
  /** Entries up to this one have been waited for. */
  #reached = 0;
  #isTelling = false;
  #isNew: boolean;

  constructor(terminal: Terminal, chat: OpenedChat, listener: AskingListener) {
    this.#terminal = terminal;
    // Nobody would read the rest of the answer.
    terminal.interruptWithReader();
    this.#listener = listener;
    this.#spoken = new Spoken(listener.said?.bind(listener));
    this.#conversation = chat.conversation;
    this.#isNew = chat.isNew;
    const { interrupted, isInteractive: isWatched } = terminal;
    this.#link = new ConversationLink(
      chat.connection,
      { connect: () => chat.connect(), interrupted, isWatched },
      {
        news: (news) => this.#take(news),
        conversation: (changed) => {
          this.#conversation = changed;
        },
        deleted: () => {
          this.#gone = "The conversation was deleted elsewhere.";
        },
        action: () => undefined,
        notice: listener.notice,
        ask: (ask) => {
          this.#newsAtMs = Date.now();
          if (ask.state === "Pending") this.#asks.set(ask.id, ask);
          else this.#asks.delete(ask.id);
        },
        cutOff: (isCutOff) => {
          this.#newsAtMs = Date.now();
          if (isCutOff) this.#listener.remark("The kernel ended; it is started again.");
        },
        gone: (reason) => {
          this.#gone = `The connection to the kernel was lost: ${reason}`;
        },
      },
    );
  }

  get kernel(): KernelClient {
    return this.#link.kernel;
  }

  get conversation(): Conversation {
    return this.#conversation;
  }

  get transcript(): Transcript {
    return this.#transcript;
  }

  async begin(): Promise<void> {
    this.#before = this.#conversation.seq;
    await this.#link.follow(this.#conversation.id);
    this.#newsAtMs = Date.now();
    await this.#reach(this.#before);
  }

  /** Resolves when the transcript has all that the log has, so that a command sees what the ones before it did. */
  async catchUp(): Promise<void> {
    const { id } = this.#conversation;
    const { seq } = await this.#link.ask((kernel) => kernel.conversation(id));
    this.#newsAtMs = Date.now();
    await this.#reach(seq);
  }

  async #reach(seq: number): Promise<void> {
    // The last entry may have been redacted, and then it does not come: it is not waited for again.
    await this.until(() => Math.max(this.#transcript.lastSeq, this.#reached) >= seq || this.#isSilent);
    this.#reached = seq;
  }

  /** Continues with another conversation, and deletes the one before if nothing was said in it. */
  async show(conversation: Conversation, isNew: boolean, isTelling = false): Promise<void> {
    const before = this.#isEmpty ? this.#conversation.id : null;
    this.#isNew = isNew;
    this.#isTelling = isTelling;
    this.#conversation = conversation;
    this.#transcript = emptyTranscript;
    this.#reached = 0;
    this.#asks.clear();
    this.#spoken.clear();
    await this.begin();
    if (before !== null) await this.#link.kernel.deleteConversation(before).catch(() => null);
  }

  /** Sends a question and resolves when it is answered, has failed, or waits for a person. */
  async ask(text: string, key: string): Promise<Outcome> {
    const { id } = this.#conversation;
    this.#isTelling = true;
    this.#lastTexts.clear();
    const parts = await namedFiles(this.#link.kernel, text, (sentence) => this.#listener.remark(sentence));
    // From here on something is said in it, although its entry may come after an interruption.
    this.#isNew = false;
    const { entry } = await this.#link.ask((kernel) =>
      kernel.send({ id, key, ...(parts === null ? { text } : { parts }) }),
    );
    return await this.#answerTo(entry);
  }

  /** Continues with a conversation that a command has begun, and resolves as for a question. */
  async answered(conversation: Conversation): Promise<Outcome> {
    this.#lastTexts.clear();
    await this.show({ ...conversation, seq: 0 }, false, true);
    const first = (): string | undefined =>
      [...this.#transcript.messages.values()].find(({ role }) => role === "user")?.id;
    await this.until(() => first() !== undefined);
    return await this.#answerTo(first() ?? "");
  }

  async #answerTo(entry: string): Promise<Outcome> {
    const { id } = this.#conversation;
    try {
      await this.until(() => this.#isOver(entry));
    } finally {
      // An error begins a new line.
      this.#spoken.endLine();
    }
    if (this.#terminal.interrupted.aborted) {
      await this.#link.kernel.cancelConversation(id).catch(() => null);
      return { ...(await this.#outcome(entry)), code: this.#terminal.interruptedCode, error: stopped };
    }
    this.#conversation = await this.#link.ask((kernel) => kernel.conversation(id));
    const { seq, unread } = this.#conversation;
    // It stays unread elsewhere if the kernel does not take it.
    if (unread > 0) await this.#link.kernel.updateConversation({ id, read: seq }).catch(() => null);
    return this.#outcome(entry);
  }

  /** Resolves when it is so, or when Ctrl-C was pressed. */
  async until(isSo: () => boolean): Promise<void> {
    while (!this.#terminal.interrupted.aborted && !isSo()) {
      if (this.#gone !== null) throw new Error(this.#gone);
      await new Promise((resolve) => setTimeout(resolve, checkMs));
    }
  }

  get #isSilent(): boolean {
    return Date.now() - this.#newsAtMs > silenceMs;
  }

  #isOver(entry: string): boolean {
    if (this.#transcript.messages.get(entry)?.whole == null) return false;
    if (isAtRest(this.#transcript)) return true;
    // A process that waits for an answer counts as one that works.
    return this.#isSilent && (!hasWork(this.#transcript) || this.#asks.size > 0);
  }

  async #outcome(entry: string): Promise<Outcome> {
    const seq = this.#transcript.messages.get(entry)?.whole?.seq ?? 0;
    const channel = channelOf(this.#transcript);
    const answers = [...this.#transcript.messages.values()].filter(
      ({ role, process, whole, isVoid }) =>
        role === "assistant" && process === channel?.id && !isVoid && (whole?.seq ?? 0) > seq,
    );
    const waiting = await this.#waiting();
    const cut = answers.at(-1)?.cut ?? null;
    const error = this.#errorOf(channel, waiting.length > 0 || cut !== null);
    const failed = this.#failedSince(seq);
    return {
      code: codeOf(error, cut, waiting.length, failed.length),
      text: answers.map(plainTextOf).findLast((text) => text !== "") ?? "",
      error,
      cut,
      failed,
      waiting,
      conversation: this.#conversation,
    };
  }

  /** `isOtherwise`: something else than a text says how it ended. */
  #errorOf(channel: Process | null, isOtherwise: boolean): Failure | null {
    if (channel?.state === "Failed") return channel.error ?? unknownFailure;
    if (channel?.state === "Cancelled") return stopped;
    // A later turn, which began with what a worker found, may have the answer instead.
    const isAnswered = [...this.#lastTexts.values()].some((text) => text.trim() !== "");
    return isAnswered || isOtherwise ? null : silent;
  }

  #failedSince(seq: number): Outcome["failed"] {
    return [...this.#transcript.processes.values()].flatMap(({ last, value }) =>
      last > seq && value.state === "Failed" && (value.kind === "worker" || value.kind === "branch")
        ? [
            {
              process: value.id,
              kind: value.kind,
              task: value.task ?? value.kind,
              error: value.error ?? unknownFailure,
            },
          ]
        : [],
    );
  }

  async #waiting(): Promise<Outcome["waiting"]> {
    const pending = [...this.#transcript.actions].filter(
      ([, { value }]) => value.state === "PendingApproval",
    );
    const actions = await Promise.all(
      pending.map(async ([id]) => {
        const action = await this.#link.kernel.action(id).catch(() => null);
        return action?.state === "PendingApproval"
          ? [{ kind: "action" as const, id, title: action.title }]
          : [];
      }),
    );
    const asks = [...this.#asks.values()].map(({ id, title }) => ({ kind: "ask" as const, id, title }));
    return [...actions.flat(), ...asks];
  }

  #take(news: readonly News[]): void {
    this.#newsAtMs = Date.now();
    this.#transcript = addNews(this.#transcript, news);
    for (const one of news) {
      if (one.kind === "entry") this.#entry(one.entry);
      else if (one.delta.type === "text") this.#piece(one.delta.process, one.delta.message, one.delta.text);
    }
  }

  #entry(entry: Entry): void {
    if (entry.seq <= this.#before) return;
    this.#listener.entry?.(entry);
    switch (entry.kind) {
      case "message": {
        if (entry.role === "user" && entry.by !== undefined)
          this.#listener.remark(`your message was changed by ${oneLine(entry.by)}`);
        if (entry.role !== "assistant" || entry.partial === true) return;
        const text = entry.parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("");
        if (this.#isChannel(entry.process)) this.#lastTexts.set(entry.turn, text);
        const shown = this.#spoken.of(entry.id);
        if (text !== "") {
          if (text.startsWith(shown)) this.#piece(entry.process, entry.id, text.slice(shown.length));
          else this.#piece(entry.process, entry.id, `\n${text}`);
          this.#end(entry.process);
        }
        return;
      }
      case "void":
        if (this.#isChannel(entry.process)) this.#lastTexts.set(entry.turn, "");
        if (this.#spoken.of(entry.message) !== "") {
          this.#end(entry.process);
          this.#listener.remark("That answer was interrupted; it begins again.");
        }
        return;
      case "tool_call":
        return this.#listener.remark(`calls ${oneLine(entry.tool)}`);
      case "tool_result":
        // A waiting action is shown as a question.
        if (entry.result.status === "error" && entry.result.question === undefined)
          this.#listener.remark(`the call failed: ${oneLine(entry.result.message)}`);
        return;
      case "notice":
        return this.#listener.remark(oneLine(entry.text));
      case "process": {
        const { kind, state, task, error } = entry.value;
        if (kind === "channel") return;
        const why = state === "Failed" && error !== undefined ? ` (${oneLine(error.message)})` : "";
        this.#listener.remark(`${kind} ${processIs[state]}: ${oneLine(task ?? kind)}${why}`);
        return;
      }
      case "action":
      case "ask":
      case "block":
      case "conclusion":
      case "meta":
      case "pin":
      case "redaction":
      case "request":
      case "summary":
      case "usage":
        return;
    }
  }

  #isChannel(process: string): boolean {
    return channelOf(this.#transcript)?.id === process;
  }

  #piece(process: string, message: string, text: string): void {
    if (this.#isTelling && this.#isChannel(process) && text !== "") this.#spoken.add(message, text);
  }

  #end(process: string): void {
    if (this.#isTelling && this.#isChannel(process)) this.#spoken.end();
  }

  get #isEmpty(): boolean {
    return this.#isNew && this.#transcript.messages.size === 0;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#isEmpty) await this.#link.kernel.deleteConversation(this.#conversation.id).catch(() => null);
    await this.#link[Symbol.asyncDispose]();
  }
}
