import { cutWords } from "../base/cut-answer.ts";
import { isLaresError, messageOf } from "../base/errors.ts";
import type { Entry, Process } from "../base/vocabulary/conversation.ts";
import type { ModelFailure } from "../base/vocabulary/model.ts";
import type { ProcessKind } from "../base/vocabulary/principal.ts";
import { estimateTokens } from "../context/tokens.ts";
import type { NewEntry } from "../conversations/records.ts";
import type { Answered } from "./answer-writer.ts";
import { entryOf, type EntryMaker } from "./entries.ts";

/** Returns a conclusion again, for those who read the conclusions of a process that ended without having read it. */
export function passedOn(entry: Entry, maker: EntryMaker): NewEntry[] {
  if (entry.kind !== "conclusion") return [];
  const { process, text, origin, tainted, sources } = entry;
  const provenance = { origin, isTainted: tainted === true, ...(sources === undefined ? {} : { sources }) };
  return [entryOf({ ...maker, process }, { kind: "conclusion", text }, provenance)];
}

/** The model could not answer. */
export class ModelFailed extends Error {
  readonly failure: ModelFailure;

  constructor(failure: ModelFailure) {
    super(failure.message);
    this.failure = failure;
  }
}

/** Returns what a process that ended with an error says about it. */
export function failureOf(error: unknown): NonNullable<Process["error"]> {
  return error instanceof ModelFailed
    ? { code: "ModelError", class: error.failure.class, message: error.message }
    : { code: isLaresError(error) ? error.code : "InternalError", message: messageOf(error) };
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

type Answer = Pick<Extract<Answered, { type: "done" }>, "text" | "cut"> & { readonly hasCalls: boolean };

/** Fewer tokens beside a call are a remark about it, such as "Saved.", rather than a summary. */
const remarkTokens = 8;

/**
 * Takes a summary from a model's answers. Many models write it beside a call of `memory_save` and then end with a word, or
 * announce the call first; so it is the longest of the answers that are whole.
 */
export class SummaryDraft {
  #best = "";
  #wasCut = false;
  #hasCalled = false;
  #isAskedAgain = false;

  /** Takes the answers that an earlier kernel got. */
  static from(entries: readonly Entry[]): SummaryDraft {
    const draft = new SummaryDraft();
    for (const [at, entry] of entries.entries()) {
      if (entry.kind !== "message" || entry.partial === true) continue;
      if (entry.role === "user") draft.#isAskedAgain ||= entry.origin === "kernel";
      else {
        const text = entry.parts.map((part) => (part.type === "text" ? part.text : "")).join("");
        draft.take({ text, cut: entry.cut ?? null, hasCalls: entries[at + 1]?.kind === "tool_call" });
      }
    }
    return draft;
  }

  take({ text, cut, hasCalls }: Answer): void {
    this.#wasCut = cut !== null;
    this.#hasCalled ||= hasCalls;
    // What is cut off has no end, so that nobody knows what it leaves out.
    if (cut === null && text.trim().length >= this.#best.length) this.#best = text.trim();
  }

  /**
   * Returns the summary. If the answers may hold none, tells the model so, once, and returns null; ModelFailed if they hold
   * none after that.
   */
  async end(tell: (text: string) => Promise<void>): Promise<string | null> {
    const isRemark = this.#hasCalled && estimateTokens(this.#best) < remarkTokens;
    if (this.#best !== "" && (!isRemark || this.#isAskedAgain)) return this.#best;
    const why = this.#wasCut
      ? "Your summary was cut off, because it was longer than an answer can be."
      : "That does not summarise the conversation.";
    if (this.#isAskedAgain)
      throw new ModelFailed({ class: "EmptyAnswer", message: `The model wrote no whole summary. ${why}` });
    this.#isAskedAgain = true;
    const how = this.#wasCut ? "Write it again, much shorter" : "Write the whole summary now";
    await tell(`${why} ${how}, as one answer with nothing else in it.`);
    return null;
  }
}
