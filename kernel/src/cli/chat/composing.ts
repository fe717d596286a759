import type { ChatStep } from "./input.ts";
import { insert } from "./state/composer.ts";
import { commandChoices, wordAt } from "./state/slash.ts";
import { offeredIn, type ChatState, type Panel } from "./state/state.ts";
import { say, stay } from "./steps.ts";

const notOpened = "It is ready, but you are writing. Send or clear your text, and write the command again.";

/** Returns the state after the text has changed: with what can be completed. */
export function edited(state: ChatState): ChatStep {
  const word = wordAt(state.composer.text, state.composer.cursor);
  if (word === null) return stay({ ...state, completion: null });
  if (word.kind === "command") {
    const choices = commandChoices(word.word, offeredIn(state));
    return stay({ ...state, completion: choices.length === 0 ? null : { ...word, choices, selected: 0 } });
  }
  const kept = state.completion?.kind === "file" ? { ...state.completion, ...word, choices: [] } : null;
  return stay({ ...state, completion: kept }, { kind: "files", word: word.word });
}

/** Leaves a view, with what the person types behind the text in the composer. */
export function typedInto(state: ChatState, text: string): ChatStep {
  return edited({ ...state, panel: null, message: null, composer: insert(state.composer, text) });
}

/** Opens a view that was asked for a moment ago, unless the person writes by now: the rest of it would become keys of the view. */
export function openedLate(state: ChatState, panel: Panel): ChatStep {
  return isWriting(state) ? say(state, notOpened) : stay({ ...state, message: null, panel });
}

function isWriting({ composer, panel }: ChatState): boolean {
  if (composer.text !== "" || panel?.kind === "reason") return true;
  return panel?.kind === "known" && panel.doing !== "list";
}
