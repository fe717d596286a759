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
import type { Ask, AskScope } from "../base/vocabulary/ask.ts";
import type { Hash } from "../base/vocabulary/common.ts";
import { checkPerson, type Principal } from "../base/vocabulary/principal.ts";
import { sha256 } from "../platform/files/hash.ts";
import type { AskRows } from "./ask-rows.ts";

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
> & {
  /**
   * The subject of a remembered answer, in words for `decisions.yaml`. The answer applies again for the same kind and
   * the same words.
   */
  readonly about: string;
  /** Whether a remembered answer counts for this agent or for all agents of the workspace. */
  readonly countsFor: "agent" | "workspace";
};

/** The subject of a remembered answer: kind, agent (any if absent) and words. */
export interface Subject {
  readonly kind: Ask["kind"];
  readonly agent?: string;
  readonly about: string;
}

export interface AskPorts {
  readonly clock: Clock;
  readonly log: Log;
  readonly rows: Pick<AskRows, "store" | "list" | "get">;
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
  readonly waiters: Set<(isAllowed: boolean) => void>;
  readonly timer: Disposable;
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
  /** Answers for the rest of a conversation. */
  readonly #ofConversations = new Map<string, boolean>();

  constructor(ports: AskPorts) {
    this.#ports = ports;
  }

  /**
   * Returns whether a person allows it: at once if they remembered the answer, else after they answered. The same
   * question that waits already is not asked twice. Rejects with the signal's reason; then a question that nothing else
   * waits for is withdrawn.
   */
  async isAllowed(question: Question, signal: AbortSignal): Promise<boolean> {
    signal.throwIfAborted();
    const subject = subjectOf(question);
    const known =
      this.#ports.remembered.find(subject) ??
      this.#ofConversations.get(conversationKey(subject, question.conversation)) ??
      this.#quietAnswer(subject);
    if (known !== null) return known;
    const waiting = this.#same(question) ?? this.#begin(question, subject);
    return new Promise<boolean>((resolve, reject) => {
      const end = (isAllowed: boolean): void => {
        signal.removeEventListener("abort", leave);
        resolve(isAllowed);
      };
      const leave = (): void => {
        waiting.waiters.delete(end);
        if (waiting.waiters.size === 0) this.#withdraw(waiting);
        reject(signal.reason as Error);
      };
      waiting.waiters.add(end);
      signal.addEventListener("abort", leave, { once: true });
    });
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
    const { ask, subject, question } = waiting;
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
    waiting.isBeingAnswered = true;
    const ended = this.#endOf(ask, answer.allow ? "Allowed" : "Denied");
    try {
      if (scope === "always") await this.#ports.remembered.remember(subject, answer.allow);
      await this.#ports.rows.store(ended);
    } catch (error) {
      waiting.isBeingAnswered = false;
      if (waiting.waiters.size === 0) this.#end(waiting, "Expired");
      throw error;
    }
    if (scope === "conversation")
      this.#ofConversations.set(conversationKey(subject, question.conversation), answer.allow);
    if (scope === "once" && !answer.allow) this.#beQuiet(subject);
    this.#gone(waiting, ended);
    return ended;
  }

  /** Forgets what was answered for the rest of this conversation. */
  conversationEnded(conversation: string): void {
    for (const key of this.#ofConversations.keys())
      if ((JSON.parse(key) as unknown[])[0] === conversation) this.#ofConversations.delete(key);
  }

  /** Answers no call: they end with the kernel, and the next one marks the questions as ended. */
  [Symbol.dispose](): void {
    for (const { timer } of this.#waiting.values()) timer[Symbol.dispose]();
    this.#waiting.clear();
  }

  #begin(question: Question, subject: Subject): Waiting {
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
    const waiting: Waiting = {
      ask,
      question,
      subject,
      waiters: new Set(),
      timer: clock.timer(expireAfterMs(), () => this.#end(waiting, "Expired")),
      isBeingAnswered: false,
    };
    this.#waiting.set(ask.id, waiting);
    this.#store(ask);
    this.changed.emit(ask);
    return waiting;
  }

  #withdraw(waiting: Waiting): void {
    const { agent } = waiting.ask;
    const now = this.#ports.clock.monotonic();
    this.#withdrawn.set(agent, [...(this.#withdrawn.get(agent) ?? []), now].slice(-maxWithdrawn));
    this.#end(waiting, "Expired");
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

  #end(waiting: Waiting, state: "Expired"): void {
    if (waiting.isBeingAnswered || !this.#waiting.has(waiting.ask.id)) return;
    const ended = this.#endOf(waiting.ask, state);
    this.#store(ended);
    this.#gone(waiting, ended);
  }

  #endOf(ask: Ask, state: Ask["state"]): Ask {
    return { ...ask, state, expires: isoTime(this.#ports.clock.now()) };
  }

  #gone(waiting: Waiting, ended: Ask): void {
    this.#waiting.delete(ended.id);
    waiting.timer[Symbol.dispose]();
    for (const end of waiting.waiters) end(ended.state === "Allowed");
    this.changed.emit(ended);
  }

  /** The record of a question is only for later reading: waiting calls do not depend on it. */
  #store(ask: Ask): void {
    this.#ports.rows
      .store(ask)
      .catch((error: unknown) => this.#ports.log.error(`A question was not stored: ${messageOf(error)}`));
  }
}

function subjectOf({ kind, agent, about, countsFor }: Question): Subject {
  return { kind, ...(countsFor === "agent" ? { agent } : {}), about };
}

const conversationKey = ({ kind, agent = "", about }: Subject, conversation = ""): string =>
  JSON.stringify([conversation, kind, agent, about]);
