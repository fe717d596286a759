import { isLaresError } from "../../base/errors.ts";
import { hasContent } from "../../base/vocabulary/effect-words.ts";
import type { Action, Effect } from "../../base/vocabulary/action.ts";
import type { KernelClient } from "../kernel-client.ts";

/** The total size of the diffs of one action that are held for a card. Characters. */
export const maxShownCharacters = 32 * 1024 * 1024;

export interface WholeAction {
  readonly action: Action;
  /** Why the content of an effect could not be shown, by its index. Empty if everything can be shown. */
  readonly unread: ReadonlyMap<number, string>;
}

/**
 * Returns an action with the diff of each effect that has a text, including those that exceeded the limit of the
 * action's own diffs.
 */
export async function wholeAction(
  kernel: Pick<KernelClient, "diff">,
  action: Action,
  only?: number,
): Promise<WholeAction> {
  const unread = new Map<number, string>();
  const effects: Effect[] = [];
  let characters = 0;
  for (const [index, effect] of action.effects.entries()) {
    const isWanted = hasContent(effect) && (only === undefined || only === index);
    const shown = isWanted && effect.diff === undefined ? await read(index, effect) : effect;
    characters += shown.diff?.length ?? 0;
    effects.push(shown);
  }
  return { action: { ...action, effects }, unread };

  async function read(index: number, effect: Effect): Promise<Effect> {
    if (characters > maxShownCharacters) {
      unread.set(
        index,
        `The diffs are too long to show together. To see this one: lares actions show ${action.id} --effect ${index}`,
      );
      return effect;
    }
    try {
      const diff = await kernel.diff(action.id, index);
      return diff === null ? effect : { ...effect, diff };
    } catch (error) {
      if (!isLaresError(error)) throw error;
      unread.set(index, `It cannot be shown: ${error.message}`);
      return effect;
    }
  }
}
