import type { Ask } from "../base/vocabulary/ask.ts";
import { leftOutWords, shownArguments } from "../base/vocabulary/ask-arguments.ts";
import { requestedByLines } from "../base/vocabulary/principal.ts";
import { quotedText, visibleText } from "../base/visible-text.ts";
import type { AskService } from "../services/ports.ts";
import { inMessage } from "./language/action-words.ts";
import type { Handlers } from "./handlers.ts";
import type { MessageQuestions, Questioned } from "./message-questions.ts";
import type { Session } from "./session/session.ts";

/** `lares/asks/*`: lists the questions that calls wait for, and answers one. */
export const askHandlers = {
  "lares/asks/list": async ({ state }, { client }) => client.services.asks.list(state),
  "lares/asks/answer": async ({ id, digest, allow, remember }, { client }) =>
    client.services.asks.answer(client.principal, id, {
      digest,
      allow,
      ...(remember === undefined ? {} : { remember }),
    }),
} satisfies Partial<Handlers>;

/** Characters of a call's arguments in a message, which has no room for many lines. */
const maxArguments = 1_000;

const allow = "Allow";
const allowAlways = "Allow always";
const allowOnce = "Allow once";
const deny = "Deny";

/** The plain button has the first scope, unless that one would be remembered without a word of it. */
function answersOf({ scopes: [first, ...others] }: Ask): string[] {
  if (first === "always") return [allowAlways, ...(others.includes("once") ? [allowOnce] : []), deny];
  return [allow, ...(others.includes("always") ? [allowAlways] : []), deny];
}

/** Asks by messages what calls wait for; see `MessageQuestions`. */
export class MessageAsks {
  readonly #asks: AskService;
  readonly #session: Session;
  readonly #questions: MessageQuestions;

  constructor(asks: AskService, session: Session, questions: MessageQuestions) {
    this.#asks = asks;
    this.#session = session;
    this.#questions = questions;
  }

  /** Handles a question that is new or has ended. */
  consider(ask: Ask): void {
    if (ask.state === "Pending") this.#questions.ask(this.#questioned(ask));
    else this.#questions.withdraw(ask.id);
  }

  /** Asks all that wait. */
  async considerAll(): Promise<void> {
    for (const ask of (await this.#asks.list("Pending")).toReversed()) this.consider(ask);
  }

  #questioned(ask: Ask): Questioned {
    const { id, digest } = ask;
    return {
      id,
      name: ask.title,
      question: async () => {
        const isWaiting = (await this.#asks.list("Pending")).some((each) => each.id === id);
        if (!isWaiting) return null;
        return { message: askMessage(ask), answers: answersOf(ask) };
      },
      chosen: async (title) => {
        await this.#asks.answer(this.#session.client.principal, id, {
          digest,
          allow: title !== deny,
          ...(title === allowAlways
            ? { remember: "always" as const }
            : title === allowOnce
              ? { remember: "once" as const }
              : {}),
        });
        return false;
      },
    };
  }
}

/** Returns the question as one message: who asks, what, why, on whose behalf, and where it came from. */
function askMessage(ask: Ask): string {
  const { agent, title, reason, sources } = ask;
  // If only a person asked for it, whoever reads this knows.
  const isOthers = ask.on_behalf_of?.some(({ kind }) => kind !== "person") === true;
  const requested = isOthers
    ? requestedByLines(ask)
        .map((line) => ` ${visibleText(line)}`)
        .join("")
    : "";
  const from = sources.length === 0 ? "" : ` It follows from text of ${sources.map(quotedText).join(", ")}.`;
  return inMessage(
    `${visibleText(agent)} waits. ${visibleText(title)} ${visibleText(reason)}${requested}${from}${argumentsOf(ask)}`,
  );
}

function argumentsOf(ask: Ask): string {
  const shown = shownArguments(ask, maxArguments);
  if (shown === null) return "";
  const { text, left } = shown;
  return ` The call's arguments: ${visibleText(text)}${left === 0 ? "" : ` … ${leftOutWords(left)}`}`;
}
