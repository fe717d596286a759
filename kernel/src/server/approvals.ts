import type { Action } from "../base/vocabulary/action.ts";
import { actionWords } from "../base/vocabulary/effect-words.ts";
import { requestedByLines } from "../base/vocabulary/principal.ts";
import { quotedText, visibleText } from "../base/visible-text.ts";
import { changeCount, inMessage, shortTitle } from "./language/action-words.ts";
import { tooLong, type ShownChanges } from "./language/shown-changes.ts";
import type { Services } from "../services/ports.ts";
import type { MessageQuestion, MessageQuestions, Questioned } from "./message-questions.ts";
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

/** Asks about actions by messages; see `MessageQuestions`. */
export class MessageApprovals {
  readonly #kernel: Services;
  readonly #shown: ShownChanges;
  readonly #session: Session;
  readonly #questions: MessageQuestions;

  constructor(kernel: Services, shown: ShownChanges, session: Session, questions: MessageQuestions) {
    this.#kernel = kernel;
    this.#shown = shown;
    this.#session = session;
    this.#questions = questions;
  }

  /** Handles a changed action: queues a question if it waits for approval and was not queued before. */
  consider(action: Action): void {
    if (action.state === "PendingApproval") this.#questions.ask(this.#questioned(action));
    else this.#questions.withdraw(action.id);
  }

  /** Asks about all that wait. */
  async considerAll(): Promise<void> {
    for (const action of (await this.#kernel.actions.list({ state: "PendingApproval" })).toReversed())
      this.consider(action);
  }

  #questioned(first: Action): Questioned {
    const { id } = first;
    let shown = first;
    let seen: Seen = "not yet";
    return {
      id,
      name: shortTitle(first),
      question: async () => {
        const action = await this.#kernel.actions.get(id);
        if (action === null || action.state !== "PendingApproval") return null;
        shown = action;
        if ((await this.#shown.placeOf(action, this.#session)) === "nowhere") seen = "impossible";
        return questionOf(action, seen);
      },
      chosen: async (title) => {
        const { principal } = this.#session.client;
        if (title === approve) await this.#kernel.actions.approve(principal, id, { digest: shown.digest });
        if (title === reject) await this.#kernel.actions.reject(principal, id);
        if (title !== show) return false;
        seen = (await this.#shown.show(shown, this.#session)) ? "all" : "impossible";
        return true;
      },
    };
  }
}

/**
 * Returns the question about an action: the effects in the kernel's words, then the agent's text, quoted. Approve is
 * offered if the question and the changes can be shown in full, or once all changes were shown; otherwise the
 * question says why it is missing.
 */
function questionOf(action: Action, seen: Seen): MessageQuestion {
  const effects = actionWords(action.effects);
  const words = [action.title, action.reason].filter(Boolean).map(quotedText).join(" ");
  const isWhole = effects.length <= maxQuestionCharacters && words.length <= maxQuestionCharacters;
  const what =
    effects.length <= maxQuestionCharacters ? effects : "There are too many changes to list them here.";
  const said = words.length <= maxQuestionCharacters ? words : "more text than can be shown here.";
  // If only a person asked for it, whoever reads this knows.
  const isOthers = action.on_behalf_of?.some(({ kind }) => kind !== "person") === true;
  const requested = isOthers
    ? requestedByLines(action)
        .map((line) => `${visibleText(line)} `)
        .join("")
    : "";
  const asked = `${what} ${changeCount(action)}, impact ${action.impact_score.toFixed(2)}. ${requested}${visibleText(action.agent)} says: ${said}`;
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
