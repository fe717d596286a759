import { isoTime, type Clock } from "../base/clock.ts";
import { Emitter } from "../base/emitter.ts";
import {
  illegalTransition,
  invalidParams,
  LaresError,
  limitExceeded,
  messageOf,
  notFound,
} from "../base/errors.ts";
import { newId } from "../base/ids.ts";
import { canonicalJson } from "../base/json.ts";
import type { Log } from "../base/log.ts";
import type { Ask, AskScope, Asking } from "../base/vocabulary/ask.ts";
import type { Hash } from "../base/vocabulary/common.ts";
import { checkPerson, type Principal } from "../base/vocabulary/principal.ts";
import { textRemover } from "../base/without-texts.ts";
import { sha256 } from "../platform/files/hash.ts";
import type { AskAbout, AskStore, ConversationAnswer } from "./ask-rows.ts";
import { Insistence } from "./insistence.ts";
import { type AlwaysAnswers, RememberedAnswers } from "./remembered-answers.ts";
import {
  hasRoom,
  identityOf,
  keyOf,
  maxUnseen,
  type Question,
  roomForProgram,
  type Seen,
  type Subject,
  subjectOf,
  subjectText,
  type Waiting,
} from "./questions.ts";

export type { Question } from "./questions.ts";

export interface AskPorts {
  readonly clock: Clock;
  readonly log: Log;
  readonly rows: AskStore;
  readonly expireAfterMs: () => number;
  readonly remembered: AlwaysAnswers;
}

/** Asks a person before a call continues, and passes the answer to all calls that wait for it. */
export class Asks implements Disposable {
  /** Emitted when a question is asked and when it ends. */
  readonly changed = new Emitter<Ask>();
  readonly #ports: AskPorts;
  readonly #waiting = new Map<string, Waiting>();
  readonly #insistence: Insistence;
  readonly #remembered: RememberedAnswers;

  constructor(ports: AskPorts) {
    this.#ports = ports;
    this.#insistence = new Insistence(ports.clock);
    this.#remembered = new RememberedAnswers(ports.remembered, ports.rows, ports.log);
  }

  /**
   * Continues with questions that an earlier kernel had asked, and that are asked again with their keys, and with the
   * answers for the rest of conversations.
   */
  resume(
    questions: readonly { readonly ask: Ask; readonly about: AskAbout }[],
    answers: readonly ConversationAnswer[] = [],
  ): void {
    for (const answer of answers) this.#remembered.ofConversation(answer);
    for (const { ask, about } of questions) {
      const { id: _id, digest: _digest, state: _state, created: _created, expires, ...shown } = ask;
      const { isUnseen = false, ...rest } = about;
      const leftMs = isUnseen ? null : Math.max(0, Date.parse(expires) - this.#ports.clock.now());
      this.#wait(ask, { ...shown, ...rest }, leftMs).stored = Promise.resolve();
    }
    this.#showNext();
  }

  /**
   * Returns whether a person allows it: at once if they remembered the answer, else after they answered. The same
   * question that waits already is not asked twice. Rejects with the signal's reason; then a question that nothing else
   * waits for is withdrawn. With `asking`, the question or its answer is found again after a restart, and waits unseen
   * while the person has enough to answer; without it, LimitExceeded.
   */
  async isAllowed(question: Question, signal: AbortSignal, asking?: Asking): Promise<boolean> {
    signal.throwIfAborted();
    const subject = subjectOf(question);
    const key = asking === undefined ? "" : keyOf(asking, question);
    let earlier = asking === undefined ? null : await this.#ports.rows.ofKey(key);
    // A person answered it while its row was being read.
    if (earlier?.state === "Pending" && !this.#waiting.has(earlier.id))
      earlier = await this.#ports.rows.ofKey(key);
    signal.throwIfAborted();
    if (earlier !== null && earlier.state !== "Pending") {
      asking?.changed(earlier);
      return earlier.state === "Allowed";
    }
    const known = this.#known(question, subject);
    if (known !== null) return known;
    const before = this.#waiting.get(earlier?.id ?? "");
    const waiting =
      (before?.isBeingAnswered === true ? before : this.#same(question)) ??
      this.#begin(question, subject, asking !== undefined);
    const { ask } = waiting;
    const told =
      asking === undefined
        ? null
        : Promise.all([waiting.stored, this.#ports.rows.addKey(key, ask.id)])
            .catch((error: unknown) => this.#notStored(error))
            .then(() => asking.changed(ask));
    return new Promise<boolean>((resolve, reject) => {
      const end = (ended: Ask): void => {
        signal.removeEventListener("abort", leave);
        const isAllowed = ended.state === "Allowed";
        if (told === null) return resolve(isAllowed);
        void told.then(() => {
          asking?.changed(ended);
          resolve(isAllowed);
        });
      };
      const leave = (): void => {
        waiting.waiters.delete(end);
        const isLast = waiting.waiters.size === 0 && asking?.isPausing() !== true;
        const ended = isLast ? this.#withdraw(waiting) : null;
        if (ended !== null) void told?.then(() => asking?.changed(ended));
        reject(signal.reason as Error);
      };
      waiting.waiters.add(end);
      signal.addEventListener("abort", leave, { once: true });
    });
  }

  /**
   * Asks what no call waits for: whoever asks listens to `changed`. Returns the question, or the one that was asked with
   * this key before; null if the answer is known. It waits unseen while the person has enough to answer.
   */
  async ask(question: Question, asking: Pick<Asking, "key">): Promise<Ask | null> {
    const key = keyOf(asking, question);
    const earlier = await this.#ports.rows.ofKey(key);
    if (earlier !== null) return earlier;
    const subject = subjectOf(question);
    if (this.#known(question, subject) !== null) return null;
    const waiting = this.#same(question) ?? this.#begin(question, subject, true);
    await Promise.all([waiting.stored, this.#ports.rows.addKey(key, waiting.ask.id)]);
    return waiting.ask;
  }

  /** Ends a question for which nothing waits any more; nothing if it has ended, or a call waits for it. */
  withdraw(id: string): void {
    const waiting = this.#waiting.get(id);
    if (waiting?.waiters.size === 0) this.#end(waiting, "Expired");
  }

  /** Returns null if there is none. */
  async get(id: string): Promise<Ask | null> {
    return this.#waiting.get(id)?.ask ?? (await this.#ports.rows.get(id));
  }

  /** Newest first. */
  list(state?: Ask["state"]): Promise<Ask[]> {
    // Waiting questions are here before their rows are stored.
    if (state === "Pending") return Promise.resolve(this.#seenAsks().toReversed());
    return this.#ports.rows
      .list(state)
      .then((asks) => asks.filter(({ id }) => this.#waiting.get(id)?.isUnseen !== true));
  }

  /**
   * Answers for a person; PermissionDenied for anybody else. Resolves once the answer is stored; only then the call
   * continues. NotFound, IllegalTransition if it has ended, DigestMismatch, InvalidParams for a scope that it has not.
   */
  async answer(
    by: Principal,
    id: string,
    answer: { readonly digest: Hash; readonly allow: boolean; readonly remember?: AskScope },
  ): Promise<Ask> {
    checkPerson(by, "answer a question");
    const waiting = this.#waiting.get(id);
    if (waiting === undefined || waiting.isBeingAnswered) {
      const ended = waiting?.ask ?? (await this.#ports.rows.get(id));
      if (ended === null) throw notFound("question", id);
      throw illegalTransition(ended.state, "The question was answered already, or has ended.");
    }
    const { ask, subject } = waiting;
    if (answer.digest !== ask.digest)
      throw new LaresError(
        "DigestMismatch",
        `The answer names the digest ${answer.digest}, but the question has ${ask.digest}. Read the question again.`,
        { digest: ask.digest },
      );
    const scope = answer.remember ?? ask.scopes[0] ?? "once";
    if (!ask.scopes.includes(scope))
      throw invalidParams(
        `This answer can count ${ask.scopes.map((each) => `"${each}"`).join(" or ")}, not "${scope}".`,
        { path: "remember" },
      );
    const forConversation =
      scope === "conversation" && ask.conversation !== undefined
        ? { conversation: ask.conversation, subject: subjectText(subject), allow: answer.allow }
        : null;
    waiting.isBeingAnswered = true;
    const ended = this.#endOf(ask, answer.allow ? "Allowed" : "Denied");
    try {
      if (scope === "always") await this.#remembered.always(subject, answer.allow);
      await waiting.stored;
      await this.#store(ended, waiting, forConversation);
    } catch (error) {
      waiting.isBeingAnswered = false;
      if (waiting.waiters.size === 0 && waiting.stored === null) this.#end(waiting, "Expired");
      throw error;
    }
    if (forConversation !== null) this.#remembered.ofConversation(forConversation);
    if (scope === "once" && !answer.allow) this.#insistence.denied(subject);
    this.#gone(waiting, ended);
    return ended;
  }

  /** Forgets what was answered for the rest of a conversation that was deleted. */
  conversationEnded(conversation: string): void {
    this.#remembered.conversationEnded(conversation);
  }

  /** Removes texts from all questions for a person, and ends those that wait and have one. Returns how many had one. */
  async redact(texts: readonly string[]): Promise<number> {
    const { holds } = textRemover(texts);
    for (const waiting of this.#waiting.values())
      if (holds(JSON.stringify([waiting.ask, waiting.question]))) this.#end(waiting, "Expired");
    this.#remembered.redact(holds);
    return await this.#ports.rows.redact(texts);
  }

  /** Answers no call: they end with the kernel, and the next one marks the questions as ended. */
  [Symbol.dispose](): void {
    for (const { timer } of this.#waiting.values()) timer?.[Symbol.dispose]();
    this.#waiting.clear();
  }

  /** Returns the answer to a question that need not be asked; null if it has to be. */
  #known(question: Question, subject: Subject): boolean | null {
    return this.#remembered.find(question, subject) ?? this.#insistence.quietAnswer(subject);
  }

  #begin(question: Question, subject: Subject, isKept: boolean): Waiting {
    const { clock, expireAfterMs } = this.#ports;
    if (!isKept) this.#checkRoom(question.agent);
    const isUnseen = isKept && !hasRoom(this.#seen, question);
    if (isUnseen) this.#checkUnseen(question.agent);
    const { about: _about, countsFor: _countsFor, ...shown } = question;
    const now = clock.now();
    const created = isoTime(now);
    const ask: Ask = {
      id: newId(),
      ...shown,
      digest: sha256(canonicalJson({ ...shown })),
      state: "Pending",
      created,
      expires: isoTime(now + expireAfterMs()),
    };
    const waiting = this.#wait(ask, question, isUnseen ? null : expireAfterMs(), subject);
    if (isKept) waiting.stored = Promise.resolve();
    const stored = this.#store(ask, waiting).catch((error: unknown) => this.#notStored(error));
    if (isKept) waiting.stored = stored;
    if (!isUnseen) this.changed.emit(ask);
    return waiting;
  }

  /** `leftMs`: null for one that is unseen. */
  #wait(ask: Ask, question: Question, leftMs: number | null, subject = subjectOf(question)): Waiting {
    const waiting: Waiting = {
      ask,
      question,
      subject,
      waiters: new Set(),
      timer: leftMs === null ? null : this.#expireAfter(ask.id, leftMs),
      stored: null,
      isUnseen: leftMs === null,
      isBeingAnswered: false,
    };
    this.#waiting.set(ask.id, waiting);
    return waiting;
  }

  #expireAfter(id: string, leftMs: number): Disposable {
    return this.#ports.clock.timer(leftMs, () => {
      const waiting = this.#waiting.get(id);
      if (waiting !== undefined) this.#end(waiting, "Expired");
    });
  }

  #seenAsks(): Ask[] {
    return [...this.#waiting.values()].flatMap(({ ask, isUnseen }) => (isUnseen ? [] : [ask]));
  }

  get #seen(): readonly Seen[] {
    return this.#seenAsks().map((ask) => ({
      agent: ask.agent,
      conversation: ask.conversation,
      isOfProgram: this.#waiting.get(ask.id)?.stored === null,
    }));
  }

  #checkUnseen(agent: string): void {
    const unseen = this.#waiting.size - this.#seen.length;
    if (unseen < maxUnseen) return;
    throw limitExceeded("unseenAsks", unseen, `${unseen} questions wait already; ${agent} can ask no more.`);
  }

  /** Asks the person what waited for room, the oldest first. Their time begins now. */
  #showNext(): void {
    const { clock, expireAfterMs } = this.#ports;
    for (const waiting of this.#waiting.values()) {
      if (!waiting.isUnseen || !hasRoom(this.#seen, waiting.question)) continue;
      const now = clock.now();
      const { id } = waiting.ask;
      waiting.ask = { ...waiting.ask, created: isoTime(now), expires: isoTime(now + expireAfterMs()) };
      waiting.isUnseen = false;
      waiting.timer = this.#expireAfter(id, expireAfterMs());
      const { ask } = waiting;
      // Behind the row that says that it is unseen, and before that of its answer.
      waiting.stored = (waiting.stored ?? Promise.resolve())
        .then(() => (this.#waiting.get(id) === waiting ? this.#store(ask, waiting) : undefined))
        .catch((error: unknown) => this.#notStored(error));
      this.changed.emit(ask);
    }
  }

  #withdraw(waiting: Waiting): Ask | null {
    // Processes end because a person or their channel stopped them, each after a request to a model.
    if (waiting.stored === null) this.#insistence.withdrawn(waiting.ask.agent);
    return this.#end(waiting, "Expired");
  }

  #checkRoom(agent: string): void {
    this.#insistence.check(agent);
    const { ofAgent, isFree } = roomForProgram(this.#seen, agent);
    if (isFree) return;
    throw limitExceeded(
      "pendingAsks",
      ofAgent,
      `${ofAgent} questions of ${agent} wait for a person, which is the maximum. Answer some of them first.`,
    );
  }

  #same(question: Question): Waiting | undefined {
    const key = identityOf(question);
    return [...this.#waiting.values()].find(
      (waiting) => !waiting.isBeingAnswered && identityOf(waiting.question) === key,
    );
  }

  /** Returns the question as it ended; null if an answer is being stored, or it has ended already. */
  #end(waiting: Waiting, state: "Expired"): Ask | null {
    if (waiting.isBeingAnswered || !this.#waiting.has(waiting.ask.id)) return null;
    const ended = this.#endOf(waiting.ask, state);
    void this.#store(ended, waiting).catch((error: unknown) => this.#notStored(error));
    this.#gone(waiting, ended);
    return ended;
  }

  #endOf(ask: Ask, state: Ask["state"]): Ask {
    return { ...ask, state, expires: isoTime(this.#ports.clock.now()) };
  }

  #gone(waiting: Waiting, ended: Ask): void {
    this.#waiting.delete(ended.id);
    waiting.timer?.[Symbol.dispose]();
    for (const end of waiting.waiters) end(ended);
    this.changed.emit(ended);
    this.#showNext();
  }

  #store(
    ask: Ask,
    { stored, isUnseen, question: { about, countsFor } }: Waiting,
    answer: ConversationAnswer | null = null,
  ): Promise<void> {
    const kept = { about, countsFor, ...(isUnseen ? { isUnseen } : {}) };
    return this.#ports.rows.store(ask, stored === null ? null : kept, answer);
  }

  /** Calls that wait do not depend on the record of their question: only the next kernel does. */
  #notStored(error: unknown): void {
    this.#ports.log.error(`A question was not stored: ${messageOf(error)}`);
  }
}
