import { isJsonObject } from "../../base/json.ts";
import type { Action } from "../../base/vocabulary/action.ts";
import type { ActionService } from "../../services/ports.ts";
import type { Session } from "../session/session.ts";
import { inMessage } from "./action-words.ts";
import { changesDocument } from "../../services/changes-document.ts";
import { supports } from "../session/params.ts";
import type { ShownFiles } from "./ports.ts";

/** Maximum length of a message if the editor cannot open a document, and if it can. Characters. */
const maxMessageCharacters = 8000;
const maxMessageBesideDocuments = 2000;
/** Maximum time for an editor to open a document, in milliseconds. */
const openMs = 10_000;
/** Number of actions whose length is cached, the most recent ones; an action's effects never change. */
const maxMeasured = 1000;

/** How a client shows all changes of an action; with "nowhere", Approve is not offered. */
type Place = "own view" | "message" | "document" | "nowhere";

/** Shows proposed changes in editors without a view for them. */
export class ShownChanges {
  readonly #actions: Pick<ActionService, "get" | "diff">;
  readonly #files: ShownFiles;
  readonly #measured = new Map<string, { readonly characters: number; readonly isComplete: boolean }>();

  constructor(actions: Pick<ActionService, "get" | "diff">, files: ShownFiles) {
    this.#actions = actions;
    this.#files = files;
  }

  /** Returns how all changes of the action can be shown to this client. */
  async placeOf({ id }: Pick<Action, "id">, session: Session): Promise<Place> {
    if (session.options.approvals === "client") return "own view";
    const { characters, isComplete } = await this.#measure(id);
    if (!isComplete) return "nowhere";
    const opensDocuments = supports(session, "window", "showDocument", "support");
    if (characters <= (opensDocuments ? maxMessageBesideDocuments : maxMessageCharacters)) return "message";
    return opensDocuments ? "document" : "nowhere";
  }

  /**
   * Shows all changes, or one effect. Returns false if they could not be shown in full; the person is then told which
   * command shows them.
   */
  async show(action: Action, session: Session, effect?: number): Promise<boolean> {
    const { text, isComplete } = await changesDocument(this.#actions, action, effect);
    const opensDocuments = supports(session, "window", "showDocument", "support");
    if (text.length <= (opensDocuments ? maxMessageBesideDocuments : maxMessageCharacters)) {
      say(session, inMessage(text));
      return isComplete;
    }
    if (opensDocuments && (await this.#open(action.id, text, session))) return isComplete;
    say(session, `Lares: ${tooLong(action)}`);
    return false;
  }

  async #open(id: string, text: string, session: Session): Promise<boolean> {
    const uri = await this.#files.write(id, text);
    try {
      const answer = await session.endpoint.request(
        "window/showDocument",
        { uri, takeFocus: true },
        AbortSignal.timeout(openMs),
      );
      return isJsonObject(answer) && answer["success"] === true;
    } catch {
      // The client declared the capability but failed; the caller names the command instead.
      return false;
    }
  }

  async #measure(id: string): Promise<{ characters: number; isComplete: boolean }> {
    const known = this.#measured.get(id);
    if (known !== undefined) return known;
    const action = await this.#actions.get(id);
    if (action === null) return { characters: 0, isComplete: false };
    const { text, isComplete } = await changesDocument(this.#actions, action);
    const measured = { characters: text.length, isComplete };
    // An incomplete text is not cached, because its contents may become readable again.
    if (isComplete) this.#measured.set(id, measured);
    const [oldest] = this.#measured.keys();
    if (this.#measured.size > maxMeasured && oldest !== undefined) this.#measured.delete(oldest);
    return measured;
  }
}

/** Says why Approve is not offered, and how to approve the action instead. */
export function tooLong({ id, digest }: Pick<Action, "id" | "digest">): string {
  return `the changes cannot all be shown here, so they cannot be approved here. See them with "lares actions show ${id}", then approve them with "lares actions approve ${id} --digest ${digest}".`;
}

function say(session: Session, message: string): void {
  session.endpoint.notifyStandard("window/showMessage", { type: 3, message });
}
