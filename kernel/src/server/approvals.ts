import { isLaresError, messageOf } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import { plainMessage, plainText, withoutLinks } from "../base/plain-text.ts";
import type { Action } from "../base/vocabulary/action.ts";
import type { KernelServices } from "./ports.ts";
import type { Session } from "./session.ts";

const approve = "Approve";
const reject = "Reject";
const show = "Show changes";

/**
 * Approvals over `window/showMessageRequest`, for editors without a view of their own: one question at a time
 * per client. No answer, an error, or an answer that comes too late leaves the action pending.
 */
export class MessageApprovals {
  readonly #kernel: KernelServices;
  readonly #session: Session;
  readonly #log: Log;
  readonly #waiting: string[] = [];
  #asking = false;

  constructor(kernel: KernelServices, session: Session, log: Log) {
    this.#kernel = kernel;
    this.#session = session;
    this.#log = log;
  }

  /** An action changed; asked about if it waits for an answer and was not asked about before. */
  consider(action: Action): void {
    if (this.#session.options.approvals !== "showMessageRequest" || action.state !== "PendingApproval")
      return;
    if (this.#waiting.includes(action.id)) return;
    this.#waiting.push(action.id);
    void this.#askAll();
  }

  async #askAll(): Promise<void> {
    if (this.#asking) return;
    this.#asking = true;
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
      this.#asking = false;
    }
  }

  async #ask(id: string): Promise<void> {
    for (;;) {
      const action = await this.#kernel.actions.get(id);
      if (action === null || action.state !== "PendingApproval" || !this.#session.trusted) return;
      const answer = await this.#session.endpoint.request("window/showMessageRequest", {
        type: 3,
        message: question(action),
        actions: [approve, reject, show].map((title) => ({ title })),
      });
      const title = (answer as { title?: unknown } | null)?.title;
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
      this.#session.endpoint.notifyStandard("window/showMessage", { type: 3, message: changes(action) });
    }
  }
}

function question(action: Action): string {
  const count = action.effects.length === 1 ? "1 change" : `${action.effects.length} changes`;
  return `${plainMessage(action.agent)} proposes: ${plainMessage(action.title)} (${count}, impact ${action.impact_score.toFixed(2)}). ${plainMessage(action.reason)}`;
}

function diffLine(line: string): string {
  return withoutLinks(plainText(line));
}

/** The diffs as one text; what is too long for a message is cut, with the count of what is left out. */
function changes(action: Action): string {
  const maxCharacters = 8_000;
  const text = action.effects
    .map((effect) =>
      [plainMessage(effect.summary), ...(effect.diff ?? "").split("\n").map(diffLine)].join("\n"),
    )
    .join("\n");
  return text.length <= maxCharacters
    ? text
    : `${text.slice(0, maxCharacters)}\n… ${text.length - maxCharacters} more characters`;
}
