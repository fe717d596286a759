import { isLaresError, messageOf } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import { plainMessage } from "../base/plain-text.ts";
import type { Action } from "../base/vocabulary/action.ts";
import { actionWords } from "../base/vocabulary/effect-words.ts";
import { quotedText, visibleText } from "../base/visible-text.ts";
import { changeCount, inMessage, shortTitle } from "./language/action-words.ts";
import { tooLong, type ShownChanges } from "./language/shown-changes.ts";
import type { Services } from "../services/ports.ts";
import type { Session } from "./session/session.ts";

const approve = "Approve";
const reject = "Reject";
const show = "Show changes";
const later = "Later";
/**
 * Maximum length of each part of a question: the effects of an action, and its agent's text. A part that is longer is
 * replaced by a note. Characters.
 */
const maxQuestionCharacters = 6000;

/** Whether all changes were shown since this question was first asked. */
type Seen = "not yet" | "all" | "impossible";

/**
 * Approvals by `window/showMessageRequest`, for editors without their own view: one question at a time per client. No
 * answer, an error, or a late answer leaves the action pending.
 */
export class MessageApprovals {
  readonly #kernel: Services;
  readonly #shown: ShownChanges;
  readonly #session: Session;
  readonly #log: Log;
  readonly #waiting: string[] = [];
  #isAsking = false;
  /** The question that the client currently shows. */
  #asked: { readonly id: string; readonly withdrawn: AbortController } | null = null;

  constructor(kernel: Services, shown: ShownChanges, session: Session, log: Log) {
    this.#kernel = kernel;
    this.#shown = shown;
    this.#session = session;
    this.#log = log;
  }

  /** Handles a changed action: queues a question if it waits for approval and was not queued before. */
  consider(action: Action): void {
    if (this.#session.options.approvals !== "showMessageRequest") return;
    if (action.state !== "PendingApproval") {
      // It was decided elsewhere, so the question is withdrawn if the editor supports that.
      if (this.#asked?.id === action.id) this.#asked.withdrawn.abort();
      return;
    }
    if (this.#waiting.includes(action.id)) return;
    this.#waiting.push(action.id);
    void this.#askAll();
  }

  /** Called when the session gained or lost the right to see and decide actions. */
  async trustChanged(): Promise<void> {
    if (!this.#session.trusted) this.#asked?.withdrawn.abort();
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
      // The editor does not support the request, or disconnected: the actions stay pending.
      this.#log.debug(`questions about approvals cannot be shown: ${messageOf(error)}`);
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
      const title = await this.#chosenTitle(action, question);
      // A title that was not offered is ignored.
      if (title === null || !question.answers.includes(title)) return;
      try {
        const { principal } = this.#session.client;
        if (title === approve) await this.#kernel.actions.approve(principal, id, { digest: action.digest });
        if (title === reject) await this.#kernel.actions.reject(principal, id);
      } catch (error) {
        // The action was decided elsewhere or became stale; the client also receives lares/actions/changed.
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
   * Returns the title of the chosen button; null if none was chosen. A withdrawn question stays current until the
   * client has answered it, because some editors keep it on the screen.
   */
  async #chosenTitle(action: Action, { message, answers }: Question): Promise<string | null> {
    const withdrawn = new AbortController();
    this.#asked = { id: action.id, withdrawn };
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
        ? `'${shortTitle(action)}' was already answered elsewhere.`
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

interface Question {
  readonly message: string;
  readonly answers: readonly string[];
}

/**
 * Returns the question about an action: the effects in the kernel's words, then the agent's text, quoted. Approve is
 * offered if the question and the changes can be shown in full, or once all changes were shown; otherwise the
 * question says why it is missing.
 */
function questionOf(action: Action, seen: Seen): Question {
  const effects = actionWords(action.effects);
  const words = [action.title, action.reason].filter(Boolean).map(quotedText).join(" ");
  const isWhole = effects.length <= maxQuestionCharacters && words.length <= maxQuestionCharacters;
  const what =
    effects.length <= maxQuestionCharacters ? effects : "There are too many changes to list them here.";
  const said = words.length <= maxQuestionCharacters ? words : "more text than can be shown here.";
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
