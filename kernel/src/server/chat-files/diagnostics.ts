import type { Diagnostic } from "vscode-languageserver";
import { positionAt } from "../../base/text-positions.ts";
import { endOfForeign, lastTurn } from "../../services/chat-files/turns.ts";
import { publishDiagnostics } from "../session/publish-diagnostics.ts";
import type { Session } from "../session/session.ts";
import type { ShownChat } from "./shown-chat.ts";

/** Publishes what a person should know of a chat file, for editors without lenses too. */
export class ChatDiagnostics {
  readonly #session: Session;
  /** The last published diagnostics, as JSON, by URI. */
  readonly #published = new Map<string, string>();

  constructor(session: Session) {
    this.#session = session;
  }

  publish({ chat, turn, missing }: ShownChat): void {
    const found = [
      ...(chat.foreign === null || (turn !== null && chat.foreign === "changed")
        ? []
        : [diagnostic(chat.text, foreignAt(chat.text), "chat-text-not-sent", foreignWords[chat.foreign])]),
      ...(missing === null
        ? []
        : [diagnostic(chat.text, chat.places.answer, "chat-answer-missing", missingWords)]),
    ];
    this.#send(chat.uri, found, chat.text);
  }

  closed(uri: string): void {
    this.#send(uri, [], "");
    this.#published.delete(uri);
  }

  #send(uri: string, diagnostics: readonly Diagnostic[], text: string): void {
    const pushed = JSON.stringify(diagnostics);
    if ((this.#published.get(uri) ?? "[]") === pushed) return;
    this.#published.set(uri, pushed);
    publishDiagnostics(this.#session, uri, diagnostics, () => text);
  }
}

const foreignWords = {
  new: 'This file shows a conversation that has not begun. What stands in it already does not belong to the conversation, and no agent receives it. Write below a new "## You" at the end.',
  changed:
    'What stands below the last "## You" was changed while no editor with Lares had the file open, so it is not sent. Write below a new "## You" at the end.',
} as const;
const missingWords =
  'An answer is not in the file yet. The code action "Lares: write the missing answer below" writes it.';

/** The heading whose text is not sent, or the last line of the text that was there. */
function foreignAt(text: string): number {
  return lastTurn(text)?.start ?? Math.max(0, endOfForeign(text) - 1);
}

/** A diagnostic of one whole line. */
function diagnostic(text: string, offset: number, code: string, message: string): Diagnostic {
  const { line } = positionAt(text, offset);
  const start = { line, character: 0 };
  const end = positionAt(text, text.slice(offset).search(/\r|\n|$/) + offset);
  return { range: { start, end }, severity: 3, code, source: "lares", message };
}
