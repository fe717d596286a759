import { isLaresError, messageOf } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import { plainMessage } from "../base/plain-text.ts";
import type { Action } from "../base/vocabulary/action.ts";
import { actionWords } from "../base/effect-words.ts";
import { quotedText, visibleText } from "../base/visible-text.ts";
import { changeCount, inMessage, shortTitle } from "./language/action-words.ts";
import { tooLong, type ShownChanges } from "./language/shown-changes.ts";
import type { Services } from "../services/ports.ts";
import type { Session } from "./session/session.ts";

const approve = "Approve";
const reject = "Reject";
const show = "Show changes";
const later = "Later";
/** What a question holds of an action's effects, and of its agent's words; it says where there is more. Characters. */
const maxQuestionCharacters = 6000;

/** What was made of showing all of the changes, since the person is asked about this action. */
type Seen = "not yet" | "all" | "impossible";

/**
 * Approvals over `window/showMessageRequest`, for editors without a view of their own: one question at a time
 * per client. No answer, an error, or an answer that comes too late leaves the action pending.
 */
export class MessageApprovals {
  readonly #kernel: Services;
  readonly #shown: ShownChanges;
  readonly #session: Session;
  readonly #log: Log;
  readonly #waiting: string[] = [];
  #isAsking = false;
  /** The question that is on the screen. */
  #asked: { readonly id: string; readonly takenBack: AbortController } | null = null;

  constructor(kernel: Services, shown: ShownChanges, session: Session, log: Log) {
    this.#kernel = kernel;
    this.#shown = shown;
    this.#session = session;
    this.#log = log;
  }

  /** An action changed; asked about if it waits for an answer and was not asked about before. */
  consider(action: Action): void {
    if (this.#session.options.approvals !== "showMessageRequest") return;
    if (action.state !== "PendingApproval") {
      // Somebody answered elsewhere: the question goes, where the editor takes one back.
      if (this.#asked?.id === action.id) this.#asked.takenBack.abort();
      return;
    }
    if (this.#waiting.includes(action.id)) return;
    this.#waiting.push(action.id);
    void this.#askAll();
  }

  /** The session may see and decide now, or no longer. */
  async trustChanged(): Promise<void> {
    if (!this.#session.trusted) this.#asked?.takenBack.abort();
    else if (this.#session.options.approvals === "showMessageRequest")
      for (const action of (await this.#kernel.actions.list({ state: "PendingApproval" })).toReversed())
        this.consider(action);
  }

  async #askAll(): Promise<void> {
    if (this.#isAsking) return;
    this.#isAsking = true;
    try {
      for (let id = this.#waiting[0]; id !== undefined; id = this.#waiting[0]) {
        await this.#ask(id);
        this.#waiting.shift();
      }
    } catch (error) {
      // An editor that does not know the request, or went away: the actions stay pending for another way.
      this.#log.debug(`approvals are not asked by message: ${messageOf(error)}`);
      this.#waiting.length = 0;
    } finally {
      this.#isAsking = false;
    }
  }

  async #ask(id: string): Promise<void> {
    let seen: Seen = "not yet";
    for (;;) {
      const action = await this.#kernel.actions.get(id);
      if (action === null || action.state !== "PendingApproval" || !this.#session.trusted) return;
      if ((await this.#shown.placeOf(action, this.#session)) === "nowhere") seen = "impossible";
      const question = questionOf(action, seen);
      const title = await this.#answerTo(action, question);
      // What was not offered is no answer.
      if (title === null || !question.answers.includes(title)) return;
      try {
        if (title === approve) await this.#kernel.actions.approve(id, { digest: action.digest });
        if (title === reject) await this.#kernel.actions.reject(id);
      } catch (error) {
        // Somebody else answered first, or the files moved on: the client is told by lares/actions/changed.
        if (!isLaresError(error)) throw error;
        this.#session.endpoint.notifyStandard("window/showMessage", {
          type: 2,
          message: plainMessage(error.message),
        });
      }
      if (title !== show) return;
      seen = (await this.#shown.show(action, this.#session)) ? "all" : "impossible";
    }
  }

  /**
   * The button that was chosen; null for none. A question that is taken back counts as the one that is asked
   * until the client has answered that too: some leave it on the screen.
   */
  async #answerTo(action: Action, { message, answers }: Question): Promise<string | null> {
    const takenBack = new AbortController();
    this.#asked = { id: action.id, takenBack };
    try {
      const answer = await this.#session.endpoint.request(
        "window/showMessageRequest",
        {
          type: 3,
          message,
          actions: answers.map((title) => ({ title })),
        },
        takenBack.signal,
      );
      const title = (answer as { title?: unknown } | null)?.title;
      if (typeof title !== "string") return null;
      if (!takenBack.signal.aborted) return title;
      // Whoever pressed the button must not believe that it was this that counted.
      const why = this.#session.trusted
        ? `'${shortTitle(action)}' was already answered elsewhere.`
        : "this workspace is not trusted here any more, so the answer does not count.";
      this.#session.endpoint.notifyStandard("window/showMessage", { type: 2, message: `Lares: ${why}` });
      return null;
    } catch (error) {
      if (takenBack.signal.aborted) return null;
      throw error;
    } finally {
      this.#asked = null;
    }
  }
}

interface Question {
  readonly message: string;
  readonly answers: readonly string[];
}

/**
 * What a person is asked about an action: what every effect does, in the kernel's words, then the agent's own, as the
 * agent's. Approve is among the answers where all of it can be looked at and the question names all of it, or once all of
 * it was shown; where it is not, the question says why.
 */
function questionOf(action: Action, seen: Seen): Question {
  const effects = actionWords(action.effects);
  const words = [action.title, action.reason].filter(Boolean).map(quotedText).join(" ");
  const isWhole = effects.length <= maxQuestionCharacters && words.length <= maxQuestionCharacters;
  const what = effects.length <= maxQuestionCharacters ? effects : "Too many changes to name them here.";
  const said = words.length <= maxQuestionCharacters ? words : "more than can be shown here.";
  const asked = `${what} ${changeCount(action)}, impact ${action.impact_score.toFixed(2)}. ${visibleText(action.agent)} says: ${said}`;
  if (seen === "impossible")
    return {
      message: inMessage(`${asked} Approve is missing: ${tooLong(action)}`),
      answers: [reject, later],
    };
  if (isWhole || seen === "all") return { message: inMessage(asked), answers: [approve, reject, show] };
  return {
    message: inMessage(`${asked} Approve is offered once you have seen the changes.`),
    answers: [show, reject, later],
  };
}
