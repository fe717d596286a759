import { actionWords, effectWords } from "../../../kernel/src/base/effect-words.ts";
import { quotedText, visibleText } from "../../../kernel/src/base/visible-text.ts";
import type { Action, Effect } from "../protocol.ts";

/** What a notification holds of an action's effects; one that does more is looked at before it is approved. Characters. */
const maxWords = 600;

/**
 * What an action does, in the kernel's words, for a message that a person decides by; null where it is more than a message
 * names. Every path is whole, and every character of it can be seen.
 */
export function decisionWords({ effects }: Pick<Action, "effects">): string | null {
  const words = actionWords(effects);
  return words.length <= maxWords ? inMessage(words) : null;
}

/** The same for one effect, without a bound. */
export function decisionWordsOf(effect: Effect): string {
  return inMessage(effectWords(effect));
}

/** `Notes says: "Fix a typing error"`: an agent's words as the agent's, whole. */
export function saidBy(agent: string, ...words: readonly string[]): string {
  return inMessage(`${visibleText(agent)} says: ${words.filter(Boolean).map(quotedText).join(" ")}`);
}

/** The editor makes a link of `[text](address)` and an icon of `$(name)`; the bracket is shown by its code instead. */
function inMessage(text: string): string {
  return text.replaceAll("](", "]<U+0028>").replaceAll("$(", "$<U+0028>");
}
