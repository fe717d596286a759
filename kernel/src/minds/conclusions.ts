import { cutWords } from "../base/cut-answer.ts";
import type { Entry } from "../base/vocabulary/conversation.ts";
import type { ModelFailure } from "../base/vocabulary/model.ts";
import type { ProcessKind } from "../base/vocabulary/principal.ts";
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
