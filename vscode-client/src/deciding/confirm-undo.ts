import { window } from "vscode";
import { decisionWordsOf } from "../model/decision-words.ts";
import { message } from "../model/text.ts";
import type { Action } from "../protocol.ts";

/** The number of changes that the question names one by one. */
export const maxNamed = 20;

/**
 * Asks before several changes are undone at once, and names them. Returns true without a question if the action applied
 * only one.
 */
export async function confirmUndo({ title, effects, receipt }: Action): Promise<boolean> {
  const applied = receipt === undefined ? effects : receipt.applied.flatMap((index) => effects[index] ?? []);
  if (applied.length < 2) return true;
  const amount = applied.length.toLocaleString("en");
  const more = applied.length - maxNamed;
  const yes = applied.length === 2 ? "Undo Both" : `Undo All ${amount}`;
  const answer = await window.showWarningMessage(
    `Undo all ${amount} changes of “${message(title, 80)}”?`,
    {
      modal: true,
      detail: [
        "These changes will be undone:",
        ...applied.slice(0, maxNamed).map((effect) => `• ${decisionWordsOf(effect)}`),
        ...(more > 0 ? [`• and ${more.toLocaleString("en")} more`] : []),
      ].join("\n"),
    },
    yes,
  );
  return answer === yes;
}
