import { cutWords } from "../base/cut-answer.ts";
import type { Entry } from "../base/vocabulary/conversation.ts";
import type { ModelFailure } from "../base/vocabulary/model.ts";
import type { ProcessKind } from "../base/vocabulary/principal.ts";
import { textOf } from "../context/entry-text.ts";
import { estimateTokens } from "../context/tokens.ts";
import type { Answered } from "./answer-writer.ts";

/** The model could not answer. */
export class ModelFailed extends Error {
  readonly failure: ModelFailure;

  constructor(failure: ModelFailure) {
    super(failure.message);
    this.failure = failure;
  }
}

/**
 * Returns the text with which a process other than a channel ends. A report that is not whole says so, because whoever
 * reads it knows nothing of the answer. Throws ModelFailed if there is none.
 */
export function conclusionOf(
  { text, cut }: Pick<Extract<Answered, { type: "done" }>, "text" | "cut">,
  kind: ProcessKind,
): string {
  if (text.trim() === "")
    throw new ModelFailed({
      class: "EmptyAnswer",
      message: cut === null ? "The model ended without an answer." : `There is no answer. ${cutWords(cut)}`,
    });
  const isReport = kind === "branch" || kind === "worker";
  return cut === null || !isReport ? text : `${text}\n\n(${cutWords(cut)})`;
}

type Answer = Pick<Extract<Answered, { type: "done" }>, "text" | "cut">;

/** A summary of this many tokens is always long enough. */
const enoughTokens = 50;
/** A shorter one says too little about more than this many times its length. */
const mostCondensed = 100;

/**
 * Takes a summary from a model's answers. Many models write it beside a call of `memory_save` and then end with a word, or
 * announce the call first; so it is the longest of the answers that are whole.
 */
export class SummaryDraft {
  readonly #covered: readonly Entry[];
  #best = "";
  #wasCut = false;
  #isAskedAgain = false;

  /** `covered`: what it is a summary of. */
  constructor(covered: readonly Entry[]) {
    this.#covered = covered;
  }

  take({ text, cut }: Answer): void {
    this.#wasCut = cut !== null;
    // What is cut off has no end, so that nobody knows what it leaves out.
    if (cut === null && text.trim().length >= this.#best.length) this.#best = text.trim();
  }

  /** Returns the summary. If the answers hold none, tells the model so, once, and returns null; ModelFailed after that. */
  async end(tell: (text: string) => Promise<void>): Promise<string | null> {
    if (this.#best !== "" && estimateTokens(this.#best) >= this.#leastTokens()) return this.#best;
    const why = this.#wasCut
      ? "Your summary was cut off, because it was longer than an answer can be."
      : "That is no summary of the conversation.";
    if (this.#isAskedAgain)
      throw new ModelFailed({ class: "EmptyAnswer", message: `The model wrote no whole summary. ${why}` });
    this.#isAskedAgain = true;
    const how = this.#wasCut ? "Write it again, much shorter" : "Write the whole summary now";
    await tell(`${why} ${how}, as one answer with nothing else in it.`);
    return null;
  }

  #leastTokens(): number {
    let tokens = 0;
    for (const entry of this.#covered) {
      tokens += estimateTokens(textOf(entry));
      if (tokens >= enoughTokens * mostCondensed) return enoughTokens;
    }
    return tokens / mostCondensed;
  }
}
