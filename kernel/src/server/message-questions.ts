import { isLaresError, messageOf } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import { plainMessage } from "../base/plain-text.ts";
import type { Session } from "./session/session.ts";

/** A question as it is shown: a message, and the titles of its buttons. */
export interface MessageQuestion {
  readonly message: string;
  readonly answers: readonly string[];
}

/** Something that waits for a person's answer. */
export interface Questioned {
  readonly id: string;
  /** Its name in a message about it. */
  readonly name: string;
  /** Returns the question as it is now; null if it needs no answer any more. */
  question(): Promise<MessageQuestion | null>;
  /** Does what the chosen title stands for. Returns true if the question is to be shown again. */
  chosen(title: string): Promise<boolean>;
}

/**
 * Asks by `window/showMessageRequest`, for editors without views of their own: one question at a time per client. No
 * answer, an error, or a late answer leaves what waits as it is.
 */
export class MessageQuestions {
  readonly #session: Session;
  readonly #log: Log;
  readonly #waiting: Questioned[] = [];
  #isAsking = false;
  #isInitialized = false;
  /** The question that the client currently shows. */
  #asked: { readonly id: string; readonly withdrawn: AbortController } | null = null;

  constructor(session: Session, log: Log) {
    this.#session = session;
    this.#log = log;
  }

  /** True if this client is asked by messages, and has said that it is ready for them. */
  get isWanted(): boolean {
    return this.#isInitialized && this.#session.options.approvals === "showMessageRequest";
  }

  /** Called when the client has sent `initialized`; it may ignore a request that it receives before. */
  initialized(): void {
    this.#isInitialized = true;
  }

  /** Queues what is not queued already. */
  ask(questioned: Questioned): void {
    if (!this.isWanted || this.#waiting.some(({ id }) => id === questioned.id)) return;
    this.#waiting.push(questioned);
    void this.#askAll();
  }

  /** It was answered elsewhere, so the question is withdrawn if the editor supports that. */
  withdraw(id: string): void {
    if (this.#asked?.id === id) this.#asked.withdrawn.abort();
  }

  /** Called when the session lost the right to see and answer questions. */
  withdrawCurrent(): void {
    this.#asked?.withdrawn.abort();
  }

  async #askAll(): Promise<void> {
    if (this.#isAsking) return;
    this.#isAsking = true;
    try {
      for (let next = this.#waiting[0]; next !== undefined; next = this.#waiting[0]) {
        await this.#ask(next);
        this.#waiting.shift();
      }
    } catch (error) {
      // The editor does not support the request, or disconnected: the action stays pending.
      this.#log.debug(`questions cannot be shown: ${messageOf(error)}`);
      this.#waiting.length = 0;
    } finally {
      this.#isAsking = false;
    }
  }

  async #ask(questioned: Questioned): Promise<void> {
    for (;;) {
      if (!this.#session.trusted) return;
      const question = await questioned.question();
      if (question === null) return;
      const title = await this.#chosenTitle(questioned, question);
      // A title that was not offered is ignored.
      if (title === null || !question.answers.includes(title)) return;
      try {
        if (!(await questioned.chosen(title))) return;
      } catch (error) {
        // It was answered elsewhere or has changed; the client also receives a notification of that.
        if (!isLaresError(error)) throw error;
        this.#session.endpoint.notifyStandard("window/showMessage", {
          type: 2,
          message: plainMessage(error.message),
        });
        return;
      }
    }
  }

  /**
   * Returns the title of the chosen button; null if none was chosen. A withdrawn question stays current until the
   * client has answered it, because some editors keep it on the screen.
   */
  async #chosenTitle(
    { id, name }: Questioned,
    { message, answers }: MessageQuestion,
  ): Promise<string | null> {
    const withdrawn = new AbortController();
    this.#asked = { id, withdrawn };
    try {
      const answer = await this.#session.endpoint.request(
        "window/showMessageRequest",
        {
          type: 3,
          message,
          actions: answers.map((title) => ({ title })),
        },
        withdrawn.signal,
      );
      const title = (answer as { title?: unknown } | null)?.title;
      if (typeof title !== "string") return null;
      if (!withdrawn.signal.aborted) return title;
      // Without this message, the person would believe that their answer was applied.
      const why = this.#session.trusted
        ? `'${name}' was already answered elsewhere.`
        : "this workspace is no longer trusted here, so your answer was not applied.";
      this.#session.endpoint.notifyStandard("window/showMessage", { type: 2, message: `Lares: ${why}` });
      return null;
    } catch (error) {
      if (withdrawn.signal.aborted) return null;
      throw error;
    } finally {
      this.#asked = null;
    }
  }
}
