import type { Key } from "../keyboard/key.ts";
import { typedInto } from "./composing.ts";
import type { ChatStep } from "./input.ts";
import { without } from "./state/composer.ts";
import { stoppable, type ChatState, type RedactPanel } from "./state/state.ts";
import { say, stay } from "./steps.ts";
import { derivedCount } from "./render/redaction.ts";
import { readMs } from "./known-keys.ts";

/** Returns why the removal that the person wrote cannot begin now; null if it can, or if they wrote something else. */
export function whyNotNow(state: ChatState): string | null {
  return isRedaction(state.composer.text) && stoppable(state).length > 0
    ? "Something runs or waits here, and may have the text. Stop it first."
    : null;
}

/** True for a text that must not stay in the history. */
export function isRedaction(text: string): boolean {
  return /^\s*\/redact(?!\S)/.test(text);
}

/** Handles a key at the question whether a text is to be removed. */
export function redactKey(state: ChatState, { text, found, atMs }: RedactPanel, key: Key): ChatStep {
  const closed: ChatState = { ...state, panel: null };
  if (key.name === "escape" || key.text === "n") return say(closed, "Nothing was removed.");
  // A slash begins a command.
  if (key.text.trim() === "" || key.text === "/") return stay(state);
  // A person who types words for something else must not remove with them: they are a message.
  if (state.nowMs - atMs < readMs) return typedInto(state, key.text);
  const withDerived = key.text === "t" && derivedCount(found) > 0;
  if (key.text !== "y" && !withDerived) return stay(state);
  const next = { ...closed, composer: without(state.composer, text) };
  return say(next, "Removing…", { kind: "redact", text, withDerived });
}
