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
import { sha256 } from "../platform/files/hash.ts";
import type { AskAbout, AskRows, ConversationAnswer } from "./ask-rows.ts";

/** The number of questions that may wait at once, of one agent and of all. */
const pendingLimits = { perAgent: 8, together: 256 } as const;

/** The number of an agent's questions that may be withdrawn in `quietAfterDenialMs`: clients show each to a person. */
const maxWithdrawn = 16;

/** How long a question that was denied once is not asked again, so that an agent cannot insist. */
const quietAfterDenialMs = 600_000;

/** The answer that a call needs before it continues. */
export type Question = Pick<
  Ask,
  "agent" | "conversation" | "process" | "kind" | "title" | "reason" | "sources" | "facts" | "scopes"
> &
  /**
   * `about`: the subject of a remembered answer, in words for `decisions.yaml`; the answer applies again for the same
   * kind and the same words. `countsFor`: whether that is so for this agent or for all agents of the workspace.
   */
  AskAbout;

/** The subject of a remembered answer: kind, agent (any if absent) and words. */
export interface Subject {
  readonly kind: Ask["kind"];
  readonly agent?: string;
  readonly about: string;
}

export interface AskPorts {
  readonly clock: Clock;
  readonly log: Log;
  readonly rows: Pick<AskRows, "store" | "list" | "get" | "addKey" | "ofKey" | "forgetConversation">;
  readonly expireAfterMs: () => number;
  /** The answers that a person remembered with "always". */
  readonly remembered: {
    /** Returns null if there is none. */
    find(subject: Subject): boolean | null;
    /** Resolves once it is on the disk. */
    remember(subject: Subject, allow: boolean): Promise<void>;
  };
}

interface Waiting {
  ask: Ask;
  readonly question: Question;
  readonly subject: Subject;
  readonly waiters: Set<(ended: Ask) => void>;
  readonly timer: Disposable;
  /** Set for one that outlives its kernel: resolves once the next kernel would find it. */
  stored: Promise<void> | null;
  /** True while an answer is being stored: it wins over everything that would end the question. */
  isBeingAnswered: boolean;
}

/** Asks a person before a call continues, and passes the answer to all calls that wait for it. */
export class Asks implements Disposable {
  /** Emitted when a question is asked and when it ends. */
  readonly changed = new Emitter<Ask>();
  readonly #ports: AskPorts;
  readonly #waiting = new Map<string, Waiting>();
  /** Until when a subject is quiet, by the monotonic clock. */
  readonly #quiet = new Map<string, number>();
  /** When questions of an agent were withdrawn, by the monotonic clock; the last `maxWithdrawn`. */
  readonly #withdrawn = new Map<string, readonly number[]>();
  /** Answers for the rest of conversations, by conversation and subject. */
  readonly #ofConversations = new Map<string, Map<string, boolean>>();

  constructor(ports: AskPorts) {
    this.#ports = ports;
  }

  /**
   * Continues with questions that an earlier kernel had asked, and that are asked again with their keys, and with the
   * answers for the rest of conversations.
   */
  resume(
    questions: readonly { readonly ask: Ask; readonly about: AskAbout }[],
    answers: readonly ConversationAnswer[] = [],
  ): void {
    for (const answer of answers) this.#rememberFor(answer);
    for (const { ask, about } of questions) {
      const { id: _id, digest: _digest, state: _state, created: _created, expires, ...shown } = ask;
      const leftMs = Math.max(0, Date.parse(expires) - this.#ports.clock.now());
      this.#wait(ask, { ...shown, ...about }, leftMs).stored = Promise.resolve();
    }
  }

  /**
   * Returns whether a person allows it: at once if they remembered the answer, else after they answered. The same
   * question that waits already is not asked twice. Rejects with the signal's reason; then a question that nothing else
   * waits for is withdrawn. With `asking`, the question or its answer is found again after a restart.
   */
  async isAllowed(question: Question, signal: AbortSignal, asking?: Asking): Promise<boolean> {
    signal.throwIfAborted();
    const subject = subjectOf(question);
    const key = asking === undefined ? "" : keyOf(asking, question);
    const earlier = asking === undefined ? null : await this.#ports.rows.ofKey(key);
    signal.throwIfAborted();
    if (earlier !== null && earlier.state !== "Pending") {
      asking?.changed(earlier);
      return earlier.state === "Allowed";
    }
    const known =
      this.#ports.remembered.find(subject) ??
      this.#ofConversations.get(question.conversation ?? "")?.get(subjectText(subject)) ??
      this.#quietAnswer(subject);
    if (known !== null) return known;
    const waiting = this.#same(question) ?? this.#begin(question, subject, asking !== undefined);
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
   * this key before; null if the answer is known.
   */
  async ask(question: Question, asking: Pick<Asking, "key">): Promise<Ask | null> {
    const key = keyOf(asking, question);
    const earlier = await this.#ports.rows.ofKey(key);
    if (earlier !== null) return earlier;
    const subject = subjectOf(question);
    if ((this.#ports.remembered.find(subject) ?? this.#quietAnswer(subject)) !== null) return null;
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
    if (state === "Pending")
      return Promise.resolve([...this.#waiting.values()].map(({ ask }) => ask).toReversed());
    return this.#ports.rows.list(state);
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
      if (scope === "always") await this.#ports.remembered.remember(subject, answer.allow);
      await waiting.stored;
      await this.#store(ended, waiting, forConversation);
    } catch (error) {
      waiting.isBeingAnswered = false;
      if (waiting.waiters.size === 0 && waiting.stored === null) this.#end(waiting, "Expired");
      throw error;
    }
    if (forConversation !== null) this.#rememberFor(forConversation);
    if (scope === "once" && !answer.allow) this.#beQuiet(subject);
    this.#gone(waiting, ended);
    return ended;
  }

  /** Forgets what was answered for the rest of a conversation that was deleted. */
  conversationEnded(conversation: string): void {
    if (!this.#ofConversations.delete(conversation)) return;
    // No other conversation gets its id, so a row that stays has no effect.
    this.#ports.rows
      .forgetConversation(conversation)
      .catch((error: unknown) => this.#ports.log.warn(`Answers were not deleted: ${messageOf(error)}`));
  }

  /** Answers no call: they end with the kernel, and the next one marks the questions as ended. */
  [Symbol.dispose](): void {
    for (const { timer } of this.#waiting.values()) timer[Symbol.dispose]();
    this.#waiting.clear();
  }

  #rememberFor({ conversation, subject, allow }: ConversationAnswer): void {
    const known = this.#ofConversations.get(conversation) ?? new Map<string, boolean>();
    this.#ofConversations.set(conversation, known.set(subject, allow));
  }

  #begin(question: Question, subject: Subject, isKept: boolean): Waiting {
    const { clock, expireAfterMs } = this.#ports;
    this.#checkRoom(question.agent);
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
    const waiting = this.#wait(ask, question, expireAfterMs(), subject);
    if (isKept) waiting.stored = Promise.resolve();
    const stored = this.#store(ask, waiting).catch((error: unknown) => this.#notStored(error));
    if (isKept) waiting.stored = stored;
    this.changed.emit(ask);
    return waiting;
  }

  #wait(ask: Ask, question: Question, leftMs: number, subject = subjectOf(question)): Waiting {
    const waiting: Waiting = {
      ask,
      question,
      subject,
      waiters: new Set(),
      timer: this.#ports.clock.timer(leftMs, () => this.#end(waiting, "Expired")),
      stored: null,
      isBeingAnswered: false,
    };
    this.#waiting.set(ask.id, waiting);
    return waiting;
  }

  #withdraw(waiting: Waiting): Ask | null {
    const { agent } = waiting.ask;
    const now = this.#ports.clock.monotonic();
    this.#withdrawn.set(agent, [...(this.#withdrawn.get(agent) ?? []), now].slice(-maxWithdrawn));
    return this.#end(waiting, "Expired");
  }

  #checkRoom(agent: string): void {
    const since = this.#ports.clock.monotonic() - quietAfterDenialMs;
    const withdrawn = (this.#withdrawn.get(agent) ?? []).filter((at) => at > since).length;
    if (withdrawn >= maxWithdrawn)
      throw limitExceeded(
        "withdrawnAsks",
        withdrawn,
        `${agent} asked a person ${withdrawn} questions and withdrew them before they were answered. It may ask again in a few minutes.`,
      );
    const ofAgent = [...this.#waiting.values()].filter(({ ask }) => ask.agent === agent).length;
    if (ofAgent < pendingLimits.perAgent && this.#waiting.size < pendingLimits.together) return;
    throw limitExceeded(
      "pendingAsks",
      ofAgent,
      `${ofAgent} questions of ${agent} wait for a person, which is the maximum. Answer some of them first.`,
    );
  }

  #same(question: Question): Waiting | undefined {
    const key = canonicalJson({ ...question });
    return [...this.#waiting.values()].find(
      (waiting) => !waiting.isBeingAnswered && canonicalJson({ ...waiting.question }) === key,
    );
  }

  #quietAnswer(subject: Subject): false | null {
    const until = this.#quiet.get(canonicalJson({ ...subject }));
    return until !== undefined && this.#ports.clock.monotonic() < until ? false : null;
  }

  #beQuiet(subject: Subject): void {
    const now = this.#ports.clock.monotonic();
    for (const [key, until] of this.#quiet) if (until <= now) this.#quiet.delete(key);
    this.#quiet.set(canonicalJson({ ...subject }), now + quietAfterDenialMs);
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
    waiting.timer[Symbol.dispose]();
    for (const end of waiting.waiters) end(ended);
    this.changed.emit(ended);
  }

  #store(
    ask: Ask,
    { stored, question: { about, countsFor } }: Waiting,
    answer: ConversationAnswer | null = null,
  ): Promise<void> {
    return this.#ports.rows.store(ask, stored === null ? null : { about, countsFor }, answer);
  }

  /** Calls that wait do not depend on the record of their question: only the next kernel does. */
  #notStored(error: unknown): void {
    this.#ports.log.error(`A question was not stored: ${messageOf(error)}`);
  }
}

function subjectOf({ kind, agent, about, countsFor }: Question): Subject {
  return { kind, ...(countsFor === "agent" ? { agent } : {}), about };
}

const subjectText = ({ kind, agent = "", about }: Subject): string => JSON.stringify([kind, agent, about]);

/** One call may ask about several things. */
const keyOf = ({ key }: Pick<Asking, "key">, { kind, about }: Question): string =>
  sha256(canonicalJson([key, kind, about]));
