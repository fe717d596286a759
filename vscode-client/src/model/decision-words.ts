import { actionWords, effectWords } from "../../../kernel/src/base/vocabulary/effect-words.ts";
import { quotedText, visibleText } from "../../../kernel/src/base/visible-text.ts";
import type { Action, Effect } from "../protocol.ts";
import { inert } from "./text.ts";

/**
 * The length of an action's description in a notification, in characters; longer ones have to be opened before they can
 * be approved.
 */
const maxWords = 600;

/**
 * Describes what an action does in the kernel's words, for a message with decision buttons; null if it is too long.
 * Every path is complete, with every character visible.
 */
export function decisionWords({ effects }: Pick<Action, "effects">): string | null {
  const words = actionWords(effects);
  return words.length <= maxWords ? inert(words) : null;
}

/** The same for one effect, without a limit. */
export function decisionWordsOf(effect: Effect): string {
  return inert(effectWords(effect));
}

/** Returns `Notes says: "Fix a typing error"`: the agent's text in full, marked as such. */
export function saidBy(agent: string, ...words: readonly string[]): string {
  return inert(`${visibleText(agent)} says: ${words.filter(Boolean).map(quotedText).join(" ")}`);
}
