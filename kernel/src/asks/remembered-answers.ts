import { messageOf } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import type { AskScope, Question } from "../base/vocabulary/ask.ts";
import type { AskStore, ConversationAnswer } from "./ask-rows.ts";
import { type Subject, subjectText } from "./questions.ts";

/** The answers that a person remembered with "always". */
export interface AlwaysAnswers {
  /** Returns null if there is none. */
  find(subject: Subject): boolean | null;
  /** Resolves once it is on the disk. */
  remember(subject: Subject, allow: boolean): Promise<void>;
}

/** Answers that apply to more than one question. */
export class RememberedAnswers {
  readonly #always: AlwaysAnswers;
  readonly #rows: Pick<AskStore, "forgetConversation">;
  readonly #log: Log;
  /** Answers for the rest of conversations, by conversation and subject. */
  readonly #ofConversations = new Map<string, Map<string, boolean>>();

  constructor(always: AlwaysAnswers, rows: Pick<AskStore, "forgetConversation">, log: Log) {
    this.#always = always;
    this.#rows = rows;
    this.#log = log;
  }

  /**
   * Returns the person's earlier answer to this question, or null. A yes applies only if its scope is among those that the
   * question offers: a question caused by untrusted text offers "once" alone, and a yes from before that text must not
   * answer it. A no always applies; otherwise untrusted text could have the question asked again.
   */
  find({ conversation = "", scopes }: Pick<Question, "conversation" | "scopes">, subject: Subject) {
    const counts = (answer: boolean | null, scope: AskScope): boolean | null =>
      answer === true && !scopes.includes(scope) ? null : answer;
    const ofConversation = this.#ofConversations.get(conversation)?.get(subjectText(subject)) ?? null;
    return counts(this.#always.find(subject), "always") ?? counts(ofConversation, "conversation");
  }

  /** Remembers an answer with "always". Resolves once it is on the disk. */
  always(subject: Subject, allow: boolean): Promise<void> {
    return this.#always.remember(subject, allow);
  }

  /** Remembers an answer that is stored already. */
  ofConversation({ conversation, subject, allow }: ConversationAnswer): void {
    const known = this.#ofConversations.get(conversation) ?? new Map<string, boolean>();
    this.#ofConversations.set(conversation, known.set(subject, allow));
  }

  /** Forgets what was answered for the rest of a conversation that was deleted. */
  conversationEnded(conversation: string): void {
    if (!this.#ofConversations.delete(conversation)) return;
    // No other conversation gets its id, so a row that stays has no effect.
    this.#rows
      .forgetConversation(conversation)
      .catch((error: unknown) => this.#log.warn(`Answers were not deleted: ${messageOf(error)}`));
  }

  /** Forgets the answers for conversations about subjects with a text. The rows are redacted by `AskRows`. */
  redact(holds: (text: string) => boolean): void {
    for (const answers of this.#ofConversations.values())
      for (const subject of answers.keys()) if (holds(subject)) answers.delete(subject);
  }
}
